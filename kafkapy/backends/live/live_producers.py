"""The producers that partitions of a running cluster know: DescribeProducers, to the leaders or to one broker.

A broker is asked about many partitions at once; what one request has is limited so that no broker is kept busy for
long. A leader that has moved is looked for again, for those partitions alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kafkapy.backends.live.client import Call, Client, NoSuchNode
from kafkapy.backends.live.library.network import ConnectionLost
from kafkapy.backends.live.partition_leaders import NoLeader, find_leaders
from kafkapy.backends.producers import ActiveProducer, PartitionProducers, Producers
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

MOST_PARTITIONS = 500
_MOVED = "NotLeaderOrFollowerException"


def describe_producers(client: Client, partitions: Sequence[TopicPartition], broker_id: int | None) -> Producers:
    """By partition, as the leader knows them or the replica on ``broker_id``."""
    found: dict[TopicPartition, PartitionProducers | KafkapyError] = {}

    def attempt() -> None:
        left = [each for each in partitions if each not in found or _is_moved(found[each], broker_id)]
        found.update(_ask(client, left, broker_id))
        moved = [answer for answer in found.values() if _is_moved(answer, broker_id)]
        if moved:
            raise moved[0]  # type: ignore[misc]

    try:
        client.retrying(attempt)
    except KafkapyError:
        if len(found) < len(partitions):
            raise
    return {each: found[each] for each in partitions}


def _ask(
    client: Client, partitions: Sequence[TopicPartition], broker_id: int | None
) -> Iterator[tuple[TopicPartition, PartitionProducers | KafkapyError]]:
    leaders = find_leaders(client, partitions) if broker_id is None else dict.fromkeys(partitions, broker_id)
    nodes: dict[int, list[TopicPartition]] = defaultdict(list)
    for partition, leader in leaders.items():
        if isinstance(leader, KafkaError):
            yield partition, leader
        else:
            nodes[leader].append(partition)
    asked = [
        (node, each[at : at + MOST_PARTITIONS])
        for node, each in nodes.items()
        for at in range(0, len(each), MOST_PARTITIONS)
    ]
    calls = [Call("DescribeProducers", {"topics": _topics(part)}, node) for node, part in asked]
    for (_, part), response in zip(asked, client.call_all(calls), strict=True):
        if isinstance(response, KafkapyError):
            yield from ((partition, response) for partition in part)
        else:
            yield from _read(response, broker_id)


def _topics(partitions: Iterable[TopicPartition]) -> list[Value]:
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, number in partitions:
        topics[topic].append(number)
    return [{"name": name, "partitionIndexes": numbers} for name, numbers in topics.items()]


def _read(response: Value, broker_id: int | None) -> Iterator[tuple[TopicPartition, PartitionProducers | KafkapyError]]:
    for topic in response["topics"]:
        for each in topic["partitions"]:
            partition = TopicPartition(topic["name"], each["partitionIndex"])
            if each["errorCode"] != NONE:
                yield partition, _refusal(partition, each["errorCode"], each["errorMessage"], broker_id)
                continue
            producers = sorted(_producer(producer) for producer in each["activeProducers"])
            yield partition, PartitionProducers(producers)


def _producer(producer: Value) -> ActiveProducer:
    start = producer["currentTxnStartOffset"]
    return ActiveProducer(
        producer["producerId"],
        producer["producerEpoch"],
        producer["coordinatorEpoch"],
        producer["lastSequence"],
        producer["lastTimestamp"],
        None if start < 0 else start,
    )


def _refusal(partition: TopicPartition, code: int, message: str | None, broker_id: int | None) -> KafkaError:
    """In the words of Kafka's client."""
    name = error_code(code).name
    if name == "NOT_LEADER_OR_FOLLOWER":
        asked = f"Failed to describe active producers for partition {partition} on brokerId {broker_id}"
        return kafka_error(code, None if broker_id is None else asked)
    if name == "UNKNOWN_TOPIC_OR_PARTITION":
        return kafka_error(code)
    if name == "INVALID_TOPIC_EXCEPTION":
        reason = message or error_code(code).message
        text = f"Failed to fetch metadata for partition {partition} due to invalid topic error: {reason}"
        return kafka_error(code, text)
    failed = f"Failed to describe active producers for partition {partition}"
    if name == "TOPIC_AUTHORIZATION_FAILED":
        return kafka_error(code, f"{failed} due to authorization failure on topic `{partition.topic}`")
    return kafka_error(code, f"{failed} due to unexpected error")


def _is_moved(answer: PartitionProducers | KafkapyError, broker_id: int | None) -> bool:
    """Whether another broker is to be asked, where the leader is meant; one that was named may be no broker at all."""
    if isinstance(answer, ConnectionLost):
        return broker_id is None or not isinstance(answer, NoSuchNode)
    if broker_id is not None or isinstance(answer, NoLeader):
        return False
    return isinstance(answer, KafkaError) and answer.name in (_MOVED, "LeaderNotAvailableException")
