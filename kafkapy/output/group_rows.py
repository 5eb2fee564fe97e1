"""Groups, their members, offsets and lag as rows with typed fields; null is what is not known or not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafkapy.backends.group_lag import LagTotal, MemberOffsets, OffsetState
from kafkapy.backends.offset_targets import Reset
from kafkapy.coordinator.group_description import GroupDescription, MemberDescription
from kafkapy.coordinator.offset_and_metadata import NO_LEADER_EPOCH, OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.formats.java_exceptions import exception_text
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.group_change_lines import WHOLE_TOPIC

Row = dict[str, Any]
_NO_COMMIT = OffsetAndMetadata(-1)


def group_row(description: GroupDescription, coordinator: str | None) -> Row:
    """A group and its state. ``coordinator`` is ``HOST:PORT``, where it is known."""
    return {
        "type": "group",
        "group": description.group_id,
        "group_type": str(description.type),
        "protocol": description.protocol,
        "state": str(description.state),
        "coordinator_id": description.coordinator if description.coordinator >= 0 else None,
        "coordinator": coordinator,
        "assignment_strategy": description.partition_assignor or None,
        "group_epoch": description.group_epoch,
        "target_assignment_epoch": description.target_assignment_epoch,
        "members": len(description.members),
    }


def member_rows(description: GroupDescription) -> Iterator[Row]:
    """The members of a group."""
    for member in description.members:
        yield {
            "type": "member",
            "group": description.group_id,
            "group_state": str(description.state),
            "consumer_id": member.member_id,
            "group_instance_id": member.group_instance_id,
            "host": member.host,
            "client_id": member.client_id,
            "partitions": len(member.assignment),
            "current_epoch": member.member_epoch,
            "current_assignment": _by_topic(member.assignment),
            "target_epoch": description.target_assignment_epoch,
            "target_assignment": None if member.target_assignment is None else _by_topic(member.target_assignment),
            "upgraded": member.is_upgraded,
        }


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    return topics


def offset_rows(description: GroupDescription, offsets: Iterable[MemberOffsets]) -> Iterator[Row]:
    """The offsets of a group, with who reads on from them."""
    for member, states in offsets:
        for state in states:
            yield _offset_row(description, state, member)


def _offset_row(description: GroupDescription, state: OffsetState, member: MemberDescription | None) -> Row:
    committed = state.committed or _NO_COMMIT
    is_known = state.committed is not None
    return {
        "type": "offset",
        "group": description.group_id,
        "group_state": str(description.state),
        "topic": state.partition.topic,
        "partition": state.partition.partition,
        "leader_epoch": committed.leader_epoch if committed.leader_epoch != NO_LEADER_EPOCH else None,
        "current_offset": committed.offset if is_known else None,
        "log_start_offset": state.log.start,
        "log_end_offset": state.log.end,
        "lag": state.lag,
        "consumer_id": member.member_id if member else None,
        "host": member.host if member else None,
        "client_id": member.client_id if member else None,
        "metadata": committed.metadata if is_known else None,
        "commit_timestamp": committed.commit_timestamp if is_known else None,
    }


def total_rows(group_id: str, totals: Iterable[LagTotal]) -> Iterator[Row]:
    """The lag of a group by topic; ``topic`` is null in the row of all."""
    for topic, partitions, unknown, lag in totals:
        row = {"topic": topic, "partitions": partitions, "partitions_with_unknown_lag": unknown, "lag": lag}
        yield {"type": "total", "group": group_id, **row}


def reset_rows(group_id: str, resets: Sequence[Reset], executed: bool) -> Iterator[Row]:
    """The resets of a group, beside what they replace."""
    for partition, committed, new, log in resets:
        yield {
            "type": "reset",
            "group": group_id,
            "topic": partition.topic,
            "partition": partition.partition,
            "current_offset": committed.offset if committed else None,
            "new_offset": new.offset,
            "log_start_offset": log.start,
            "log_end_offset": log.end,
            "executed": executed,
        }


def deleted_group_row(group_id: str, error: KafkaError | None) -> Row:
    """A group that was to be deleted."""
    return {"type": "deleted_group", "group": group_id, "error": exception_text(error) if error else None}


def deleted_offset_row(group_id: str, partition: TopicPartition, error: KafkaError | None) -> Row:
    """A commit that was to be deleted."""
    return {
        "type": "deleted_offset",
        "group": group_id,
        "topic": partition.topic,
        "partition": None if partition.partition == WHOLE_TOPIC else partition.partition,
        "error": exception_text(error) if error else None,
    }


def deleted_topic_row(group_id: str, topic: str, error: KafkaError | None) -> Row:
    """A topic of which a share group was to forget where it is."""
    return {
        "type": "deleted_topic",
        "group": group_id,
        "topic": topic,
        "error": exception_text(error) if error else None,
    }
