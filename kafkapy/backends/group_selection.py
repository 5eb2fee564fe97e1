"""Which groups ConsumerGroupCommand speaks of, and how it says that one is none of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.typed_groups import CONSUMER_PROTOCOLS, CONSUMER_TYPES
from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.formats.java_exceptions import exception_text
from kafkapy.near_misses import hinting

if TYPE_CHECKING:
    from kafkapy.backends.groups import Groups
    from kafkapy.coordinator.group_description import GroupDescription, GroupListing

STATES = (
    GroupState.PREPARING_REBALANCE,
    GroupState.COMPLETING_REBALANCE,
    GroupState.STABLE,
    GroupState.DEAD,
    GroupState.EMPTY,
    GroupState.ASSIGNING,
    GroupState.RECONCILING,
)


def list_consumer_groups(
    groups: Groups, states: Iterable[GroupState] = (), types: Iterable[GroupType] = ()
) -> list[GroupListing]:
    """Every such group, sorted by id; of these ``states`` and ``types`` where some are given."""
    found = groups.list(tuple(states), tuple(types) or CONSUMER_TYPES)
    return [listing for listing in found if listing.protocol in CONSUMER_PROTOCOLS]


def describe_consumer_groups(groups: Groups, group_ids: Iterable[str]) -> list[GroupDescription]:
    """Groups, in the order of their ids; a KafkaError, with the name that Java prints before it, for one that is not
    there or none of consumers."""
    described = groups.describe_consumer_groups(group_ids)
    for group_id, each in described.items():
        if isinstance(each, KafkaError):
            raise group_failure(each, group_id, lambda: list_consumer_groups(groups))
    return [each for each in described.values() if not isinstance(each, KafkaError)]


def group_failure(error: KafkaError, group_id: str, known: Callable[[], Iterable[GroupListing]]) -> KafkaError:
    """What was answered about a group, as Java's clients tell it; ``known`` lists those that could have been meant."""
    failure = KafkaError("ExecutionException", exception_text(error))
    if error.name != "GroupIdNotFoundException":
        return failure
    return hinting(failure, "group", group_id, _ids(known))


def missing_groups(done: Mapping[str, KafkapyError | None], groups: Groups) -> list[KafkapyError]:
    """Of what became of each group, the errors that there is none of that name, with what was probably meant."""
    failed = {name: error for name, error in done.items() if getattr(error, "name", "") == "GroupIdNotFoundException"}
    known = _ids(lambda: list_consumer_groups(groups)) if failed else []
    return [hinting(error, "group", name, known) for name, error in failed.items() if error is not None]


def _ids(listed: Callable[[], Iterable[GroupListing]]) -> list[str]:
    """The ids of groups; none where to list them is refused, since this is only for a hint."""
    with suppress(KafkapyError):
        return [listing.group_id for listing in listed()]
    return []


def parse_states(text: str) -> list[GroupState]:
    """The states in a list with commas; nothing for an empty one."""
    known = {state.lower(): state for state in STATES}
    found = [known.get(name.strip().lower()) for name in text.split(",")] if text else []
    if None in found:
        raise UsageError(f"Invalid state list '{text}'. Valid states are: {', '.join(STATES)}")
    return [state for state in found if state is not None]


def parse_types(text: str) -> list[GroupType]:
    """The same, of types."""
    known = {type_.lower(): type_ for type_ in CONSUMER_TYPES}
    found = [known.get(name.strip().lower()) for name in text.split(",")] if text else []
    if None in found:
        raise UsageError(f"Invalid types list '{text}'. Valid types are: {', '.join(CONSUMER_TYPES)}")
    return [type_ for type_ in found if type_ is not None]
