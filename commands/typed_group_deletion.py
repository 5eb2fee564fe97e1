"""Which groups ``share-groups`` and ``streams-groups`` refuse to delete before a coordinator is asked."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkapy.errors import KafkaError

if TYPE_CHECKING:
    from kafkapy.coordinator.group_description import GroupListing


def refusals(
    listings: Iterable["GroupListing"], group_ids: Iterable[str], kind: str, unknown: str
) -> dict[str, KafkaError | None]:
    """Why groups cannot be deleted. ``listings`` are all groups of the kind; ``unknown`` is told of any other."""
    states = {listing.group_id: listing.state for listing in listings}
    found: dict[str, KafkaError | None] = {}
    for group_id in group_ids:
        state = states.get(group_id)
        if state is None:
            found[group_id] = KafkaError("IllegalArgumentException", unknown.format(group_id))
        elif state == "Dead":
            found[group_id] = KafkaError("IllegalStateException", f"{kind} group '{group_id}' group state is DEAD.")
        elif state != "Empty":
            found[group_id] = KafkaError("GroupNotEmptyException", f"{kind} group '{group_id}' is not EMPTY.")
    return found
