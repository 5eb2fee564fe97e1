"""What is asked of a partition's log, and its answers, as rows: where it ended at a time, and of when a record is.

The end at a time is the offset of the first record that is later, as Kafka's own lookup by timestamp finds it; a log
whose first record is later and that does not begin at 0 does not tell, since retention took what could. The record at
an offset is the first one from there on that a consumer gets: of what compaction removed the next one, and no marker.

Whoever answers (lookups in the time index of a file, requests to brokers) gives the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kafkapy.backends.group_lag import LogRange
    from kafkapy.log.batch import Batch

Tell = Callable[[str], object]


class Questions(NamedTuple):
    """Times of which the log's end is wanted, and offsets of which the record's time is."""

    moments: frozenset[int] = frozenset()
    offsets: frozenset[int] = frozenset()


class LogAnswers(NamedTuple):
    """What a log told: its ends by time (None: not known), the times of records by offset (None: no record is left to
    read from there on). An offset before the log's start, or not before its end, has none; for the former there is that
    of ``start``."""

    start: int | None
    end: int | None
    ends: Mapping[int, int | None] = {}
    times: Mapping[int, int | None] = {}

    def end_at(self, moment: int, committed: int | None = None) -> int | None:
        """The end at a time. What a group had committed was there: a producer's clock may be ahead of the broker's."""
        found = self.ends.get(moment)
        if found is None or self.end is None or committed is None:
            return found
        return max(found, min(committed, self.end))


NO_LOG = LogAnswers(None, None)


def merged(questions: Iterable[Questions]) -> Questions:
    """All of them, each once."""
    moments: set[int] = set()
    offsets: set[int] = set()
    for each in questions:
        moments |= each.moments
        offsets |= each.offsets
    return Questions(frozenset(moments), frozenset(offsets))


def end_before(later: int | None, log: LogRange) -> int | None:
    """Where a log ended, by the offset of the first record that is later (None: there is none)."""
    if later is None or log.end is None:
        return log.end
    is_taken = log.start is not None and 0 < log.start >= later
    return None if is_taken else min(later, log.end)


def positions(asked: Questions, log: LogRange) -> list[int]:
    """Where to look for the times of records: at what is left of the log, in order."""
    if log.end is None:
        return []
    found = {max(offset, log.start or 0) for offset in asked.offsets}
    return sorted(offset for offset in found if offset < log.end)


def first_time(batches: Iterable[Batch], offset: int) -> int | None:
    """The time of the first record from an offset on that is no marker; None where none comes."""
    for batch in batches:
        for record in () if batch.header.is_control else batch.records():
            if record.offset >= offset:
                return record.timestamp
    return None
