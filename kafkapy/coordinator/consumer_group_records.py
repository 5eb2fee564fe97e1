"""The records of a consumer group in ``__consumer_offsets``, and their tombstones.

    3  ConsumerGroupMetadata                  the group's epoch and metadata hash
    5  ConsumerGroupMemberMetadata            what a member asked for
    6  ConsumerGroupTargetAssignmentMetadata  the epoch that the target assignment was made for, and when
    7  ConsumerGroupTargetAssignmentMember    what a member shall have
    8  ConsumerGroupCurrentMemberAssignment   what a member has, and has to give back
    16 ConsumerGroupRegularExpression         the topics that an expression matched

Values are of version 0. Whole groups are taken away by ``group_metadata_records.py``. All records of one heartbeat are
one batch, so after a crash either all of them or none are there; the order inside it is the one in which a coordinator
can replay them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.coordinator.consumer_group_member import ConsumerGroupMember, PartitionEpochs
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.message import Value

VALUE_VERSION = 0

METADATA = "ConsumerGroupMetadata"
MEMBER_METADATA = "ConsumerGroupMemberMetadata"
TARGET_METADATA = "ConsumerGroupTargetAssignmentMetadata"
TARGET_MEMBER = "ConsumerGroupTargetAssignmentMember"
CURRENT_MEMBER = "ConsumerGroupCurrentMemberAssignment"
REGULAR_EXPRESSION = "ConsumerGroupRegularExpression"


def group_epoch(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The group goes on to an epoch."""
    return _record(METADATA, {"groupId": group_id}, {"epoch": epoch, "metadataHash": metadata_hash})


def member_subscription(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    """What a member asked for."""
    value = {
        "instanceId": member.instance_id,
        "rackId": member.rack_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "subscribedTopicNames": sorted(member.subscribed_topic_names),
        "subscribedTopicRegex": member.subscribed_topic_regex,
        "rebalanceTimeoutMs": member.rebalance_timeout_ms,
        "serverAssignor": member.server_assignor,
        "classicMemberMetadata": member.classic,
    }
    return _record(MEMBER_METADATA, _member_key(group_id, member.member_id), value)


def target_assignment_epoch(group_id: str, epoch: int, timestamp: int) -> CoordinatorRecord:
    """The target assignment is complete."""
    value = {"assignmentEpoch": epoch, "assignmentTimestamp": timestamp}
    return _record(TARGET_METADATA, {"groupId": group_id}, value)


def target_assignment(group_id: str, member_id: str, target: Mapping[str, Iterable[int]]) -> CoordinatorRecord:
    """What a member shall have, in the order of the assignor, which the next assignment depends on."""
    topics = [{"topicId": topic_id, "partitions": list(partitions)} for topic_id, partitions in target.items()]
    return _record(TARGET_MEMBER, _member_key(group_id, member_id), {"topicPartitions": topics})


def current_assignment(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    """What a member has."""
    value = {
        "memberEpoch": member.member_epoch,
        "previousMemberEpoch": member.previous_member_epoch,
        "state": int(member.state),
        "assignedPartitions": _topic_partitions(member.assigned),
        "partitionsPendingRevocation": _topic_partitions(member.pending_revocation),
    }
    return _record(CURRENT_MEMBER, _member_key(group_id, member.member_id), value)


def regular_expression(
    group_id: str, regex: str, topics: Iterable[str], version: int, timestamp: int
) -> CoordinatorRecord:
    """What an expression matched; ``version`` is the metadata's offset."""
    value = {"topics": sorted(topics), "version": version, "timestamp": timestamp}
    return _record(REGULAR_EXPRESSION, {"groupId": group_id, "regularExpression": regex}, value)


def regular_expression_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    """Nobody subscribes to an expression any more."""
    return CoordinatorRecord(REGULAR_EXPRESSION, {"groupId": group_id, "regularExpression": regex})


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """A member is gone. What it had goes first: a coordinator removes the member with its subscription."""
    key = _member_key(group_id, member_id)
    return [CoordinatorRecord(name, key) for name in (CURRENT_MEMBER, TARGET_MEMBER, MEMBER_METADATA)]


def _record(name: str, key: Value, value: Value) -> CoordinatorRecord:
    return CoordinatorRecord(name, key, VALUE_VERSION, value)


def _member_key(group_id: str, member_id: str) -> Value:
    return {"groupId": group_id, "memberId": member_id}


def _topic_partitions(epochs: PartitionEpochs) -> list[Value]:
    return [
        {"topicId": topic_id, "partitions": sorted(found), "assignmentEpochs": [found[each] for each in sorted(found)]}
        for topic_id, found in sorted(epochs.items())
    ]
