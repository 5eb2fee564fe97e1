"""What is told of a group, out of what its records say: state, assignor, members and their partitions.

The state is the one that a coordinator gives a group that it has just loaded:

    classic          Stable with members, else Empty
    share            the same
    consumer         Empty; Assigning while the target assignment is older than the group; Reconciling until every
                     member has what it shall have; Stable
    streams          as consumer, and NotReady before all that while the topology was not validated

Classic members decide among themselves what an assignment looks like, so its bytes are read only where the group's
protocol type says that they are consumers. The others are assigned topics by id: partitions of topics that are gone
are left out, as a broker does. Streams groups are assigned tasks, which are partitions of subtopologies: such a member
has the partitions of the topics that its active tasks read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kafkapy.coordinator.consumer_protocol import PROTOCOL_TYPE, decode_assignment
from kafkapy.coordinator.group import (
    ClassicGroup,
    ClassicMember,
    Group,
    GroupState,
    GroupType,
    ModernGroup,
    ModernMember,
)
from kafkapy.coordinator.group_description import GroupDescription, GroupListing, MemberDescription
from kafkapy.coordinator.streams_group_description import task_partitions
from kafkapy.errors import SchemaError
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage

Partitions = tuple[TopicPartition, ...]

_PROTOCOLS = {GroupType.CONSUMER: PROTOCOL_TYPE, GroupType.SHARE: "share", GroupType.STREAMS: "streams"}
_DEFAULT_ASSIGNORS = {GroupType.CONSUMER: "uniform", GroupType.SHARE: "simple", GroupType.STREAMS: ""}
_STABLE_MEMBER = {GroupType.CONSUMER: 0, GroupType.SHARE: 0, GroupType.STREAMS: 1}


def listing(group: Group) -> GroupListing:
    """A group's line in a list."""
    return GroupListing(group.group_id, group.type, _protocol(group), state_of(group))


def describe(
    group: Group, image: MetadataImage, coordinator: int, problems: list[str] | None = None
) -> GroupDescription:
    """A group with its members, in the order of their ids. An assignment that cannot be read is told to ``problems``,
    and is an empty one."""
    if isinstance(group, ClassicGroup):
        return _describe_classic(group, coordinator, [] if problems is None else problems)
    names = {topic.id: topic.name for topic in image.topics.values()}
    members = (_describe_member(group, group.members[member_id], names) for member_id in sorted(group.members))
    return GroupDescription(
        group.group_id,
        group.type,
        state_of(group),
        _protocol(group),
        _assignor(group),
        coordinator,
        tuple(members),
        group.epoch,
        group.assignment_epoch,
    )


def state_of(group: Group) -> GroupState:
    """The state right after loading."""
    if isinstance(group, ClassicGroup):
        return group.state
    if not group.members:
        return GroupState.EMPTY
    if group.type is GroupType.SHARE:
        return GroupState.STABLE
    if group.type is GroupType.STREAMS and not _is_topology_validated(group):
        return GroupState.NOT_READY
    if group.epoch > group.assignment_epoch:
        return GroupState.ASSIGNING
    if all(_is_reconciled(group, member) for member in group.members.values()):
        return GroupState.STABLE
    return GroupState.RECONCILING


def _protocol(group: Group) -> str:
    return group.protocol_type if isinstance(group, ClassicGroup) else _PROTOCOLS[group.type]


def _is_topology_validated(group: ModernGroup) -> bool:
    if group.topology is None or group.metadata is None:
        return False
    return bool(group.topology["epoch"] == group.metadata["validatedTopologyEpoch"])


def _is_reconciled(group: ModernGroup, member: ModernMember) -> bool:
    if member.current is None:  # a member that was only made known has epoch 0 and nothing to give up
        return group.assignment_epoch == 0
    found = member.current["state"], member.current["memberEpoch"]
    return found == (_STABLE_MEMBER[group.type], group.assignment_epoch)


def _assignor(group: ModernGroup) -> str:
    """The one that most members of a consumer group ask for."""
    wanted = Counter(
        member.metadata["serverAssignor"]
        for member in group.members.values()
        if member.metadata is not None and member.metadata.get("serverAssignor")
    )
    return max(sorted(wanted), key=wanted.__getitem__) if wanted else _DEFAULT_ASSIGNORS[group.type]


def _describe_classic(group: ClassicGroup, coordinator: int, problems: list[str]) -> GroupDescription:
    members = (_describe_classic_member(group, group.members[name], problems) for name in sorted(group.members))
    is_stable = group.state is GroupState.STABLE
    return GroupDescription(
        group.group_id,
        group.type,
        group.state,
        group.protocol_type,
        (group.protocol or "") if is_stable else "",
        coordinator,
        tuple(members),
        generation=group.generation,
    )


def _describe_classic_member(group: ClassicGroup, member: ClassicMember, problems: list[str]) -> MemberDescription:
    assignment: Partitions = ()
    if group.protocol_type == PROTOCOL_TYPE and member.assignment:
        try:
            assignment = tuple(sorted(set(decode_assignment(member.assignment))))
        except SchemaError as error:
            problems.append(f"group {group.group_id}: the assignment of member {member.member_id}: {error}")
    return MemberDescription(
        member.member_id, member.group_instance_id, member.client_id, member.client_host, assignment
    )


def _describe_member(group: ModernGroup, member: ModernMember, names: dict[str, str]) -> MemberDescription:
    metadata, current, target = member.metadata or {}, member.current or {}, member.target or {}
    if group.type is GroupType.STREAMS:
        topology = group.topology or {"subtopologies": ()}
        assigned = task_partitions(topology, current.get("activeTasks", ()))
        wanted = task_partitions(topology, target.get("activeTasks", ()))
    else:
        held = (*current.get("assignedPartitions", ()), *current.get("partitionsPendingRevocation", ()))
        assigned = _named(held, names)
        wanted = _named(target.get("topicPartitions", ()), names)
    is_consumer = group.type is GroupType.CONSUMER
    return MemberDescription(
        member.member_id,
        metadata.get("instanceId"),
        metadata.get("clientId", ""),
        metadata.get("clientHost", ""),
        assigned,
        wanted,
        current.get("memberEpoch", 0),
        metadata.get("classicMemberMetadata") is None if is_consumer else None,
    )


def _named(topics: Iterable[Value], names: dict[str, str]) -> Partitions:
    found = {
        TopicPartition(names[each["topicId"]], number)
        for each in topics
        if each["topicId"] in names
        for number in each["partitions"]
    }
    return tuple(sorted(found))
