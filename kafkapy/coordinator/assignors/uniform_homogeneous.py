"""The coordinator's ``uniform`` where all members subscribe to the same topics.

Balance goes before stickiness: no two members differ by more than one partition, and within that everyone keeps what it
has. A member keeps one partition above the even share only while such places are left, in the order of the members;
what it must give up and what nobody had goes to the members below their share, again in order.
"""

from __future__ import annotations

from kafkapy.coordinator.assignors.java_hash_map import (
    JavaHashMap,
    hash_set_of,
    integer_hash,
    uuid_hash,
)
from kafkapy.coordinator.assignors.server_group import Assignment, ServerGroup
from kafkapy.errors import KafkaError

Partitions = JavaHashMap[str, JavaHashMap[int, None]]


def assign(group: ServerGroup) -> Assignment:
    """The target assignment of every member."""
    first = next(iter(group.members.values()))
    subscribed = hash_set_of(uuid_hash, first.subscribed, first.subscribed_count)
    if not subscribed:
        return {member_id: {} for member_id in group.members}
    return _UniformHomogeneous(group, subscribed).build()


class _UniformHomogeneous:
    """One assignment in the making."""

    def __init__(self, group: ServerGroup, subscribed: JavaHashMap[str, None]) -> None:
        self.group = group
        self.subscribed = subscribed
        total = sum(group.partition_count(topic_id) for topic_id in subscribed)
        self.quota, self.extra_places = divmod(total, len(group.members))
        self.unassigned = self._partitions_without_owner()
        self.unfilled: list[tuple[str, int]] = []
        self.target: dict[str, Partitions] = {}

    def build(self) -> Assignment:
        """Keep, revoke, then fill."""
        for position, member_id in enumerate(self.group.members):
            self._keep_or_revoke(member_id, len(self.group.members) - position)
        self._assign_remaining()
        return {
            member_id: {topic_id: tuple(partitions) for topic_id, partitions in target.items()}
            for member_id, target in self.target.items()
        }

    def _partitions_without_owner(self) -> list[tuple[str, int]]:
        owned = {
            (topic_id, number)
            for member in self.group.members.values()
            for topic_id, partitions in member.current.items()
            for number in partitions
        }
        return [
            (topic_id, number)
            for topic_id in self.subscribed
            for number in range(self.group.partition_count(topic_id))
            if (topic_id, number) not in owned
        ]

    def _keep_or_revoke(self, member_id: str, members_left: int) -> None:
        current = _as_kafka_holds_it(self.group, member_id)
        has_extra = self.extra_places > 0
        quota = self.quota + has_extra
        revoked: list[tuple[str, int]] = []
        for topic_id, partitions in current.items():
            if topic_id in self.subscribed:
                revoked += [(topic_id, number) for number in list(partitions)[quota:]]
                quota -= min(quota, len(partitions))
        self.unassigned += revoked
        if quota > 0 and has_extra and members_left > self.extra_places:
            # someone else may still own that many; only the last members have to take the extra partition
            quota -= 1
            has_extra = False
        if quota > 0:
            self.unfilled.append((member_id, quota))
        self.extra_places -= has_extra
        self.target[member_id] = self._without(current, revoked, copied=quota > 0)

    def _without(self, current: Partitions, revoked: list[tuple[str, int]], copied: bool) -> Partitions:
        """What is kept; a map that is not changed stays the one it was, order included."""
        gone = [topic_id for topic_id in current if topic_id not in self.subscribed]
        if not (gone or revoked or copied):
            return current
        kept = _deep_copy(current)
        for topic_id, number in revoked:
            del kept[topic_id][number]
            if not kept[topic_id]:
                del kept[topic_id]
        for topic_id in gone:
            del kept[topic_id]
        return kept

    def _assign_remaining(self) -> None:
        remaining = iter(self.unassigned)
        for member_id, quota in self.unfilled:
            target = self.target[member_id]
            for _, (topic_id, number) in zip(range(quota), remaining, strict=False):
                target.compute_if_absent(topic_id, lambda: JavaHashMap(integer_hash))[number] = None
        if next(remaining, None) is not None:
            raise KafkaError("PartitionAssignorException", "Partitions were left unassigned")


def _as_kafka_holds_it(group: ServerGroup, member_id: str) -> Partitions:
    made: Partitions = JavaHashMap(uuid_hash)
    for topic_id, partitions in group.members[member_id].current.items():
        made[topic_id] = hash_set_of(integer_hash, partitions)
    return made


def _deep_copy(source: Partitions) -> Partitions:
    copy: Partitions = JavaHashMap(uuid_hash, len(source))
    for topic_id, partitions in source.items():
        copy[topic_id] = hash_set_of(integer_hash, partitions)
    return copy
