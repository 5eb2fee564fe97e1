"""What the leader of a classic group knows when it divides.

Members and topics come in the order of the HashMaps that Kafka's client puts them into: members from the JoinGroup
response, topics from the subscriptions as it walks through the members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from kafkapy.coordinator.assignors.java_hash_map import hash_set, string_hash, string_order
from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.log.topic_partition import TopicPartition

Racks = Mapping[TopicPartition, Set[str]]
"""The racks of all replicas of a partition, also of those that are offline or out of sync."""

Assignment = dict[str, list[TopicPartition]]
"""Member id -> partitions in the order of the assignor."""


class ClientGroup(NamedTuple):
    """``partitions`` has the topics that someone subscribes to and that have partitions."""

    partitions: dict[str, int]
    members: dict[str, MemberSubscription]
    racks: Racks

    def consumer_racks(self) -> dict[str, str]:
        """The racks of those members that tell one."""
        racks = {member_id: member.subscription.rack_id for member_id, member in self.members.items()}
        return {member_id: rack for member_id, rack in racks.items() if rack}

    def topic_partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """All partitions of these topics."""
        return [TopicPartition(topic, number) for topic in topics for number in range(self.partitions[topic])]

    def sorted_members(self) -> list[str]:
        """Static members by instance id, then the others by member id."""

        def key(member_id: str) -> tuple[bool, bytes]:
            instance_id = self.members[member_id].group_instance_id
            return instance_id is None, string_order(member_id if instance_id is None else instance_id)

        return sorted(self.members, key=key)


def client_group(
    partitions: Mapping[str, int], members: Mapping[str, MemberSubscription], racks: Racks | None = None
) -> ClientGroup:
    """``members`` in the order of the JoinGroup response."""
    ordered = {member_id: members[member_id] for member_id in hash_set(string_hash, members)}
    wanted = hash_set(string_hash, (topic for member in ordered.values() for topic in member.subscription.topics))
    found = hash_set(string_hash, (topic for topic in wanted if partitions.get(topic)))
    return ClientGroup({topic: partitions[topic] for topic in found}, ordered, racks or {})


def is_rack_aware(consumer_racks: Set[str], racks: Racks) -> bool:
    """Whether racks can matter: some are shared, and not every partition has a replica on each of them."""
    all_racks = {rack for of_partition in racks.values() for rack in of_partition}
    return not consumer_racks.isdisjoint(all_racks) and any(found != all_racks for found in racks.values())
