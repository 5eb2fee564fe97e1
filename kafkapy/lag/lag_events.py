"""What happened to a group's offsets: when, and how far.

    rewind  a commit before the one in force
    reset   a commit that moved the offset while the group was known to have no members, forward or back: no consumer
            does that, a tool did
    delete  what was committed was taken back, by a tool or because it expired
    stall   a window of commits of the same offset while something was left to read, and how long that went on
    stop    no commit for longer than the window before took, while something was left to read: from when there was

Stalls and stops follow the rules of ``verdict``, but are told from commit to commit and not at chosen moments. What a
tool commits is no sign of the group: a stop goes on behind it, at the offset that it left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby, pairwise
from typing import NamedTuple

from kafkapy.lag.log_answers import LogAnswers, Questions
from kafkapy.lag.timeline import Change, Commit, Timeline
from kafkapy.lag.verdict import own_commits, patience_ms
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
    for run in _runs(timeline):
        moments.update(commit.timestamp for commit in timeline.window_at(run.last))
    for silence in _silences(timeline, span):
        moments.add(silence.end)
        offsets.add(silence.offset)
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
    for run in _runs(timeline):
        window = timeline.window_at(run.last)
        is_one = all(each.offset == run.offset and _is_behind(log, each) for each in window)
        if is_one and len(own_commits(window)) > 1:
            yield run.first, EventKind.STALL, run.offset, run.offset, run.until


def _stops(timeline: Timeline, log: LogAnswers, span: Span) -> Iterator[_Found]:
    """A silence that outlasts its window, counted from when there was something to read."""
    for silence in _silences(timeline, span):
        offset = silence.offset
        end, written = log.end_at(silence.end, offset), log.times.get(offset, silence.since)
        if end is None or end <= offset or written is None:
            continue
        if silence.end - max(written, silence.since) > silence.patience_ms:
            yield max(written, silence.begin), EventKind.STOP, offset, offset, silence.until


class _Silence(NamedTuple):
    """A time in which one offset was in force and the group committed nothing, which it had done ``since`` when; until
    a commit, or None where none came."""

    offset: int
    begin: int
    end: int
    since: int
    patience_ms: int
    until: int | None


def _silences(timeline: Timeline, span: Span) -> Iterator[_Silence]:
    """Those that are longer than the window before took."""
    changes: list[Change] = []
    for change in timeline.changes():
        if not (change.by_tool and changes and changes[-1].offset == change.offset):
            changes.append(change)
    for (timestamp, offset, _), (following, _, _) in pairwise([*changes, Change(span.end + 1, None)]):
        own = own_commits(timeline.window_at(timestamp))
        if offset is None or len(own) < 2:
            continue
        end, since, until = following - 1, own[-1].timestamp, None if following > span.end else following
        if end >= timestamp and end - since > patience_ms(own):
            yield _Silence(offset, timestamp, end, since, patience_ms(own), until)


class _Run(NamedTuple):
    """When the first and the last of several commits of a group were that are of the same offset, one after the other;
    until a commit, or None where none came."""

    offset: int
    first: int
    last: int
    until: int | None


def _runs(timeline: Timeline) -> Iterator[_Run]:
    for offset, each in groupby(timeline.changes(), key=lambda change: change.offset):
        run = list(each)
        own = [change.timestamp for change in run if not change.by_tool]
        if offset is not None and len(own) > 1:
            yield _Run(offset, own[0], own[-1], timeline.next_after(run[-1].timestamp))


def _is_behind(log: LogAnswers, commit: Commit) -> bool:
    end = log.end_at(commit.timestamp, commit.offset)
    return end is not None and end > commit.offset
