"""What the coordinator knows when it divides: the group as Kafka's GroupSpec shows it to a server-side assignor.

Members come in the order of Kafka's HashMap, which is filled from the group's TimelineHashMap; the member whose
heartbeat made it join stands in neither yet and is put last.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kafkapy.coordinator.assignors.java_hash_map import hash_set, hash_set_of, string_hash, string_order, timeline_order
from kafkapy.errors import KafkaError

Assignment = dict[str, dict[str, tuple[int, ...]]]
"""Member id -> topic id -> partitions, all in the order in which Kafka writes them into its records."""


class ServerMember(NamedTuple):
    """A member: topic ids that it subscribes to (``subscribed_topic_ids`` gives them Kafka's order), and its target
    assignment so far, topics and partitions in the order of its record. ``name_count`` is how many names it subscribes
    to, where some are of topics that do not exist: Kafka's tables are as large as for all of them."""

    subscribed: Collection[str]
    instance_id: str | None = None
    current: Mapping[str, Collection[int]] = {}
    name_count: int = 0

    @property
    def subscribed_count(self) -> int:
        """The size of Kafka's set of subscribed topics."""
        return max(self.name_count, len(self.subscribed))


class ServerGroup(NamedTuple):
    """The group: partition counts by topic id, and members in Kafka's order."""

    topics: Mapping[str, int]
    members: dict[str, ServerMember]
    is_homogeneous: bool

    def partition_count(self, topic_id: str) -> int:
        """Kafka refuses to divide a topic that does not exist."""
        count = self.topics.get(topic_id)
        if count is None:
            raise KafkaError(
                "PartitionAssignorException",
                f"Members are subscribed to topic {topic_id} which doesn't exist in the topic metadata.",
            )
        return count


def server_group(
    topics: Mapping[str, int],
    members: Mapping[str, ServerMember],
    joining: str | None = None,
    is_homogeneous: bool | None = None,
) -> ServerGroup:
    """``members`` in the order in which they joined, ``joining`` the one that joins just now.

    Kafka calls a group homogeneous when every topic name is subscribed to, by name, by every member: also names of
    topics that do not exist count, which only the caller can know. Without its word the topic ids decide.
    """
    known = timeline_order(member_id for member_id in members if member_id != joining)
    order = hash_set(string_hash, [*known, *([joining] if joining in members and joining is not None else [])])
    if is_homogeneous is None:
        is_homogeneous = len({frozenset(member.subscribed) for member in members.values()}) <= 1
    return ServerGroup(topics, {member_id: members[member_id] for member_id in order}, is_homogeneous)


def subscribed_topic_ids(names: Collection[str], topic_ids: Mapping[str, str]) -> tuple[str, ...]:
    """The ids of those topics that exist, in the order of the HashSet of names that Kafka keeps for a member."""
    return tuple(topic_ids[name] for name in hash_set_of(string_hash, names) if name in topic_ids)


def static_members_first(members: Mapping[str, ServerMember]) -> list[str]:
    """Static members by instance id, then the others by member id."""

    def key(member_id: str) -> tuple[bool, bytes]:
        instance_id = members[member_id].instance_id
        return instance_id is None, string_order(member_id if instance_id is None else instance_id)

    return sorted(members, key=key)
