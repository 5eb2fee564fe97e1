"""The sticky assignors where all members subscribe to the same topics: quotas decide, in time linear in the partitions.

With P partitions and M members everyone gets P/M, and the remainder of members one more. Each member first keeps what
it owned up to its quota, lowest partition numbers first; members are asked in the order of Kafka's HashMap, so that
decides who keeps the one more. What is left goes round the members below the quota by name, near racks first.

``transferring`` are the partitions that go from one owner to another: the cooperative assignor holds them back.
"""

from __future__ import annotations

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup
from kafkapy.coordinator.assignors.java_hash_map import string_order
from kafkapy.coordinator.assignors.previous_owners import PreviousOwners
from kafkapy.coordinator.assignors.rack_info import RackInfo
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition


class ConstrainedAssignment:
    """One assignment in the making. Members are unfilled below ``min_quota``, or at it while they may get one more."""

    def __init__(self, group: ClientGroup, previous: PreviousOwners) -> None:
        self.group = group
        self.racks = RackInfo(group)
        self.previous = previous
        total = sum(group.partitions.values())
        self.min_quota, self.extra_places = divmod(total, len(group.members))
        self.max_quota = self.min_quota + (self.extra_places > 0)
        self.assignment: Assignment = {member_id: [] for member_id in group.members}
        self.below: list[str] = []
        self.at_quota: list[str] = []
        self.revoked: dict[TopicPartition, str] = {}
        self.transferring: dict[TopicPartition, str] = {}

    def build(self) -> Assignment:
        """Keep, then fill near racks, then anywhere."""
        for member_id in self.group.members:
            self._keep_owned(member_id)
        unassigned = self.racks.sort_by_nearby_consumers(self._unassigned())
        self.below.sort(key=string_order)
        self.at_quota.sort(key=string_order)
        if self.racks.consumer_racks:
            unassigned = self._assign_near(unassigned)
        self._assign_round_robin(unassigned)
        self._verify()
        return self.assignment

    def _keep_owned(self, member_id: str) -> None:
        far = [each for each in self.previous.owned[member_id] if self.racks.mismatch(member_id, each)]
        near = set(self.previous.owned[member_id]).difference(far, self.previous.conflicts)
        owned = sorted(near, key=lambda partition: (partition.partition, partition.topic))
        quota = self.min_quota
        if len(owned) < quota:
            self.below.append(member_id)
        elif len(owned) >= self.max_quota and self.extra_places > 0:
            quota = self.max_quota
            self._take_extra_place()
        elif self.extra_places > 0:
            self.at_quota.append(member_id)
        self.assignment[member_id] += owned[:quota]
        self.revoked.update(dict.fromkeys((*far, *owned[quota:]), member_id))

    def _take_extra_place(self) -> None:
        self.extra_places -= 1
        if self.extra_places == 0:
            self.at_quota.clear()

    def _unassigned(self) -> list[TopicPartition]:
        """Kafka walks through both sorted lists at once. An owned partition that is no more, of a topic made anew with
        fewer, stops it: whatever comes later counts as not assigned, and may get a second owner."""
        assigned = iter(sorted(partition for found in self.assignment.values() for partition in found))
        wanted = next(assigned, None)
        unassigned = []
        for partition in self.group.topic_partitions(sorted(self.group.partitions)):
            if partition == wanted:
                wanted = next(assigned, None)
            else:
                unassigned.append(partition)
        return unassigned

    def _assign_near(self, unassigned: list[TopicPartition]) -> list[TopicPartition]:
        """What nobody near may have is left over."""
        left = []
        turn = 0
        for partition in unassigned:
            index = self.racks.next_consumer(partition, self.below, turn)
            if index is not None:
                consumer = self.below[index]
                turn = self._fill(consumer, index)
            else:
                index = self.racks.next_consumer(partition, self.at_quota, 0)
                if index is None:
                    left.append(partition)
                    continue
                consumer = self.at_quota[index]
                if len(self.assignment[consumer]) + 1 == self.max_quota:
                    del self.at_quota[index]
                    self._take_extra_place()
            self._assign(partition, consumer)
        return left

    def _fill(self, consumer: str, index: int) -> int:
        """A member below the quota is to get one; the index of the one whose turn is next."""
        count = len(self.assignment[consumer]) + 1
        if count < self.min_quota:
            index += 1
        else:
            del self.below[index]
            if count < self.max_quota and self.extra_places > 0:
                self.at_quota.append(consumer)
        return index % len(self.below) if self.below else 0

    def _assign_round_robin(self, unassigned: list[TopicPartition]) -> None:
        turn = 0
        for partition in unassigned:
            if turn >= len(self.below):
                turn = 0
            if self.below:
                consumer = self.below[turn]
            elif self.at_quota:
                consumer = self.at_quota.pop(0)
            else:
                raise KafkaError("IllegalStateException", "No more unfilled consumers to be assigned.")
            self._assign(partition, consumer)
            count = len(self.assignment[consumer])
            turn += 1
            if count == self.min_quota:
                turn -= 1
                del self.below[turn]
                self.at_quota.append(consumer)
            elif count == self.max_quota:
                self.extra_places -= 1

    def _assign(self, partition: TopicPartition, consumer: str) -> None:
        self.assignment[consumer].append(partition)
        has_other_owner = self.revoked.get(partition, consumer) != consumer
        if has_other_owner or partition in self.previous.conflicts:
            self.transferring[partition] = consumer

    def _verify(self) -> None:
        if self.below and self.extra_places != 0:
            raise KafkaError(
                "IllegalStateException",
                "We haven't reached the expected number of members with more than the minQuota partitions, "
                "but no more partitions to be assigned",
            )
        for member_id in self.below:
            if len(self.assignment[member_id]) != self.min_quota:
                raise KafkaError(
                    "IllegalStateException",
                    f"Consumer: [{member_id}] doesn't reach minQuota partitions, and no more partitions to be assigned",
                )
