"""Which groups ConsumerGroupCommand speaks of: those of consumers, by either protocol, and those that only committed.

What else keeps its members in ``__consumer_offsets`` (share and streams groups, workers of Connect) is another tool's.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_coordinator import GroupCoordinator
from kafkapy.coordinator.group_description import GroupDescription, GroupListing
from kafkapy.errors import KafkaError, UsageError

STATES = (
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.STABLE,
    GroupState.DEAD,
    GroupState.EMPTY,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
)
TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)
PROTOCOLS = ("", "consumer")


def list_consumer_groups(
    coordinator: GroupCoordinator, states: Iterable[GroupState] = (), types: Iterable[GroupType] = ()
) -> list[GroupListing]:
    """Every such group, sorted by id; of these ``states`` and ``types`` where some are given."""
    wanted_states, wanted_types = set(states) or set(STATES), set(types) or set(TYPES)
    return [
        listing
        for listing in coordinator.list()
        if listing.protocol in PROTOCOLS and listing.state in wanted_states and listing.type in wanted_types
    ]


def describe_consumer_group(coordinator: GroupCoordinator, group_id: str) -> GroupDescription:
    """A group; a KafkaError, with the name that Java prints before it, for one that is none of consumers."""
    try:
        description = coordinator.describe(group_id)
    except KafkaError as error:
        raise _refusal(f"org.apache.kafka.common.errors.{error.name}: {error}") from None
    if description.type not in TYPES:
        name = "org.apache.kafka.common.errors.GroupIdNotFoundException"
        raise _refusal(f"{name}: Group {group_id} is not a classic group.")
    if description.protocol not in PROTOCOLS:
        text = f"GroupId {group_id} is not a consumer group ({description.protocol})."
        raise _refusal(f"java.lang.IllegalArgumentException: {text}")
    return description


def parse_states(text: str) -> list[GroupState]:
    """The states in a list with commas; nothing for an empty one."""
    known = {state.lower(): state for state in STATES}
    found = [known.get(name.strip().lower()) for name in text.split(",")] if text else []
    if None in found:
        raise UsageError(f"Invalid state list '{text}'. Valid states are: {', '.join(STATES)}")
    return [state for state in found if state is not None]


def parse_types(text: str) -> list[GroupType]:
    """The same, of types."""
    known = {type_.lower(): type_ for type_ in TYPES}
    found = [known.get(name.strip().lower()) for name in text.split(",")] if text else []
    if None in found:
        raise UsageError(f"Invalid types list '{text}'. Valid types are: {', '.join(TYPES)}")
    return [type_ for type_ in found if type_ is not None]


def _refusal(text: str) -> KafkaError:
    return KafkaError("ExecutionException", text)
