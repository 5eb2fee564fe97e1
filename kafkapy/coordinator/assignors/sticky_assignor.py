"""``sticky``: as balanced as can be, and of the balanced divisions one that moves few partitions.

The protocol is eager, so members own nothing when they join again: they tell in their user data what they had.

    array of (string topic, array of int32 partitions), then int32 generation

The oldest clients wrote no generation; bytes that are neither of the two forms count as generation -1 with nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct, error

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup
from kafkapy.coordinator.assignors.java_hash_map import JavaHashMap, string_hash
from kafkapy.coordinator.assignors.previous_owners import (
    DEFAULT_GENERATION,
    MemberData,
    ReadMemberData,
    are_subscriptions_equal,
    previous_owners,
)
from kafkapy.coordinator.assignors.sticky_constrained import ConstrainedAssignment
from kafkapy.coordinator.assignors.sticky_general import GeneralAssignment
from kafkapy.coordinator.consumer_protocol import Subscription
from kafkapy.log.topic_partition import TopicPartition

_INT16 = Struct(">h")
_INT32 = Struct(">i")


def assign(group: ClientGroup) -> Assignment:
    """The partitions of every member."""
    return divide(group, member_data)[0]


def divide(group: ClientGroup, read: ReadMemberData) -> tuple[Assignment, Mapping[TopicPartition, str] | None]:
    """The partitions of every member, and those that get a new owner while one has them; None where that is not kept
    track of."""
    previous = previous_owners(group, read)
    if not are_subscriptions_equal(group):
        return GeneralAssignment(group, previous).build(), None
    constrained = ConstrainedAssignment(group, previous)
    return constrained.build(), constrained.transferring


def member_data(subscription: Subscription) -> MemberData:
    """What the member's user data tells."""
    data = subscription.user_data
    if not data:
        return MemberData((), None)
    try:
        partitions, end = _read_partitions(data)
    except error:
        return MemberData((), DEFAULT_GENERATION)
    generation = _INT32.unpack_from(data, end)[0] if len(data) - end >= _INT32.size else None
    return MemberData(partitions, generation)


def user_data(assignment: Iterable[TopicPartition] | None, generation: int) -> bytes | None:
    """What a member tells that got this; None before its first assignment."""
    if assignment is None:
        return None
    numbers: JavaHashMap[str, list[int]] = JavaHashMap(string_hash)
    for topic, number in assignment:
        numbers.compute_if_absent(topic, list).append(number)
    parts = [_INT32.pack(len(numbers))]
    for topic, found in numbers.items():
        name = topic.encode()
        parts += [_INT16.pack(len(name)), name, _INT32.pack(len(found)), *map(_INT32.pack, found)]
    return b"".join([*parts, _INT32.pack(generation)])


def _read_partitions(data: bytes) -> tuple[tuple[TopicPartition, ...], int]:
    """The partitions and where they end; ``struct.error`` where the bytes are something else."""
    count, at = _array_length(data, 0)
    found = []
    for _ in range(count):
        (length,) = _INT16.unpack_from(data, at)
        at += _INT16.size
        if not 0 <= length <= len(data) - at:
            raise error("no such string")
        topic = data[at : at + length].decode("utf-8", "replace")
        numbers, at = _array_length(data, at + length)
        for _ in range(numbers):
            found.append(TopicPartition(topic, _INT32.unpack_from(data, at)[0]))
            at += _INT32.size
    return tuple(found), at


def _array_length(data: bytes, at: int) -> tuple[int, int]:
    (length,) = _INT32.unpack_from(data, at)
    at += _INT32.size
    if not 0 <= length <= len(data) - at:
        raise error("no such array")
    return length, at
