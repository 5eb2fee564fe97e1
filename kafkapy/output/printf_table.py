"""Tables as Java's printf makes them, for the tools that print such.

A column is padded to its width; one that ``grows`` is as wide as its widest cell where that is wider. The last column
often has width 0, so nothing follows its cells. Java counts UTF-16 units: a character beyond the first plane takes two
columns. What is missing is ``-``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

MISSING = "-"


class Column(NamedTuple):
    """``width`` is the least where the column grows."""

    title: str
    width: int
    grows: bool = False


def java_length(text: str) -> int:
    """``String.length``: UTF-16 units."""
    return len(text) if text.isascii() else sum(1 + (char > "\uffff") for char in text)


def pad(text: str, width: int) -> str:
    """``%-<width>s``."""
    return text + " " * (width - java_length(text))


def width_of(cells: Iterable[str], least: int) -> int:
    """The width of a column that grows."""
    return max(least, max(map(java_length, cells), default=0))


def printf_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The header and the rows."""
    cells = [[MISSING if cell is None else str(cell) for cell in row] for row in rows]
    widths = [
        width_of((row[number] for row in cells), column.width) if column.grows else column.width
        for number, column in enumerate(columns)
    ]
    for row in ([column.title for column in columns], *cells):
        yield " ".join(map(pad, row, widths))
