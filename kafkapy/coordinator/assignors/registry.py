"""The assignors by name; one is imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kafkapy.coordinator.assignors.client_group import Racks, client_group
from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.server_group import Assignment, ServerMember, server_group
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition

CLIENT = {
    "range": "range_assignor",
    "roundrobin": "round_robin_assignor",
    "sticky": "sticky_assignor",
    "cooperative-sticky": "cooperative_sticky_assignor",
}
"""Assignors of classic groups, with the module that has ``assign(group)``."""

SERVER = {"uniform": ("uniform_homogeneous", "uniform_heterogeneous"), "range": ("server_range", "server_range")}
"""Assignors of consumer groups: the module for members with equal subscriptions, and the one for others."""


def client_assign(
    name: str,
    partitions: Mapping[str, int],
    members: Mapping[str, MemberSubscription],
    partition_racks: Racks | None = None,
) -> dict[str, tuple[TopicPartition, ...]]:
    """What the leader's assignor answers: ``partitions`` are the counts of all topics that exist, ``members`` come in
    the order of the JoinGroup response."""
    if not members:
        return {}
    assignment = _module(CLIENT, name).assign(client_group(partitions, members, partition_racks))
    return {member_id: tuple(found) for member_id, found in assignment.items()}


def user_data(name: str, assignment: tuple[TopicPartition, ...] | None, generation: int) -> bytes | None:
    """What a member puts into its next subscription after it got ``assignment`` (None: none yet) in ``generation``
    (-1: none yet)."""
    encode: Callable[..., bytes | None] | None = getattr(_module(CLIENT, name), "user_data", None)
    return encode(assignment, generation) if encode else None


def server_assign(
    name: str,
    topics: Mapping[str, int],
    members: Mapping[str, ServerMember],
    joining: str | None = None,
    is_homogeneous: bool | None = None,
) -> Assignment:
    """The target assignment that the coordinator makes; see ``server_group`` for what the arguments mean."""
    if not members:
        return {}
    group = server_group(topics, members, joining, is_homogeneous)
    if name not in SERVER:
        raise KafkapyError(f"unknown assignor: {name} (known are {', '.join(SERVER)})")
    homogeneous, heterogeneous = SERVER[name]
    made: Assignment = _load(homogeneous if group.is_homogeneous else heterogeneous).assign(group)
    return made


def _module(modules: Mapping[str, str], name: str) -> Any:
    if name not in modules:
        raise KafkapyError(f"unknown assignor: {name} (known are {', '.join(modules)})")
    return _load(modules[name])


def _load(module: str) -> Any:
    return import_module(f"kafkapy.coordinator.assignors.{module}")
