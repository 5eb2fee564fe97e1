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
    """A member: a thread of the process ``process_id``; ``is_classic`` where it still speaks the classic protocol."""

    member_id: str
    process_id: str
    client_id: str
    client_host: str
    member_epoch: int
    assignment: TaskAssignment
    target: TaskAssignment
    is_classic: bool = False


class Subtopology(NamedTuple):
    """The topics of a part of the topology: what it reads from outside, and what is its own."""

    source_topics: tuple[str, ...]
    repartition_topics: tuple[str, ...]
    changelog_topics: tuple[str, ...]


class StreamsGroupDescription(NamedTuple):
    """A streams group."""

    group: GroupDescription
    topology_epoch: int
    members: tuple[StreamsMember, ...]
    subtopologies: tuple[Subtopology, ...] = ()

    @property
    def source_topics(self) -> frozenset[str]:
        """What it reads from outside."""
        return frozenset(topic for each in self.subtopologies for topic in each.source_topics)

    @property
    def internal_topics(self) -> list[str]:
        """What is its own: the topics between its parts, and those that keep their state."""
        sources = self.source_topics
        own = (topic for each in self.subtopologies for topic in (*each.repartition_topics, *each.changelog_topics))
        return list(dict.fromkeys(topic for topic in own if topic not in sources))


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
    topology = group.topology or {"epoch": -1, "subtopologies": ()}
    return StreamsGroupDescription(description, topology["epoch"], members, subtopologies(topology))


def subtopologies(topology: Value) -> tuple[Subtopology, ...]:
    """The topics of each part of a topology."""
    return tuple(
        Subtopology(
            tuple(each["sourceTopics"]),
            tuple(topic["name"] for topic in each["repartitionSourceTopics"]),
            tuple(topic["name"] for topic in each["stateChangelogTopics"]),
        )
        for each in topology["subtopologies"] or ()
    )


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
        task_assignment(current),
        task_assignment(member.target or {}),
    )


def task_assignment(value: Value) -> TaskAssignment:
    """The tasks that a record or a response names."""
    return TaskAssignment(*(_tasks(value.get(field, ())) for field in ("activeTasks", "standbyTasks", "warmupTasks")))


def _tasks(values: Iterable[Value]) -> Tasks:
    return {each["subtopologyId"]: tuple(sorted(each["partitions"])) for each in sorted(values, key=_subtopology)}


def _subtopology(task: Value) -> str:
    found: str = task["subtopologyId"]
    return found


def task_partitions(topology: Value, tasks: Iterable[Value]) -> tuple[TopicPartition, ...]:
    """What tasks read: the partitions of the topics of their subtopologies, sorted."""
    sources = {
        each["subtopologyId"]: [*each["sourceTopics"], *(topic["name"] for topic in each["repartitionSourceTopics"])]
        for each in topology["subtopologies"] or ()
    }
    found = {
        TopicPartition(topic, number)
        for task in tasks
        for topic in sources.get(task["subtopologyId"], ())
        for number in task["partitions"]
    }
    return tuple(sorted(found))
