"""What the members of a group say they owned before, as both sticky assignors read it.

Of two members that claim a partition the one with the higher generation has it; of two with the same generation none.
A partition of a topic that is gone is forgotten. Kafka compares the generation of a member's claim with the one in the
other's subscription, not with that of its claim; they differ only in groups of clients with different versions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup
from kafkapy.coordinator.consumer_protocol import Subscription
from kafkapy.log.topic_partition import TopicPartition

DEFAULT_GENERATION = -1


class MemberData(NamedTuple):
    """What a member owned, and in which generation; None where it says none."""

    partitions: tuple[TopicPartition, ...]
    generation: int | None


ReadMemberData = Callable[[Subscription], MemberData]


class PreviousOwners(NamedTuple):
    """``conflicts`` are the partitions that two members of one generation claim."""

    data: dict[str, MemberData]
    owned: Assignment
    conflicts: set[TopicPartition]
    max_generation: int


def previous_owners(group: ClientGroup, read: ReadMemberData) -> PreviousOwners:
    """In the order of the group's members."""
    data = {member_id: read(member.subscription) for member_id, member in group.members.items()}
    owned: Assignment = {member_id: [] for member_id in data}
    owners: dict[TopicPartition, str] = {}
    conflicts: set[TopicPartition] = set()
    for member_id, (partitions, claimed) in data.items():
        generation = DEFAULT_GENERATION if claimed is None else claimed
        for partition in partitions:
            if partition.topic not in group.partitions:
                continue
            other = owners.get(partition)
            others_generation = _subscribed_generation(group, other)
            if other is not None and generation < others_generation:
                continue
            if other is None or generation > others_generation:
                owned[member_id].append(partition)
            else:
                conflicts.add(partition)
            if other is not None and partition in owned[other]:
                owned[other].remove(partition)
            owners[partition] = member_id
    claims = (each.generation for each in data.values() if each.generation is not None)
    return PreviousOwners(data, owned, conflicts, max(claims, default=DEFAULT_GENERATION))


def _subscribed_generation(group: ClientGroup, member_id: str | None) -> int:
    if member_id is None:
        return DEFAULT_GENERATION
    return max(DEFAULT_GENERATION, group.members[member_id].subscription.generation_id)


def are_subscriptions_equal(group: ClientGroup) -> bool:
    """Whether all members subscribe to the same topics; Kafka overlooks members without any that come first."""
    topics: set[str] = set()
    for member in group.members.values():
        subscribed = member.subscription.topics
        if not topics:
            topics.update(subscribed)
        elif len(subscribed) != len(topics) or not topics.issuperset(subscribed):
            return False
    return True
