"""What coordinators answer about groups, as the values that commands know.

Which request knows a group depends on its type. Whether a group of consumers is a classic one is not known before, so
both requests are sent together; a coordinator says of a group of another type that it is not there.

Members are told in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from kafkapy.backends.live.client import Call
from kafkapy.backends.live.live_group_coordinators import GroupCoordinators
from kafkapy.coordinator.consumer_protocol import PROTOCOL_TYPE, decode_assignment
from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_description import GroupDescription, MemberDescription
from kafkapy.errors import KafkaError, SchemaError
from kafkapy.formats.error_codes import NONE, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

T = TypeVar("T")
Partitions = tuple[TopicPartition, ...]
Descriptions = dict[str, GroupDescription | KafkaError]

_UPGRADED = {0: False, 1: True}
_NOT_FOUND = "GroupIdNotFoundException"


def describe_consumer_groups(
    coordinators: GroupCoordinators, group_ids: Iterable[str], problems: list[str]
) -> Descriptions:
    """Groups of consumers. An assignment that cannot be read is told to ``problems``, and is an empty one."""

    def request(ids: Sequence[str], node: int) -> list[Call]:
        new = Call("ConsumerGroupDescribe", {"groupIds": list(ids)}, node)
        return [new, Call("DescribeGroups", {"groups": list(ids)}, node)]

    def read(responses: list[Value | KafkaError], node: int) -> Iterable[tuple[str, GroupDescription | KafkaError]]:
        new, classic = responses
        if isinstance(classic, KafkaError):
            raise classic
        found = {} if isinstance(new, KafkaError) else {each["groupId"]: each for each in new["groups"]}
        for each in classic["groups"]:
            yield each["groupId"], _consumer_group(found.get(each["groupId"]), each, node, problems)

    return coordinators.ask(group_ids, request, read)


def _consumer_group(new: Value | None, classic: Value, node: int, problems: list[str]) -> GroupDescription | KafkaError:
    """The new answer; the classic one where there is no such group of the new kind."""
    refusal = None if new is None or new["errorCode"] == NONE else kafka_error(new["errorCode"], new["errorMessage"])
    if new is not None and refusal is None:
        return _modern_group(new, GroupType.CONSUMER, PROTOCOL_TYPE, node)
    if refusal is not None and refusal.name not in (_NOT_FOUND, "UnsupportedVersionException"):
        return refusal
    found = _classic_group(classic, node, problems)
    is_missing = isinstance(found, KafkaError) and found.name == _NOT_FOUND
    return refusal if is_missing and refusal is not None and refusal.name == _NOT_FOUND else found


def _classic_group(group: Value, node: int, problems: list[str]) -> GroupDescription | KafkaError:
    if group["errorCode"] != NONE:
        return kafka_error(group["errorCode"], group["errorMessage"])
    group_id, protocol = group["groupId"], group["protocolType"]
    if protocol not in ("", PROTOCOL_TYPE):
        return KafkaError("IllegalArgumentException", f"GroupId {group_id} is not a consumer group ({protocol}).")
    members = [_classic_member(group_id, each, problems) for each in by_id(group["members"])]
    return GroupDescription(
        group_id,
        GroupType.CLASSIC,
        GroupState.parse(group["groupState"]),
        protocol,
        group["protocolData"],
        node,
        tuple(members),
    )


def _classic_member(group_id: str, member: Value, problems: list[str]) -> MemberDescription:
    assignment: Partitions = ()
    if member["memberAssignment"]:
        try:
            assignment = tuple(sorted(set(decode_assignment(bytes(member["memberAssignment"])))))
        except SchemaError as error:
            problems.append(f"group {group_id}: the assignment of member {member['memberId']}: {error}")
    return MemberDescription(
        member["memberId"], member["groupInstanceId"], member["clientId"], member["clientHost"], assignment
    )


def describe_share_groups(coordinators: GroupCoordinators, group_ids: Iterable[str]) -> Descriptions:
    """Share groups."""
    return describe_groups(
        coordinators,
        "ShareGroupDescribe",
        group_ids,
        lambda group, node: _modern_group(group, GroupType.SHARE, "share", node),
    )


def _modern_group(group: Value, group_type: GroupType, protocol: str, node: int) -> GroupDescription:
    return GroupDescription(
        group["groupId"],
        group_type,
        GroupState.parse(group["groupState"]),
        protocol,
        group["assignorName"],
        node,
        tuple(_modern_member(each) for each in by_id(group["members"])),
        group["groupEpoch"],
        group["assignmentEpoch"],
    )


def _modern_member(member: Value) -> MemberDescription:
    target = member.get("targetAssignment")
    return MemberDescription(
        member["memberId"],
        member.get("instanceId"),
        member["clientId"],
        member["clientHost"],
        _partitions(member["assignment"]),
        None if target is None else _partitions(target),
        member["memberEpoch"],
        _UPGRADED.get(member.get("memberType", -1)),
    )


def _partitions(assignment: Value) -> Partitions:
    topics = assignment["topicPartitions"]
    found = {TopicPartition(topic["topicName"], number) for topic in topics for number in topic["partitions"]}
    return tuple(sorted(found))


def describe_groups(
    coordinators: GroupCoordinators,
    api: str,
    group_ids: Iterable[str],
    described: Callable[[Value, int], T | KafkaError],
) -> dict[str, T | KafkaError]:
    """Groups of a type that one request knows all of."""
    return coordinators.ask_each(group_ids, lambda ids, node: Call(api, {"groupIds": list(ids)}, node), described)


def by_id(members: Iterable[Value]) -> list[Value]:
    return sorted(members, key=lambda member: str(member["memberId"]))
