"""Lag out of what ``__consumer_offsets`` still holds: at a moment, or over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.lag.cluster_rows import CommitHistory, Wanted, answers
from kafkapy.lag.commits import Evidence
from kafkapy.lag.lag_events import LagEvent, Span
from kafkapy.lag.lag_history import Known, all_events, lag_points, open_questions
from kafkapy.lag.lag_point import LagPoint, Moment
from kafkapy.lag.log_answers import Tell
from kafkapy.lag.members import member_counts
from kafkapy.lag.timeline import WINDOW, timelines


class LagHistory(NamedTuple):
    """What was found, and how far back each group is known; ``events`` only where a span was asked for."""

    points: list[LagPoint]
    events: list[LagEvent]
    evidence: dict[str, Evidence]


class Asked(NamedTuple):
    """At which moments, by how many commits, and of which time to tell events; ``now`` is where logs end."""

    moments: Sequence[Moment]
    now: int
    window: int = WINDOW
    span: Span | None = None


def lag_history(cluster: Cluster, wanted: Wanted, asked: Asked, tell: Tell) -> LagHistory:
    """Read, ask the logs, compute."""
    history = CommitHistory(cluster, wanted, tell)
    first, last = asked.moments[0], asked.moments[-1]
    exact_from = first.timestamp if first.since is None else first.since
    found = timelines(history.commits(), last.timestamp, exact_from, asked.window)
    evidence = {group: history.evidence(group) for group in sorted({group for group, _ in found})}
    known = Known(found, member_counts(history.members), evidence)
    logs = answers(cluster, open_questions(found, asked.moments, asked.span), asked.now, tell)
    events = [] if asked.span is None else all_events(known, logs, asked.span)
    return LagHistory(list(lag_points(known, logs, asked.moments)), events, evidence)
