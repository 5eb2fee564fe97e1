"""Lag as lines for people: a block for each group, as Kafka's tool describes one, and what happened to it below.

``-`` is what is not known; ``never`` stands where a group does not read faster than is written. The last line of a
block that has more than one adds them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkapy.formats.time_text import duration_text, utc_text
from kafkapy.lag.commits import Evidence
from kafkapy.lag.lag_events import EventKind, LagEvent
from kafkapy.lag.lag_point import LagPoint, by_group, summed
from kafkapy.output.fitted import fitted

ALL = "(all)"
_TITLES = ("LAG", "TIME-LAG", "IN/S", "OUT/S", "CAUGHT-UP-IN", "VERDICT")
_SPARE = ("COMMITTED", "LOG-END", "IN/S", "OUT/S", "CAUGHT-UP-IN", "TIME-LAG")


def lag_lines(points: Iterable[LagPoint]) -> Iterator[str]:
    """The points of one moment: a block for each group, or one for all where they are groups."""
    blocks: dict[str | None, list[LagPoint]] = {}
    for point in points:
        blocks.setdefault(None if point.topic is None else point.group, []).append(point)
    yield from fitted([_rows(block) for block in blocks.values()], _SPARE)


def _rows(block: list[LagPoint]) -> list[tuple[str, ...]]:
    total = summed(block, by_group) if len(block) > 1 and block[0].topic is not None else []
    return [_titles(block[0]), *map(_cells, block), *(_total_cells(point, block[0]) for point in total)]


def worst_lines(points: Sequence[LagPoint], height: int) -> Iterator[str]:
    """The points of one moment in so many lines: as many as have room, the worst first and whosever they are, and how
    many are left out."""
    ordered = sorted(points, key=lambda point: (-point.verdict.severity, -(point.lag or 0)))
    for count in range(min(len(ordered), height - 1), 0, -1):
        lines = [*fitted([[_titles(ordered[0]), *map(_cells, ordered[:count])]], _SPARE)]
        lines += _left_out(len(ordered) - count, len(ordered))
        if len(lines) <= height:
            yield from lines
            return
    yield from _left_out(len(ordered), len(ordered))


def _left_out(count: int, total: int) -> list[str]:
    return [f"... {count} of {total} rows not shown (worst first): give --group, --topic or --by group"] * bool(count)


def history_lines(points: Iterable[LagPoint]) -> Iterator[str]:
    """The points of many moments: a block for each group, topic or partition, in the order of time."""
    blocks: dict[tuple[str, str | None, int | None], list[LagPoint]] = {}
    for point in points:
        blocks.setdefault((point.group, point.topic, point.partition), []).append(point)
    ordered = [block for _, block in sorted(blocks.items(), key=lambda each: str(each[0]))]
    yield from fitted([_rows_over_time(block) for block in ordered], _SPARE)


def _rows_over_time(block: list[LagPoint]) -> list[tuple[str, ...]]:
    return [("TIME", *_titles(block[0])), *((_time_text(point.timestamp), *_cells(point)) for point in block)]


def _time_text(timestamp: int) -> str:
    """To the second, or to the millisecond where it is not a whole one."""
    text = utc_text(timestamp)
    return text if timestamp % 1000 == 0 else text.replace("Z", f".{timestamp % 1000:03d}Z")


def _titles(point: LagPoint) -> tuple[str, ...]:
    if point.topic is None:
        return "GROUP", *_TITLES
    return ("GROUP", "TOPIC", *(("PARTITION", "COMMITTED", "LOG-END") if point.partition is not None else ()), *_TITLES)


def _cells(point: LagPoint) -> tuple[str, ...]:
    names = [point.group]
    if point.topic is not None:
        names.append(point.topic)
    if point.partition is not None:
        names += [str(point.partition), _number(point.committed), _number(point.log_end)]
    return *names, *_measures(point)


def _total_cells(point: LagPoint, like: LagPoint) -> tuple[str, ...]:
    """A sum in the columns of what it adds up."""
    return point.group, ALL, *(("-", "-", "-") if like.partition is not None else ()), *_measures(point)


def _measures(point: LagPoint) -> tuple[str, ...]:
    return (
        _number(point.lag),
        _duration(point.time_lag_ms),
        rate_text(point.produce_rate),
        rate_text(point.consume_rate),
        _catch_up(point),
        str(point.verdict),
    )


def _catch_up(point: LagPoint) -> str:
    if point.catch_up_ms is None:
        return "never" if point.never_catches_up else "-"
    return _duration(point.catch_up_ms)


def _duration(milliseconds: int | None) -> str:
    if not milliseconds:
        return "-" if milliseconds is None else "0 s"
    return duration_text(milliseconds)


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def rate_text(rate: float | None) -> str:
    """Something a second, with a digit behind the point where that matters."""
    if rate is None:
        return "-"
    if 0 < rate < 0.05:
        return "<0.1"
    return f"{rate:.1f}" if rate < 100 else f"{rate:.0f}"


def event_line(event: LagEvent) -> str:
    """What happened, in words."""
    where = f"{utc_text(event.timestamp)}  {event.group}  {event.topic}-{event.partition}"
    return f"{where}: {_happened(event)}"


def _happened(event: LagEvent) -> str:
    if event.kind is EventKind.DELETE:
        return f"offset {event.from_offset} was deleted or expired"
    if event.kind in (EventKind.STALL, EventKind.STOP):
        what = "stalled" if event.kind is EventKind.STALL else "stopped"
        how = "it went on committing" if event.kind is EventKind.STALL else "nothing was committed"
        if event.until is None:
            return f"{what} at offset {event.from_offset}, and has not gone on ({how})"
        return f"{what} at offset {event.from_offset} for {duration_text(event.until - event.timestamp)} ({how})"
    moved = event.moved or 0
    by = "by a tool, " if event.kind is EventKind.RESET else ""
    direction = "forward" if moved > 0 else "back"
    return f"{event.kind} from offset {event.from_offset} to {event.to_offset} ({by}{abs(moved)} records {direction})"


def nothing_line(group: str | None, where: str, first: int | None = None, end: int = 0, is_whole: bool = True) -> str:
    """Why a group, or with None any, has no row up to ``end``: ``first`` is when its first commit that is known was
    made, and ``is_whole`` where there was none before it."""
    whose = "" if group is None else f" of group {group}"
    if first is None:
        return (
            f"{'no group has committed anything' if group is None else f'group {group} has committed nothing'}{where}"
        )
    if first <= end:
        return f"all commits{whose}{where} had expired or were deleted by {_time_text(end)}"
    if is_whole:
        return f"there was no commit{whose}{where} by {_time_text(end)}: the first is from {_time_text(first)}"
    return f"nothing is known{whose}{where} at {_time_text(end)}: compaction left no commit before {_time_text(first)}"


def gone_line(group: str) -> str:
    """That a group which was there is not any more."""
    return f"group {group} is no longer there: it was deleted, or its offsets expired"


def evidence_line(group: str, evidence: Evidence) -> str:
    """How far back is known what a group committed."""
    if evidence.since is None:
        return f"{group}: the log has no commits"
    since = utc_text(evidence.since)
    if evidence.is_whole:
        return f"{group}: every commit is in the log, which begins at {since}"
    left = "of those before, compaction left the last of each partition"
    return f"{group}: every commit since {since} is in the log; {left}"
