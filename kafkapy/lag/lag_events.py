"""What happened to a group's offsets: when, and how far.

    rewind  a commit before the one in force
    reset   a commit that moved the offset while the group was known to have no members, forward or back: no consumer
            does that, a tool did
    delete  what was committed was taken back, by a tool or because it expired
    stall   a window of commits of the same offset while something was left to read, and how long that went on
    stop    no commit for longer than the window before took, while something was left to read

Stalls and stops follow the rules of ``verdict``, but are told from commit to commit and not at chosen moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby, pairwise
from typing import NamedTuple

from kafkapy.lag.log_answers import LogAnswers, Questions
from kafkapy.lag.timeline import Change, Commit, Timeline
from kafkapy.log.topic_partition import TopicPartition


class EventKind(StrEnum):
    """What happened."""

    REWIND = "rewind"
    RESET = "reset"
    DELETE = "delete"
    STALL = "stall"
    STOP = "stop"


class LagEvent(NamedTuple):
    """``until`` is when a stall or stop ended, None where it had not. ``moved`` is how many records the offset went
    forward, or back."""

    group: str
    topic: str
    partition: int
    timestamp: int
    kind: EventKind
    from_offset: int
    to_offset: int | None
    until: int | None = None

    @property
    def moved(self) -> int | None:
        """How far."""
        return None if self.to_offset is None else self.to_offset - self.from_offset


class Span(NamedTuple):
    """The time of which events are told; a timeline ends with it."""

    start: int
    end: int


def event_questions(timeline: Timeline, span: Span) -> Questions:
    """What must be known of the log to tell the events."""
    moments: set[int] = {span.end}
    offsets: set[int] = set()
    for _, last in _runs(timeline):
        moments.update(commit.timestamp for commit in timeline.window_at(last.timestamp))
    for last, silent_until in _silences(timeline, span):
        moments.add(silent_until)
        offsets.add(last.offset)
    return Questions(frozenset(moments), frozenset(offsets))


def lag_events(
    group: str, partition: TopicPartition, timeline: Timeline, log: LogAnswers, span: Span
) -> Iterator[LagEvent]:
    """The events of a partition in the order of their times."""
    found = [*_moves(timeline.changes()), *_stalls(timeline, log), *_stops(timeline, log, span)]
    for timestamp, kind, before, after, until in sorted(found, key=lambda each: each[0]):
        last = timestamp if kind not in (EventKind.STALL, EventKind.STOP) else until
        if timestamp <= span.end and (last is None or last >= span.start):
            yield LagEvent(group, *partition, timestamp, kind, before, after, until)


_Found = tuple[int, EventKind, int, int | None, int | None]


def _moves(changes: Sequence[Change]) -> Iterator[_Found]:
    for (_, before, _), (timestamp, after, by_tool) in pairwise(changes):
        if before is None or before == after:
            continue
        if after is None:
            yield timestamp, EventKind.DELETE, before, None, None
        elif by_tool:
            yield timestamp, EventKind.RESET, before, after, None
        elif after < before:
            yield timestamp, EventKind.REWIND, before, after, None


def _stalls(timeline: Timeline, log: LogAnswers) -> Iterator[_Found]:
    """A run whose last window is all of one offset: if one before it was, so is the last, and it is as far behind."""
    for start, last in _runs(timeline):
        window = timeline.window_at(last.timestamp)
        if len(window) > 1 and all(each.offset == last.offset and _is_behind(log, each) for each in window):
            until = timeline.next_after(last.timestamp)
            yield start.timestamp, EventKind.STALL, last.offset, last.offset, until


def _stops(timeline: Timeline, log: LogAnswers, span: Span) -> Iterator[_Found]:
    """A silence that outlasts its window, counted from when there was something to read."""
    for last, silent_until in _silences(timeline, span):
        end, written = log.end_at(silent_until, last.offset), log.times.get(last.offset, last.timestamp)
        if end is None or end <= last.offset or written is None:
            continue
        window = timeline.window_at(last.timestamp)
        if silent_until - max(written, last.timestamp) > last.timestamp - window[0].timestamp:
            until = timeline.next_after(last.timestamp)
            yield last.timestamp, EventKind.STOP, last.offset, last.offset, until


def _silences(timeline: Timeline, span: Span) -> Iterator[tuple[Commit, int]]:
    """Commits after which none came for longer than their window took, and the last moment of the silence."""
    changes = [*timeline.changes(), Change(span.end + 1, None)]
    for (timestamp, offset, _), (following, _, _) in pairwise(changes):
        window = timeline.window_at(timestamp)
        if offset is None or len(window) < 2:
            continue
        if following - 1 - timestamp > timestamp - window[0].timestamp:
            yield Commit(timestamp, offset), following - 1


def _runs(timeline: Timeline) -> Iterator[tuple[Commit, Commit]]:
    """The first and the last of several commits one after the other that are of the same offset."""
    for offset, run in groupby(timeline.changes(), key=lambda change: change.offset):
        timestamps = [change.timestamp for change in run]
        if offset is not None and len(timestamps) > 1:
            yield Commit(timestamps[0], offset), Commit(timestamps[-1], offset)


def _is_behind(log: LogAnswers, commit: Commit) -> bool:
    end = log.end_at(commit.timestamp, commit.offset)
    return end is not None and end > commit.offset
