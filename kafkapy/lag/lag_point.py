"""How far a group was behind at a moment: the row of ``kafkapy lag``, of a partition or summed up.

    lag             records between what was committed and the log's end
    time lag        the age, at that moment, of the oldest record that was not consumed
    rates           records a second, produced and consumed, since a time before the moment
    catch-up time   the lag over what more is consumed than produced; never where that is nothing, nor where the group
                    has stopped or stalled: its rates are of the time before

Of a moment in the past nobody knows where the log began then, so the lag counts from the commit; now, it counts from
the log's start where the commit is before it, because there is nothing else to read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

from kafkapy.lag.log_answers import LogAnswers, Questions
from kafkapy.lag.timeline import Timeline
from kafkapy.lag.verdict import Trend, Verdict, verdict, worst
from kafkapy.log.topic_partition import TopicPartition

_MISSING = -1


class Moment(NamedTuple):
    """A time to look at. Rates are since the moment before; None means since the first commit of the window."""

    timestamp: int
    since: int | None = None
    is_now: bool = False


class LagPoint(NamedTuple):
    """A partition of a group, or with None a sum; None is also what is not known. ``partitions`` are those summed up,
    ``unknown`` those of them whose lag is not known."""

    group: str
    topic: str | None
    partition: int | None
    timestamp: int
    committed: int | None
    log_end: int | None
    lag: int | None
    time_lag_ms: int | None
    produce_rate: float | None
    consume_rate: float | None
    rates_since: int | None
    catch_up_ms: int | None
    verdict: Verdict
    last_commit: int | None
    partitions: int = 1
    unknown: int = 0

    @property
    def never_catches_up(self) -> bool:
        """Whether the rates are known, and do not lead to the end."""
        return self.catch_up_ms is None and self.produce_rate is not None and self.consume_rate is not None


def lag_questions(timeline: Timeline, moments: Iterable[Moment]) -> Questions:
    """What must be known of the log to tell the lag at these moments."""
    times: set[int] = set()
    offsets: set[int] = set()
    for moment in moments:
        window = timeline.window_at(moment.timestamp)
        times.add(moment.timestamp)
        times.update(commit.timestamp for commit in window)
        if moment.since is not None:
            times.add(moment.since)
        committed = timeline.committed_at(moment.timestamp)
        if committed is not None:
            offsets.add(committed)
    return Questions(frozenset(times), frozenset(offsets))


def lag_point(
    group: str, partition: TopicPartition, timeline: Timeline, log: LogAnswers, moment: Moment, members: int | None
) -> LagPoint:
    """The row of a moment. ``members`` is how many the group had then, None where that is not known."""
    at = moment.timestamp
    committed, position = timeline.committed_at(at), _position(timeline, moment, log.start)
    end = log.end if moment.is_now else log.end_at(at, committed)
    lag = None if position is None or end is None else end - position
    time_lag = _time_lag(log, position, lag, at)
    since, produced, consumed = _rates(timeline, log, moment, end)
    window = timeline.window_at(at)
    is_read = position is not None and log.times.get(position, _MISSING) is None
    trend = Trend(
        window,
        [_lag_at(log, commit.timestamp, commit.offset) for commit in window],
        at,
        0 if is_read and lag is not None else lag,
        time_lag,
        members,
        committed is not None and position is not None and committed < position,
    )
    found = verdict(trend)
    catch_up = None if found in (Verdict.STALLED, Verdict.STOPPED) else _catch_up(lag, produced, consumed)
    return LagPoint(
        group, *partition, at, committed, end, lag, time_lag, produced, consumed, since,
        catch_up, found, window[-1].timestamp if window else None,
        unknown=int(lag is None),
    )  # fmt: skip


def _position(timeline: Timeline, moment: Moment, log_start: int | None) -> int | None:
    """Where the group goes on reading."""
    committed = timeline.committed_at(moment.timestamp)
    if committed is None or committed < 0:
        return None
    return max(committed, log_start or 0) if moment.is_now else committed


def _lag_at(log: LogAnswers, moment: int, committed: int) -> int | None:
    end = log.end_at(moment, committed)
    return None if end is None else end - committed


def _time_lag(log: LogAnswers, position: int | None, lag: int | None, at: int) -> int | None:
    if position is None or lag is None:
        return None
    if lag <= 0:
        return 0
    written = log.times.get(position, _MISSING)
    if written is None:
        return 0  # nothing but markers
    return None if written == _MISSING else max(0, at - written)


def _rates(
    timeline: Timeline, log: LogAnswers, moment: Moment, end: int | None
) -> tuple[int | None, float | None, float | None]:
    since = moment.since
    if since is None:
        window = timeline.window_at(moment.timestamp)
        since = window[0].timestamp if window else None
    if since is None or since >= moment.timestamp:
        return None, None, None
    seconds = (moment.timestamp - since) / 1000
    before, consumed = log.end_at(since, timeline.committed_at(since)), timeline.consumed(since, moment.timestamp)
    produced = None if before is None or end is None else max(0, end - before) / seconds
    return since, produced, None if consumed is None else consumed / seconds


def _catch_up(lag: int | None, produced: float | None, consumed: float | None) -> int | None:
    if lag is None or lag <= 0:
        return None if lag is None else 0
    if produced is None or consumed is None or consumed <= produced:
        return None
    return round(lag / (consumed - produced) * 1000)


ValueT = TypeVar("ValueT")


def by_group(point: LagPoint) -> LagPoint:
    """A partition's point as part of its group's."""
    return point._replace(topic=None, partition=None)


def by_topic(point: LagPoint) -> LagPoint:
    """A partition's point as part of its topic's."""
    return point._replace(partition=None)


def summed(points: Iterable[LagPoint], part_of: Callable[[LagPoint], LagPoint]) -> list[LagPoint]:
    """Points of the same group, topic and time as one each, in their order: lags and rates added up, the longest time
    lag and catch-up time, and the worst verdict."""
    parts: dict[Hashable, list[LagPoint]] = {}
    for point in points:
        named = part_of(point)
        parts.setdefault((named.timestamp, named.group, named.topic, named.partition), []).append(named)
    return [each[0] if each[0].partition is not None else _sum(each) for each in parts.values()]


def _sum(points: list[LagPoint]) -> LagPoint:
    is_stuck = any(point.catch_up_ms is None for point in points)
    return points[0]._replace(
        committed=None,
        log_end=None,
        lag=_known(sum, (None if point.lag is None else max(0, point.lag) for point in points)),
        time_lag_ms=_known(max, (point.time_lag_ms for point in points)),
        produce_rate=_known(sum, (point.produce_rate for point in points)),
        consume_rate=_known(sum, (point.consume_rate for point in points)),
        rates_since=_known(min, (point.rates_since for point in points)),
        catch_up_ms=None if is_stuck else _known(max, (point.catch_up_ms for point in points)),
        verdict=worst(point.verdict for point in points),
        last_commit=_known(max, (point.last_commit for point in points)),
        partitions=len(points),
        unknown=sum(point.unknown for point in points),
    )


def _known(combine: Callable[[list[ValueT]], ValueT], values: Iterable[ValueT | None]) -> ValueT | None:
    found = [value for value in values if value is not None]
    return combine(found) if found else None
