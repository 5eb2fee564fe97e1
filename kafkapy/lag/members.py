"""How many members a group had over time, as the records of ``__consumer_offsets`` tell it.

Nothing is known before the first record, and of a group that only ever commits there is none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable

from kafkapy.lag.commits import Members


class MemberCounts:
    """Of one group."""

    def __init__(self) -> None:
        self._timestamps: list[int] = []
        self._counts: list[int] = []

    def add(self, timestamp: int, count: int) -> None:
        """The next change."""
        self._timestamps.append(max(timestamp, self._timestamps[-1]) if self._timestamps else timestamp)
        self._counts.append(count)

    def at(self, moment: int) -> int | None:
        """How many there were then; None where that is not known."""
        number = bisect_right(self._timestamps, moment) - 1
        return self._counts[number] if number >= 0 else None


def member_counts(rows: Iterable[Members]) -> dict[str, MemberCounts]:
    """Of all groups."""
    found: defaultdict[str, MemberCounts] = defaultdict(MemberCounts)
    for timestamp, group, count in rows:
        found[group].add(timestamp, count)
    return dict(found)
