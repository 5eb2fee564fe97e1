"""``range``, Kafka's default on the client: of each topic every subscriber gets one run of partitions.

Static members come first, by instance id, then the others by member id; the first ones get one partition more where
the count does not divide. Topics are divided one by one, so the same few members get all the extra ones, and topics
with equal counts and subscribers are divided alike.

Where members and partitions have racks and not every rack has every partition, partitions first go to members of their
rack as far as the quotas allow; topics that are divided alike stay so, and follow racks only where all of them agree.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup, is_rack_aware
from kafkapy.log.topic_partition import TopicPartition

MayAssign = Callable[[str, TopicPartition], bool]


def assign(group: ClientGroup) -> Assignment:
    """The partitions of every member."""
    assignment: Assignment = {member_id: [] for member_id in group.members}
    order = group.sorted_members()
    states = [_TopicState(group, topic, order) for topic in group.partitions]
    with_racks = any(state.needs_racks for state in states)
    if with_racks:
        _match_racks(states, assignment)
    for state in states:
        state.assign_ranges(lambda consumer, partition: True, assignment)
    if with_racks:
        for partitions in assignment.values():
            partitions.sort()
    return assignment


class _TopicState:
    """A topic while it is divided."""

    def __init__(self, group: ClientGroup, topic: str, order: list[str]) -> None:
        self.topic = topic
        self.consumers = [each for each in order if topic in group.members[each].subscription.topics]
        self.assigned = dict.fromkeys(self.consumers, 0)
        self.quota, self.extra_places = divmod(group.partitions[topic], len(self.consumers))
        self.unassigned = dict.fromkeys(group.topic_partitions((topic,)))
        all_racks = group.consumer_racks()
        self.consumer_racks = {each: all_racks[each] for each in self.consumers if each in all_racks}
        self.racks = {each: group.racks.get(each, frozenset()) for each in self.unassigned if self.consumer_racks}
        self.needs_racks = is_rack_aware(set(self.consumer_racks.values()), self.racks)

    def racks_match(self, consumer: str, partition: TopicPartition) -> bool:
        """Whether a replica is in the member's rack, or the member has none."""
        rack = self.consumer_racks.get(consumer)
        return rack is None or rack in self.racks.get(partition, ())

    def places(self, consumer: str) -> int:
        """How many partitions the member may still get."""
        return max(0, self.quota + (self.extra_places > 0) - self.assigned[consumer])

    def assign(self, consumer: str, partitions: list[TopicPartition], assignment: Assignment) -> None:
        """Give the member these partitions."""
        assignment[consumer] += partitions
        self.assigned[consumer] += len(partitions)
        self.extra_places -= self.assigned[consumer] > self.quota
        for partition in partitions:
            del self.unassigned[partition]

    def assign_ranges(self, may_assign: MayAssign, assignment: Assignment) -> None:
        """Give every member in turn the first partitions that it may have."""
        for consumer in self.consumers:
            allowed = (each for each in self.unassigned if may_assign(consumer, each))
            found = list(islice(allowed, self.places(consumer)))
            if found:
                self.assign(consumer, found, assignment)


def _match_racks(states: list[_TopicState], assignment: Assignment) -> None:
    alike: dict[tuple[tuple[str, ...], int], list[_TopicState]] = {}
    for state in states:
        alike.setdefault((tuple(state.consumers), len(state.racks)), []).append(state)
    for (consumers, count), co_partitioned in alike.items():
        if len(co_partitioned) > 1:
            _match_co_partitioned(list(consumers), count, co_partitioned, assignment)
        elif co_partitioned[0].needs_racks:
            co_partitioned[0].assign_ranges(co_partitioned[0].racks_match, assignment)


def _match_co_partitioned(
    consumers: list[str], partition_count: int, states: list[_TopicState], assignment: Assignment
) -> None:
    """Partition n of all topics to the first member whose rack has all of them."""
    for number in range(partition_count):
        for consumer in consumers:
            if all(
                state.places(consumer) and state.racks_match(consumer, TopicPartition(state.topic, number))
                for state in states
            ):
                for state in states:
                    state.assign(consumer, [TopicPartition(state.topic, number)], assignment)
                if not any(state.places(consumer) for state in states):
                    consumers.remove(consumer)
                break
