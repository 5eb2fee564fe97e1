"""What coordinators answer about streams groups: the topology, and the tasks of each member."""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.backends.live.live_group_coordinators import GroupCoordinators
from kafkapy.backends.live.live_group_descriptions import by_id, describe_groups
from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_description import GroupDescription, MemberDescription
from kafkapy.coordinator.streams_group_description import (
    StreamsGroupDescription,
    StreamsMember,
    subtopologies,
    task_assignment,
    task_partitions,
)
from kafkapy.errors import KafkaError
from kafkapy.formats.message import Value

StreamsDescriptions = dict[str, StreamsGroupDescription | KafkaError]


def describe_streams_groups(coordinators: GroupCoordinators, group_ids: Iterable[str]) -> StreamsDescriptions:
    """Streams groups."""
    return describe_groups(coordinators, "StreamsGroupDescribe", group_ids, _streams_group)


def _streams_group(group: Value, node: int) -> StreamsGroupDescription | KafkaError:
    topology = group["topology"]
    if topology is None:
        return KafkaError("IllegalStateException", "Topology information is missing")
    members = list(by_id(group["members"]))
    description = GroupDescription(
        group["groupId"],
        GroupType.STREAMS,
        GroupState.parse(group["groupState"]),
        "streams",
        "",
        node,
        tuple(_reading_member(each, topology) for each in members),
        group["groupEpoch"],
        group["assignmentEpoch"],
    )
    found = tuple(_streams_member(each) for each in members)
    return StreamsGroupDescription(description, topology["epoch"], found, subtopologies(topology))


def _reading_member(member: Value, topology: Value) -> MemberDescription:
    return MemberDescription(
        member["memberId"],
        member["instanceId"],
        member["clientId"],
        member["clientHost"],
        task_partitions(topology, member["assignment"]["activeTasks"]),
        task_partitions(topology, member["targetAssignment"]["activeTasks"]),
        member["memberEpoch"],
    )


def _streams_member(member: Value) -> StreamsMember:
    return StreamsMember(
        member["memberId"],
        member["processId"],
        member["clientId"],
        member["clientHost"],
        member["memberEpoch"],
        task_assignment(member["assignment"]),
        task_assignment(member["targetAssignment"]),
        member["isClassic"],
    )
