"""Lag over time: rows of commits and answers of logs in, rows of lag and events out.

Whoever has the rows of commits asks ``open_questions`` what must be known of which log, has that answered, and calls
``lag_points`` and ``all_events``. Nothing here reads a file or a clock, so one process and a cluster of them that have
the same rows tell the same.

A partition has a row from its first commit on, until the commit is taken back. Before the first one that is left it has
a row without a lag, if something of the log is gone: nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kafkapy.errors import UsageError
from kafkapy.lag.commits import Evidence
from kafkapy.lag.lag_events import LagEvent, Span, event_questions, lag_events
from kafkapy.lag.lag_point import LagPoint, Moment, lag_point, lag_questions
from kafkapy.lag.log_answers import NO_LOG, LogAnswers, Questions, merged
from kafkapy.lag.members import MemberCounts
from kafkapy.lag.timeline import Key, Timeline
from kafkapy.log.topic_partition import TopicPartition

MOST_STEPS = 100_000

Answers = Mapping[TopicPartition, LogAnswers]


class Known(NamedTuple):
    """What is known of groups: their commits, members and how far back that goes. ``earliest`` is when the first
    commit was made that is known of a group, also of one that had none at the moments that were asked for."""

    timelines: Mapping[Key, Timeline]
    members: Mapping[str, MemberCounts]
    evidence: Mapping[str, Evidence]
    earliest: Mapping[str, int] = {}

    def members_at(self, group: str, moment: int) -> int | None:
        """How many a group had; None where that is not known."""
        return self.members[group].at(moment) if group in self.members else None

    def has_row(self, key: Key, moment: int) -> bool:
        """Whether something was committed then, or may have been."""
        timeline = self.timelines[key]
        if timeline.committed_at(moment) is not None:
            return True
        is_before = timeline.first_timestamp is not None and moment < timeline.first_timestamp
        return is_before and not self.evidence[key[0]].is_whole


def steps(start: int, end: int, step_ms: int, now: int) -> list[Moment]:
    """The moments from ``start`` to ``end``, each with the rates since the one before."""
    if end < start:
        raise UsageError("--from is after --to")
    if (end - start) // step_ms >= MOST_STEPS:
        raise UsageError(f"--history: more than {MOST_STEPS} steps; give a longer --step or a shorter time")
    times = range(start - step_ms, end + 1, step_ms)
    return [Moment(at, before, at >= now) for before, at in pairwise(times)]


def open_questions(
    timelines: Mapping[Key, Timeline], moments: Sequence[Moment], span: Span | None = None
) -> dict[TopicPartition, Questions]:
    """What must be known of each log; with ``span`` also for events."""
    asked: dict[TopicPartition, list[Questions]] = {}
    for (_, partition), timeline in timelines.items():
        wanted = asked.setdefault(partition, [])
        wanted.append(lag_questions(timeline, moments))
        if span is not None:
            wanted.append(event_questions(timeline, span))
    return {partition: merged(each) for partition, each in asked.items()}


def lag_points(known: Known, answers: Answers, moments: Iterable[Moment]) -> Iterator[LagPoint]:
    """A row for each moment and partition, moment by moment."""
    for moment in moments:
        for key, timeline in known.timelines.items():
            if known.has_row(key, moment.timestamp):
                group, partition = key
                members = known.members_at(group, moment.timestamp)
                yield lag_point(group, partition, timeline, answers.get(partition, NO_LOG), moment, members)


def all_events(known: Known, answers: Answers, span: Span) -> list[LagEvent]:
    """What happened to whom, in the order of time."""
    events = [
        event
        for (group, partition), timeline in known.timelines.items()
        for event in lag_events(group, partition, timeline, answers.get(partition, NO_LOG), span)
    ]
    return sorted(events, key=lambda event: (event.timestamp, event.group, event.topic, event.partition))
