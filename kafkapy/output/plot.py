"""A series over time as a picture of block characters, which any terminal and any text file can hold.

    1500 ┤      ▂▅█
     750 ┤   ▃▆████▇▄
       0 ┤▁▄█████████▆▂
         └─────────────
          09:00    10:00

A column is a stretch of the time; it is as high as the largest value in it, to an eighth of a character. A stretch of
which nothing is known is left empty, one of zeros has its lowest eighth where others have none, so that the two differ.
Few values have several columns each, and small ones a line for each whole number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

BLOCKS = " ▁▂▃▄▅▆▇█"
EIGHTHS = 8


def plot(values: Sequence[float | None], width: int, height: int = 8) -> list[str]:
    """The picture with its axis, at most ``width`` wide."""
    top, height = _top(values), _height(values, height)
    labels = [_number(top * level / height) if top else "" for level in range(height, 0, -1)]
    margin = max(map(len, [*labels, "0"]))
    columns = resampled(values, max(1, width - margin - 2))
    lines = [f"{label:>{margin}} ┤{_row(columns, top, height, height - 1 - at)}" for at, label in enumerate(labels)]
    return [*(line.rstrip() for line in lines), f"{'0':>{margin}} └{'─' * len(columns)}"]


def plot_margin(values: Sequence[float | None], height: int = 8) -> int:
    """How far to the right the first column is."""
    top, height = _top(values), _height(values, height)
    return max(len(_number(top * level / height)) for level in range(height + 1)) + 2


def _top(values: Sequence[float | None]) -> float:
    return max((value for value in values if value is not None), default=0)


def _height(values: Sequence[float | None], height: int) -> int:
    return max(1, min(height, ceil(_top(values))))


def resampled(values: Sequence[float | None], width: int) -> list[float | None]:
    """At most ``width`` values: the largest of each stretch, or each as often as it fits."""
    if len(values) <= width:
        return [value for value in values for _ in range(width // len(values))]
    found: list[float | None] = []
    for column in range(width):
        stretch = values[column * len(values) // width : (column + 1) * len(values) // width]
        found.append(max((value for value in stretch if value is not None), default=None))
    return found


def _row(columns: Sequence[float | None], top: float, height: int, level: int) -> str:
    return "".join(_block(value, top, height, level) for value in columns)


def _block(value: float | None, top: float, height: int, level: int) -> str:
    """The part of a column that is in a row; ``level`` 0 is the lowest."""
    if value is None:
        return BLOCKS[0]
    eighths = round(value / top * height * EIGHTHS) if top > 0 else 0
    if level == 0:
        eighths = max(eighths, 1)
    return BLOCKS[min(max(eighths - level * EIGHTHS, 0), EIGHTHS)]


def _number(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (size if unit != 'k' else 1e3):.1f}{unit}"
    return f"{value:.0f}"
