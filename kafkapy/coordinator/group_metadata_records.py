"""The records of ``__consumer_offsets`` that more than one writer makes: classic groups, committed offsets, and the
tombstones that take a group of any type away.

    GroupMetadata  version 3: a classic group whole, so each change of it is one record
    OffsetCommit   version 4, or 1 for an offset with a time of its own at which it expires, which has no topic id

Tombstones of a group come in Kafka's order: what members have, what they shall have, what they asked for, and at last
the group. A broker that replays them refuses to forget a group while it has members.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.coordinator.group import ClassicGroup, ClassicMember, Group, GroupType, ModernGroup
from kafkapy.coordinator.offset_and_metadata import NO_EXPIRE_TIMESTAMP, OffsetAndMetadata
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

GROUP_METADATA_VERSION = 3
OFFSET_COMMIT_VERSION = 4
OFFSET_COMMIT_VERSION_WITH_EXPIRE_TIMESTAMP = 1

_OF_MEMBERS = ("CurrentMemberAssignment", "TargetAssignmentMember", "MemberMetadata")
_MEMBERS_FIRST = ("CurrentMemberAssignment", "TargetAssignmentMember", "TargetAssignmentMetadata", "MemberMetadata")
_TOMBSTONES = {
    # PartitionMetadata is what older brokers wrote
    GroupType.CONSUMER: (*_MEMBERS_FIRST, "RegularExpression", "PartitionMetadata", "Metadata"),
    GroupType.SHARE: (*_MEMBERS_FIRST, "StatePartitionMetadata", "Metadata"),
    GroupType.STREAMS: (*_MEMBERS_FIRST, "Metadata", "Topology"),
}


def group_metadata_record(group: ClassicGroup) -> CoordinatorRecord:
    """Makes ``group`` the state of a classic group."""
    value = {
        "protocolType": group.protocol_type,
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
        "currentStateTimestamp": group.state_timestamp,
        "members": [_member(member) for member in group.members.values()],
    }
    return CoordinatorRecord("GroupMetadata", {"group": group.group_id}, GROUP_METADATA_VERSION, value)


def offset_commit_record(group_id: str, partition: TopicPartition, offset: OffsetAndMetadata) -> CoordinatorRecord:
    """Commits an offset."""
    expires = offset.expire_timestamp != NO_EXPIRE_TIMESTAMP
    version = OFFSET_COMMIT_VERSION_WITH_EXPIRE_TIMESTAMP if expires else OFFSET_COMMIT_VERSION
    value = {
        "offset": offset.offset,
        "leaderEpoch": offset.leader_epoch,
        "metadata": offset.metadata,
        "commitTimestamp": offset.commit_timestamp,
        "expireTimestamp": offset.expire_timestamp,
        "topicId": offset.topic_id,
    }
    return CoordinatorRecord("OffsetCommit", _offset_key(group_id, partition), version, value)


def offset_tombstone(group_id: str, partition: TopicPartition) -> CoordinatorRecord:
    """Forgets a committed offset."""
    return CoordinatorRecord("OffsetCommit", _offset_key(group_id, partition))


def group_tombstones(group: Group) -> list[CoordinatorRecord]:
    """Forgets a group, but not its offsets."""
    if isinstance(group, ClassicGroup):
        return [CoordinatorRecord("GroupMetadata", {"group": group.group_id})]
    return [
        CoordinatorRecord(f"{group.type}Group{name}", key)
        for name in _TOMBSTONES[group.type]
        for key in _keys(group, name)
    ]


def _keys(group: ModernGroup, name: str) -> Iterable[Value]:
    """The keys of all records of a kind that a group may have."""
    if name in _OF_MEMBERS:
        return [{"groupId": group.group_id, "memberId": member} for member in group.members]
    if name == "RegularExpression":
        return [{"groupId": group.group_id, "regularExpression": each} for each in group.regular_expressions]
    return [{"groupId": group.group_id}]


def _offset_key(group_id: str, partition: TopicPartition) -> Value:
    return {"group": group_id, "topic": partition.topic, "partition": partition.partition}


def _member(member: ClassicMember) -> Value:
    return {
        "memberId": member.member_id,
        "groupInstanceId": member.group_instance_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "rebalanceTimeout": member.rebalance_timeout_ms,
        "sessionTimeout": member.session_timeout_ms,
        "subscription": member.subscription,
        "assignment": member.assignment,
    }
