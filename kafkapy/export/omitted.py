"""What dropmalformed left out of an export: a line for each damaged place, a sum for the rows that did not decode.

A part is read by any process, so what it left out comes back with its files, and no more of it than is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.output.counted import counted

SHOWN = 20
"""How many places are told one by one."""


class _Rows(NamedTuple):
    number: int
    first: str


class Omitted:
    """What one part, or all, left out."""

    def __init__(self) -> None:
        self._places: list[str] = []
        self._place_count = 0
        self._rows: dict[tuple[str, str], _Rows] = {}

    def place(self, line: str) -> None:
        """Damage, by what is told of it."""
        self._add_places([line], 1)

    def rows(self, of: str, why: str, number: int, first: str) -> None:
        """Rows of a partition with the same thing wrong with them, and what it was with the first."""
        known = self._rows.get((of, why), _Rows(0, first))
        self._rows[of, why] = known._replace(number=known.number + number)

    def add(self, other: Omitted) -> None:
        """What a later part left out."""
        self._add_places(other._places, other._place_count)
        for (of, why), rows in other._rows.items():
            self.rows(of, why, *rows)

    def lines(self) -> Iterator[str]:
        """What is told of it all."""
        yield from self._places
        if self._place_count > len(self._places):
            yield f"and {counted(self._place_count - len(self._places), 'more damaged place')} like these"
        for (of, why), rows in self._rows.items():
            yield f"{of}: left out {counted(rows.number, 'row')} of which {why}; the first is {rows.first}"

    def _add_places(self, lines: list[str], count: int) -> None:
        self._places += lines[: SHOWN - len(self._places)]
        self._place_count += count
