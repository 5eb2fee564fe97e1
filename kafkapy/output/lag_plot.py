"""The lag of groups over time, drawn: a picture for each, below it the verdicts, and when it begins and ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkapy.formats.time_text import utc_text
from kafkapy.lag.lag_point import LagPoint
from kafkapy.lag.verdict import Verdict, worst
from kafkapy.output.plot import plot, plot_margin
from kafkapy.output.terminal_width import wanted_width

WIDTH_IN_A_PIPE = 100
_MARKS = {
    Verdict.OK: "·",
    Verdict.UNKNOWN: " ",
    Verdict.FALLING_BEHIND: "f",
    Verdict.REWOUND: "r",
    Verdict.STALLED: "=",
    Verdict.STOPPED: "x",
    Verdict.MISSED: "!",
}
LEGEND = "· ok   f falling behind   r rewound   = stalled   x stopped"
MISSED = "   ! missed"


def plot_lines(points: Iterable[LagPoint], moments: Sequence[int], width: int | None = None) -> Iterator[str]:
    """A picture of each group, topic or partition that the points are of."""
    series: dict[tuple[str, str | None, int | None], dict[int, LagPoint]] = {}
    for point in points:
        series.setdefault((point.group, point.topic, point.partition), {})[point.timestamp] = point
    for key, found in series.items():
        yield from _picture(
            _name(*key), [found.get(moment) for moment in moments], moments, width or wanted_width() or WIDTH_IN_A_PIPE
        )
        yield ""
    if series:
        has_missed = any(point.verdict is Verdict.MISSED for found in series.values() for point in found.values())
        yield LEGEND + MISSED * has_missed


def _picture(name: str, points: list[LagPoint | None], moments: Sequence[int], width: int) -> Iterator[str]:
    lags: list[float | None] = [None if point is None or point.lag is None else max(0, point.lag) for point in points]
    last = next((point for point in reversed(points) if point is not None), None)
    yield f"{name}: lag {'-' if last is None or last.lag is None else last.lag}, {last.verdict if last else '-'}"
    lines = plot(lags, width)
    yield from lines
    margin = plot_margin(lags)
    columns = len(lines[-1]) - margin
    yield (" " * margin + "".join(_marks(points, columns))).rstrip()
    first, end = utc_text(moments[0]), utc_text(moments[-1])
    yield f"{' ' * margin}{first}{end:>{max(columns - len(first), len(end) + 2)}}"


def _marks(points: Sequence[LagPoint | None], columns: int) -> Iterator[str]:
    """The worst verdict of each stretch."""
    for column in range(columns):
        first = column * len(points) // columns
        stretch = points[first : max(first + 1, (column + 1) * len(points) // columns)]
        found = [point.verdict for point in stretch if point is not None]
        yield _MARKS[worst(found)] if found else " "


def _name(group: str, topic: str | None, partition: int | None) -> str:
    where = "" if topic is None else f" {topic}" if partition is None else f" {topic}-{partition}"
    return f"{group}{where}"
