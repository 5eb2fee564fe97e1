"""Which groups a tool speaks of: each knows groups of its own types, and says of the others that they are not there.

ConsumerGroupCommand speaks of those of consumers, by either protocol, and of those that only committed. What else keeps
its members in ``__consumer_offsets`` (share and streams groups, workers of Connect) is another tool's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.coordinator.group import GroupState, GroupType, ModernGroup
from kafkapy.errors import KafkaError, UsageError

if TYPE_CHECKING:
    from kafkapy.coordinator.group_description import GroupDescription
    from kafkapy.coordinator.group_store import GroupStore

CONSUMER_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)
CONSUMER_PROTOCOLS = ("", "consumer")

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


def typed_group(store: GroupStore, group_type: GroupType, group_id: str) -> ModernGroup:
    """A group; a KafkaError for one that is not there or of another type."""
    group = store.group(group_id)
    if group is None:
        raise KafkaError("GroupIdNotFoundException", f"Group {group_id} not found.")
    if not isinstance(group, ModernGroup) or group.type is not group_type:
        raise KafkaError("GroupIdNotFoundException", f"Group {group_id} is not a {group_type.lower()} group.")
    return group


def check_of_consumers(group: GroupDescription) -> None:
    """Refuse a group that is none of consumers."""
    if group.type not in CONSUMER_TYPES:
        raise KafkaError("GroupIdNotFoundException", f"Group {group.group_id} is not a classic group.")
    if group.protocol not in CONSUMER_PROTOCOLS:
        text = f"GroupId {group.group_id} is not a consumer group ({group.protocol})."
        raise KafkaError("IllegalArgumentException", text)
