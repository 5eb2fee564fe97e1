"""Groups of one of the newer types: share groups, streams groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafkapy.coordinator.group import GroupState, GroupType, ModernGroup
from kafkapy.coordinator.group_coordinator import GroupCoordinator
from kafkapy.coordinator.group_description import GroupListing
from kafkapy.errors import KafkaError, UsageError

STATES = {
    GroupType.SHARE: (GroupState.DEAD, GroupState.EMPTY, GroupState.STABLE),
    GroupType.STREAMS: (
        GroupState.ASSIGNING,
        GroupState.DEAD,
        GroupState.EMPTY,
        GroupState.NOT_READY,
        GroupState.RECONCILING,
        GroupState.STABLE,
    ),
}
"""The states that groups of a type can be in, in alphabetical order."""


def parse_states(text: str, group_type: GroupType) -> frozenset[GroupState]:
    """States with commas between them, in any case; none means all."""
    by_name = {state.lower(): state for state in STATES[group_type]}
    wanted = [name.strip().lower() for name in text.split(",")] if text else []
    if not set(wanted) <= set(by_name):
        raise UsageError(f"Invalid state list '{text}'. Valid states are: {', '.join(STATES[group_type])}")
    return frozenset(by_name[name] for name in wanted)


def typed_listings(
    coordinator: GroupCoordinator, group_type: GroupType, states: Collection[GroupState] = ()
) -> list[GroupListing]:
    """The groups of a type, sorted by id."""
    of_type = (listing for listing in coordinator.list() if listing.type is group_type)
    return [listing for listing in of_type if not states or listing.state in states]


def typed_groups(
    coordinator: GroupCoordinator, group_type: GroupType, group_ids: Iterable[str] | None
) -> list[ModernGroup]:
    """The groups of these ids, or all of the type; a KafkaError for one that is not there or of another type."""
    if group_ids is None:
        group_ids = [listing.group_id for listing in typed_listings(coordinator, group_type)]
    return [_typed_group(coordinator, group_type, group_id) for group_id in group_ids]


def _typed_group(coordinator: GroupCoordinator, group_type: GroupType, group_id: str) -> ModernGroup:
    group = coordinator.store.group(group_id)
    if group is None:
        raise KafkaError("GroupIdNotFoundException", f"Group {group_id} not found.")
    if not isinstance(group, ModernGroup) or group.type is not group_type:
        raise KafkaError("GroupIdNotFoundException", f"Group {group_id} is not a {group_type.lower()} group.")
    return group
