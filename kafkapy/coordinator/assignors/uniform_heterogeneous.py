"""The coordinator's ``uniform`` where members subscribe to different topics.

Everyone keeps what it has and still subscribes to. What has no owner goes, topic by topic, to the least loaded
subscribers: first the topics with most partitions per subscriber, then those with fewest subscribers, then by topic id.
Then the topics are balanced in the same order, again and again until a whole round moved nothing, 16 rounds at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from kafkapy.coordinator.assignors.java_hash_map import (
    JavaHashMap,
    hash_set_of,
    integer_hash,
    presized,
    uuid_hash,
)
from kafkapy.coordinator.assignors.member_balancer import MemberBalancer
from kafkapy.coordinator.assignors.server_group import Assignment, ServerGroup
from kafkapy.coordinator.assignors.uniform_homogeneous import Partitions
from kafkapy.metadata.cluster_image import sort_uuids

MAX_ITERATIONS = 16
NOBODY = -1


def assign(group: ServerGroup) -> Assignment:
    """The target assignment of every member."""
    return _UniformHeterogeneous(group).build()


class _UniformHeterogeneous:
    """One assignment in the making. Members are numbers: their positions in the group."""

    def __init__(self, group: ServerGroup) -> None:
        self.group = group
        self.member_ids = list(group.members)
        self.sizes = [0] * len(self.member_ids)
        self.subscribers: dict[str, list[int]] = {}
        for number, member in enumerate(group.members.values()):
            for topic_id in member.subscribed:
                self.subscribers.setdefault(topic_id, []).append(number)
        self.owners = {topic_id: [NOBODY] * group.partition_count(topic_id) for topic_id in self.subscribers}
        self.target = [_Target(group, member_id) for member_id in self.member_ids]

    def build(self) -> Assignment:
        """Keep, fill, then balance."""
        self._keep()
        sorted_topic_ids = self._sort(self.subscribers)
        for topic_id in sorted_topic_ids:
            self._assign_remaining(topic_id)
        self._balance([topic_id for topic_id in sorted_topic_ids if len(self.subscribers[topic_id]) >= 2])
        return {
            member_id: {topic_id: tuple(partitions) for topic_id, partitions in target.partitions.items()}
            for member_id, target in zip(self.member_ids, self.target, strict=True)
        }

    def _sort(self, topic_ids: Iterable[str]) -> list[str]:
        def load(topic_id: str) -> tuple[float, int]:
            count = len(self.subscribers[topic_id])
            return -self.group.topics[topic_id] / count, count

        return sorted(sort_uuids(topic_ids), key=load)

    def _keep(self) -> None:
        for number, target in enumerate(self.target):
            subscribed = set(self.group.members[self.member_ids[number]].subscribed)
            for topic_id, partitions in list(target.partitions.items()):
                if topic_id not in subscribed:
                    target.drop(topic_id)
                    continue
                self.sizes[number] += len(partitions)
                for partition in partitions:
                    self.owners[topic_id][partition] = number

    def _assign_remaining(self, topic_id: str) -> None:
        balancer = MemberBalancer(self.sizes, self.subscribers[topic_id])
        for partition, owner in enumerate(self.owners[topic_id]):
            if owner == NOBODY:
                self._move(topic_id, partition, balancer.next_least_loaded())

    def _balance(self, topic_ids: list[str]) -> None:
        last_rebalanced = None
        for _ in range(MAX_ITERATIONS):
            for topic_id in topic_ids:
                if topic_id == last_rebalanced:
                    return
                if self._balance_topic(topic_id) or last_rebalanced is None:
                    last_rebalanced = topic_id

    def _balance_topic(self, topic_id: str) -> bool:
        """Whether a partition moved."""
        balancer = MemberBalancer(self.sizes, self.subscribers[topic_id])
        if balancer.imbalance <= 1:
            return False
        is_moved = False
        owned = self._partitions_by_owner(topic_id)
        while not balancer.is_balanced:
            giver = balancer.next_most_loaded()
            while giver is not None and not owned.get(giver):
                balancer.exclude_most_loaded()
                giver = balancer.next_most_loaded()
            if giver is None:
                break
            partition = owned[giver].pop()
            receiver = balancer.next_least_loaded()
            if balancer.is_balanced:
                break
            self._move(topic_id, partition, receiver)
            is_moved = True
        return is_moved

    def _partitions_by_owner(self, topic_id: str) -> dict[int, list[int]]:
        owners = self.owners[topic_id]
        by_owner = sorted(range(len(owners)), key=owners.__getitem__)
        return {owner: list(found) for owner, found in groupby(by_owner, key=owners.__getitem__)}

    def _move(self, topic_id: str, partition: int, member: int) -> None:
        owner = self.owners[topic_id][partition]
        if owner != NOBODY:
            self.target[owner].remove(topic_id, partition)
            self.sizes[owner] -= 1
        each = -(-self.group.topics[topic_id] // len(self.subscribers[topic_id]))
        self.target[member].add(topic_id, partition, presized(each))
        self.sizes[member] += 1
        self.owners[topic_id][partition] = member


class _Target:
    """What a member is to have. Kafka copies the old map when it is first changed, which can change its order."""

    def __init__(self, group: ServerGroup, member_id: str) -> None:
        self.partitions: Partitions = JavaHashMap(uuid_hash)
        for topic_id, partitions in group.members[member_id].current.items():
            self.partitions[topic_id] = hash_set_of(integer_hash, partitions)
        self._is_copy = False

    def add(self, topic_id: str, partition: int, capacity: int) -> None:
        self._copy()
        self.partitions.compute_if_absent(topic_id, lambda: JavaHashMap(integer_hash, capacity))[partition] = None

    def remove(self, topic_id: str, partition: int) -> None:
        self._copy()
        del self.partitions[topic_id][partition]
        if not self.partitions[topic_id]:
            del self.partitions[topic_id]

    def drop(self, topic_id: str) -> None:
        """The whole topic."""
        self._copy()
        del self.partitions[topic_id]

    def _copy(self) -> None:
        if self._is_copy:
            return
        copy: Partitions = JavaHashMap(uuid_hash, len(self.partitions))
        for topic_id, partitions in self.partitions.items():
            copy[topic_id] = hash_set_of(integer_hash, partitions)
        self.partitions = copy
        self._is_copy = True
