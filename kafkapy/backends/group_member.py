"""A member of a group in this process: who it is, which partitions it has, and how far it is in each.

A position is the offset of the next record that is to be handled; everything before it has been. It is what a member
commits, together with the leader epoch of the batch it came from.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.coordinator.offset_and_metadata import NO_LEADER_EPOCH, OffsetAndMetadata
from kafkapy.log.topic_partition import TopicPartition

CLIENT_HOST = "/127.0.0.1"
NO_GENERATION = -1


class Position(NamedTuple):
    """Where a member goes on in a partition."""

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH

    @classmethod
    def of(cls, committed: OffsetAndMetadata) -> Position:
        """Where a commit says to go on."""
        return cls(committed.offset, committed.leader_epoch)


class GroupMember:
    """``number`` is 1 for the first member of a process; ``generation`` is the member epoch in a consumer group."""

    def __init__(self, number: int, instance_id: str | None = None) -> None:
        self.number = number
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = NO_GENERATION
        self.assigned: tuple[TopicPartition, ...] = ()
        self.positions: dict[TopicPartition, Position] = {}

    @property
    def readable(self) -> tuple[TopicPartition, ...]:
        """The partitions of which it is known where to go on."""
        return tuple(each for each in self.assigned if each in self.positions)

    def assign(self, partitions: tuple[TopicPartition, ...], generation: int) -> None:
        """Take what a rebalance gave; positions in partitions that stayed are kept."""
        self.generation = generation
        self.assigned = tuple(sorted(partitions))
        self.positions = {each: self.positions[each] for each in self.assigned if each in self.positions}

    def revoke(self) -> None:
        """Give everything away before a rebalance, as members of an eager group do."""
        self.assigned, self.positions = (), {}
