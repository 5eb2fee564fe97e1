"""Producer ids, and single batches to their leaders.

A batch that is sent by itself is sent again when its leader moves or its connection breaks. Only one with a producer
id is safe against being there twice then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import Appended
from kafkapy.backends.live.client import Call, Client
from kafkapy.backends.live.record_leaders import Leaders
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import code_of, raise_for
from kafkapy.formats.record_batch import decode_header

if TYPE_CHECKING:
    from kafkapy.formats.message import Value
    from kafkapy.log.topic_partition import TopicPartition

NO_TIMEOUT_MS = 0x7FFF_FFFF
BEFORE_TRANSACTIONS_V2 = 11  # the last version of Produce that adds no partition to a transaction


def produce(client: Client, partition: TopicPartition, batch: bytes, acks: int) -> Appended:
    """Send a batch and wait until it is where ``acks`` asks for it; without acks nobody knows where it went."""
    leaders = Leaders(client)

    def attempt() -> Appended:
        leaders.refresh([partition.topic])
        leader = leaders.of(partition)
        if isinstance(leader, KafkaError):
            raise leader
        return _send(client, leader.node, produce_fields(client, leaders, {partition: batch}, acks, None), batch)

    return client.retrying(attempt)


def _send(client: Client, node: int, fields: Value, batch: bytes) -> Appended:
    header = decode_header(batch)
    call = Call("Produce", fields, node)
    if fields["acks"] == 0:
        client.send(call)
        client.call("Metadata", {"topics": []}, node)  # an answer means that what was sent before has arrived
        return Appended(-1, -1)
    (response,) = client.call_all([call])
    if isinstance(response, Exception):
        raise response
    found = response["responses"][0]["partitionResponses"][0]
    is_duplicate = found["errorCode"] == code_of("DUPLICATE_SEQUENCE_NUMBER")
    if not is_duplicate:
        raise_for(found["errorCode"], found["errorMessage"])
    first = found["baseOffset"]
    return Appended(first, first + header.last_offset_delta if first >= 0 else -1, is_duplicate)


def produce_fields(
    client: Client,
    leaders: Leaders,
    batches: Mapping[TopicPartition, bytes],
    acks: int,
    transactional_id: str | None,
) -> Value:
    """The fields of a Produce request with a batch for each partition."""
    topics: dict[str, list[Value]] = {}
    for (topic, number), batch in batches.items():
        topics.setdefault(topic, []).append({"index": number, "records": batch})
    return {
        "transactionalId": transactional_id,
        "acks": acks,
        "timeoutMs": client.config.request_timeout_ms,
        "topicData": [
            {"name": name, "topicId": leaders.topic_id(name), "partitionData": partitions}
            for name, partitions in topics.items()
        ],
    }


def init_producer_id(client: Client) -> int:
    """A producer id that nobody has used."""
    return client.retrying(lambda: ask_producer_id(client))


def ask_producer_id(client: Client) -> int:
    """The same by one try, for whoever has other things to look after meanwhile."""
    response = client.call("InitProducerId", {"transactionalId": None, "transactionTimeoutMs": NO_TIMEOUT_MS})
    raise_for(response["errorCode"])
    producer_id: int = response["producerId"]
    return producer_id
