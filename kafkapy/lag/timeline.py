"""What one group had committed of one partition, over time.

Invariant: times never go back. A broker whose clock did is corrected to the latest time before, because the order of
the log is certain and a clock is not.

The window is what verdicts are made of: the last commits before a moment, of which those of the same second count as
one, the last of them. Without that a group that commits after every record would have a window of milliseconds. What a
tool commits in the second in which the group did does not hide that. A tombstone empties the window.

How much was read is added up with every commit, whether that is kept or not: as far as the offset went forward, but not
where a tool moved it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.lag.commits import OffsetCommit
from kafkapy.log.topic_partition import TopicPartition

WINDOW = 10
"""As many commits as Burrow keeps."""
SLOT_MS = 1000


class Commit(NamedTuple):
    """An offset that was in force from a time on, and whether a tool committed it: that is no sign of the group."""

    timestamp: int
    offset: int
    by_tool: bool = False


class Change(NamedTuple):
    """The same; the offset is None where what was committed was taken back."""

    timestamp: int
    offset: int | None
    by_tool: bool = False


class Timeline:
    """Commits in order. Of those before ``exact_from`` only a window is kept, so that a moment costs little memory."""

    def __init__(self, exact_from: int | None = None, window: int = WINDOW) -> None:
        self._exact_from = exact_from
        self._window = window
        self._timestamps: list[int] = []
        self._offsets: list[int | None] = []
        self._by_tool: list[bool] = []
        self._read: list[int] = []
        self.first_timestamp: int | None = None

    def add(self, timestamp: int, offset: int | None, by_tool: bool = False) -> None:
        """The next commit; None takes what was committed away."""
        read = 0
        if self._timestamps:
            timestamp = max(timestamp, self._timestamps[-1])
            read = self._read[-1] + (0 if by_tool else _forward(self._offsets[-1], offset))
        if self.first_timestamp is None:
            self.first_timestamp = timestamp
        if self._exact_from is not None and timestamp < self._exact_from:
            self._thin(timestamp, by_tool)
        self._timestamps.append(timestamp)
        self._offsets.append(offset)
        self._by_tool.append(by_tool)
        self._read.append(read)

    def _thin(self, timestamp: int, by_tool: bool) -> None:
        """Make room for a commit of which only the window will be asked."""
        slot = timestamp // SLOT_MS, by_tool
        is_same_slot = self._timestamps and (self._timestamps[-1] // SLOT_MS, self._by_tool[-1]) == slot
        if is_same_slot and self._offsets[-1] is not None:
            self._drop(slice(-1, None))
        elif len(self._timestamps) > self._window:
            self._drop(slice(1))

    def _drop(self, which: slice) -> None:
        del self._timestamps[which], self._offsets[which], self._by_tool[which], self._read[which]

    def forget_before(self, moment: int) -> None:
        """Drop what nobody needs who asks of that moment or a later one."""
        window = self.window_at(moment)
        self._drop(slice(bisect_left(self._timestamps, window[0].timestamp if window else moment)))

    @property
    def last(self) -> Commit | None:
        """The newest commit that is in force."""
        offset = self._offsets[-1] if self._offsets else None
        return None if offset is None else Commit(self._timestamps[-1], offset)

    def committed_at(self, moment: int) -> int | None:
        """What was committed then; None where nothing was, or it is not known."""
        number = bisect_right(self._timestamps, moment) - 1
        return self._offsets[number] if number >= 0 else None

    def window_at(self, moment: int) -> list[Commit]:
        """The last commits until then, oldest first."""
        found: list[Commit] = []
        for number in range(bisect_right(self._timestamps, moment) - 1, -1, -1):
            timestamp, offset, by_tool = self._timestamps[number], self._offsets[number], self._by_tool[number]
            if offset is None:
                break
            if found and (found[-1].timestamp // SLOT_MS, found[-1].by_tool) == (timestamp // SLOT_MS, by_tool):
                continue
            if len(found) == self._window:
                break
            found.append(Commit(timestamp, offset, by_tool))
        return found[::-1]

    def consumed(self, after: int, until: int) -> int | None:
        """How far commits of consumers went forward in between; what was read again after a rewind counts again. None
        where nothing was committed, or known, at the beginning."""
        first, last = (bisect_right(self._timestamps, moment) - 1 for moment in (after, until))
        return None if first < 0 or self._offsets[first] is None else self._read[last] - self._read[first]

    def next_after(self, moment: int) -> int | None:
        """When the next commit came."""
        number = bisect_right(self._timestamps, moment)
        return self._timestamps[number] if number < len(self._timestamps) else None

    def changes(self) -> list[Change]:
        """Every commit that is kept."""
        return list(map(Change, self._timestamps, self._offsets, self._by_tool))


def _forward(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else max(0, after - before)


Key = tuple[str, TopicPartition]


def timelines(
    commits: Iterable[OffsetCommit], until: int, exact_from: int | None = None, window: int = WINDOW
) -> dict[Key, Timeline]:
    """The timelines of all groups and partitions up to a time, sorted."""
    found: dict[Key, Timeline] = {}
    for timestamp, group, partition, offset, by_tool in commits:
        if timestamp > until:
            continue
        key = group, partition
        if key not in found:
            found[key] = Timeline(exact_from, window)
        found[key].add(timestamp, offset, by_tool)
    return dict(sorted(found.items()))
