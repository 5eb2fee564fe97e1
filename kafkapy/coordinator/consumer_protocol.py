"""What classic consumers tell each other through a group coordinator, which only passes it on: what a member wants
(its subscription) and what it gets (its assignment).

    int16 version, then ConsumerProtocolSubscription or ConsumerProtocolAssignment (never flexible)

Version 1 of a subscription adds the partitions that the member owns, 2 the generation they are from, 3 its rack. Bytes
of a newer version are read as the newest one known, as Kafka's clients do, so that a group can be upgraded member by
member; what follows the message is not looked at.

Clients sort what they subscribe to and own, and leave an assignment in the order of the assignor, topic by topic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.errors import SchemaError
from kafkapy.formats.message import Value, encode, read
from kafkapy.formats.message_reader import BufferUnderflowError, MessageReader
from kafkapy.formats.schema import schemas
from kafkapy.log.topic_partition import TopicPartition

PROTOCOL_TYPE = "consumer"
VERSION = 3
NO_GENERATION = -1


class Subscription(NamedTuple):
    """What a member wants. ``generation_id`` is that of ``owned_partitions``; ``user_data`` is the assignor's own."""

    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned_partitions: tuple[TopicPartition, ...] = ()
    generation_id: int = NO_GENERATION
    rack_id: str | None = None


def encode_subscription(subscription: Subscription, version: int = VERSION) -> bytes:
    """As a client sends it; what ``version`` has no field for is left out."""
    value = {
        "topics": sorted(subscription.topics),
        "userData": subscription.user_data,
        "ownedPartitions": _by_topic(sorted(subscription.owned_partitions)),
        "generationId": subscription.generation_id,
        "rackId": subscription.rack_id,
    }
    return _encode("Subscription", version, value)


def decode_subscription(data: bytes) -> Subscription:
    """A SchemaError where these are not the bytes of a consumer."""
    value = _decode("Subscription", data)
    return Subscription(
        tuple(value["topics"]),
        value["userData"],
        _partitions(value["ownedPartitions"]),
        value["generationId"],
        value["rackId"] or None,
    )


def decode_topics(data: bytes) -> tuple[str, ...]:
    """What a member subscribes to. A coordinator reads no more than that, which every version begins with."""
    return tuple(_decode("Subscription", data, version=0)["topics"])


def encode_assignment(
    partitions: Iterable[TopicPartition], user_data: bytes | None = None, version: int = VERSION
) -> bytes:
    """As a leader sends it."""
    return _encode("Assignment", version, {"assignedPartitions": _by_topic(partitions), "userData": user_data})


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """A SchemaError where these are not the bytes of a consumer."""
    return _partitions(_decode("Assignment", data)["assignedPartitions"])


def _encode(kind: str, version: int, value: Value) -> bytes:
    schema = schemas("consumer_protocol")[f"ConsumerProtocol{kind}"]
    return version.to_bytes(2, "big", signed=True) + encode(schema, version, value)


def _decode(kind: str, data: bytes, version: int | None = None) -> Value:
    reader = MessageReader(data)
    try:
        written = reader.int16()
    except BufferUnderflowError:
        raise SchemaError("Buffer underflow while parsing consumer protocol's header") from None
    asked = written if version is None else version
    if asked < 0:
        raise SchemaError(f"Unsupported {kind.lower()} version: {asked}")
    try:
        return read(schemas("consumer_protocol")[f"ConsumerProtocol{kind}"], min(asked, VERSION), reader)
    except BufferUnderflowError:
        raise SchemaError(f"Buffer underflow while parsing consumer protocol's {kind.lower()}") from None


def _by_topic(partitions: Iterable[TopicPartition]) -> list[Value]:
    numbers: dict[str, list[int]] = {}
    for topic, partition in partitions:
        numbers.setdefault(topic, []).append(partition)
    return [{"topic": topic, "partitions": found} for topic, found in numbers.items()]


def _partitions(topics: Iterable[Value]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(each["topic"], number) for each in topics for number in each["partitions"])
