"""Lag, what happened to offsets, and how far back that is known, as rows with typed fields; null is what is not known.

A row of a topic has no partition, one of a whole group no topic either. Rates are records a second. From
``commits_since_timestamp`` on every commit of the group is known; ``commits_whole`` where none was ever erased. Two
looks at a cluster know of neither. ``last_commit_timestamp`` is null where nobody tells when a commit was made, and no
look saw the offset change.
"""

from __future__ import annotations

from typing import Any

from kafkapy.lag.commits import Evidence
from kafkapy.lag.lag_events import LagEvent
from kafkapy.lag.lag_point import LagPoint
from kafkapy.lag.verdict import Verdict

Row = dict[str, Any]


def lag_row(point: LagPoint, evidence: Evidence | None = None) -> Row:
    """A moment of a partition, topic or group."""
    return {
        "type": "lag",
        "timestamp": point.timestamp,
        "group": point.group,
        "topic": point.topic,
        "partition": point.partition,
        "committed_offset": point.committed,
        "log_end_offset": point.log_end,
        "lag": point.lag,
        "time_lag_ms": point.time_lag_ms,
        "produce_rate": _rounded(point.produce_rate),
        "consume_rate": _rounded(point.consume_rate),
        "rates_since_timestamp": point.rates_since,
        "catch_up_ms": point.catch_up_ms,
        "verdict": str(point.verdict),
        "last_commit_timestamp": point.last_commit,
        "partitions": point.partitions,
        "partitions_with_unknown_lag": point.unknown,
        "commits_since_timestamp": None if evidence is None else evidence.since,
        "commits_whole": None if evidence is None else evidence.is_whole,
    }


def event_row(event: LagEvent) -> Row:
    """Something that happened to a committed offset."""
    return {
        "type": "lag_event",
        "timestamp": event.timestamp,
        "until_timestamp": event.until,
        "group": event.group,
        "topic": event.topic,
        "partition": event.partition,
        "event": str(event.kind),
        "from_offset": event.from_offset,
        "to_offset": event.to_offset,
        "moved": event.moved,
    }


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 3)


_NOTHING = LagPoint("", None, None, 0, None, None, None, None, None, None, None, None, Verdict.OK, None)
LAG_COLUMNS = tuple(lag_row(_NOTHING))
