"""What is told of a streams group beyond what every group has: the tasks of its members, and the topics they read.

A task is a partition of a subtopology. The current assignment is what a member has, without what it is about to give
up; the target is what it shall have. Subtopologies and partitions stand in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kafkapy.coordinator.group import ModernGroup, ModernMember
from kafkapy.coordinator.group_description import GroupDescription
from kafkapy.coordinator.offset_and_metadata import NO_LEADER_EPOCH, OffsetAndMetadata
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

LogRange = Callable[[TopicPartition], tuple[int | None, int | None]]

Tasks = dict[str, tuple[int, ...]]
"""The partitions of each subtopology."""


class TaskAssignment(NamedTuple):
    """The tasks of a member."""

    active: Tasks
    standby: Tasks
    warmup: Tasks


class StreamsMember(NamedTuple):
    """A member: a thread of the process ``process_id``."""

    member_id: str
    process_id: str
    client_id: str
    client_host: str
    member_epoch: int
    assignment: TaskAssignment
    target: TaskAssignment


class StreamsGroupDescription(NamedTuple):
    """A streams group."""

    group: GroupDescription
    topology_epoch: int
    members: tuple[StreamsMember, ...]


class StreamsPartitionOffset(NamedTuple):
    """How far a group is in a partition that its tasks read. Where nothing was committed, all of it is still to be
    read; the lag is None where the log is not known."""

    partition: TopicPartition
    committed: int | None
    leader_epoch: int | None
    end: int | None
    lag: int | None


def describe_streams_group(group: ModernGroup, description: GroupDescription) -> StreamsGroupDescription:
    """A group with the tasks of its members, in the order of their ids."""
    members = tuple(_member(group.members[member_id]) for member_id in sorted(group.members))
    return StreamsGroupDescription(description, group.topology["epoch"] if group.topology is not None else -1, members)


def streams_group_offsets(
    description: GroupDescription, committed: Mapping[TopicPartition, OffsetAndMetadata], log: LogRange
) -> list[StreamsPartitionOffset]:
    """The partitions that active tasks read, sorted."""
    partitions = sorted({partition for member in description.members for partition in member.assignment})
    return [_offset(partition, committed.get(partition), *log(partition)) for partition in partitions]


def _offset(
    partition: TopicPartition, commit: OffsetAndMetadata | None, start: int | None, end: int | None
) -> StreamsPartitionOffset:
    epoch = None if commit is None or commit.leader_epoch == NO_LEADER_EPOCH else commit.leader_epoch
    position = max(commit.offset if commit is not None else 0, start or 0)
    lag = None if end is None else end - position
    return StreamsPartitionOffset(partition, None if commit is None else commit.offset, epoch, end, lag)


def _member(member: ModernMember) -> StreamsMember:
    metadata, current = member.metadata or {}, member.current or {}
    return StreamsMember(
        member.member_id,
        metadata.get("processId", ""),
        metadata.get("clientId", ""),
        metadata.get("clientHost", ""),
        current.get("memberEpoch", 0),
        _assignment(current),
        _assignment(member.target or {}),
    )


def _assignment(value: Value) -> TaskAssignment:
    return TaskAssignment(*(_tasks(value.get(field, ())) for field in ("activeTasks", "standbyTasks", "warmupTasks")))


def _tasks(values: Iterable[Value]) -> Tasks:
    return {each["subtopologyId"]: tuple(sorted(each["partitions"])) for each in sorted(values, key=_subtopology)}


def _subtopology(task: Value) -> str:
    found: str = task["subtopologyId"]
    return found
