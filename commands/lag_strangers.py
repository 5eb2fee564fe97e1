"""The groups and topics that a command line of ``lag`` names and the cluster does not have."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.near_misses import missing

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection


class Strangers(NamedTuple):
    """What to say of each name that is not there, with what was probably meant."""

    groups: dict[str, str]
    topics: dict[str, str]

    @property
    def told(self) -> list[str]:
        return [*self.groups.values(), *self.topics.values()]

    def without(self, groups: Collection[str], topics: Collection[str | None]) -> Strangers:
        """Those that are not among these, which have come."""
        return Strangers(
            {name: text for name, text in self.groups.items() if name not in groups},
            {name: text for name, text in self.topics.items() if name not in topics},
        )

    def leave_nothing_of(self, groups: Collection[str], topics: Collection[str]) -> bool:
        """Whether nothing can come of what was asked for: of one kind, all that was named is not there."""
        asked = ((groups, self.groups), (topics, self.topics))
        return any(names and strange.keys() >= set(names) for names, strange in asked)


def strangers(chosen: Selection, groups: Collection[str], topics: Collection[str]) -> Strangers:
    """Those among the names; none where the cluster's own cannot be told."""
    from kafkapy.backends.selection import open_cluster

    if groups or topics:
        with suppress(KafkapyError), closing(open_cluster(chosen)) as opened:
            known = [listing.group_id for listing in opened.groups().list()]
            held = list(opened.image().topics)
            return Strangers(
                {name: missing("group", name, known) for name in groups if name not in known},
                {name: missing("topic", name, held) for name in topics if name not in held},
            )
    return Strangers({}, {})
