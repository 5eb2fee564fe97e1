"""Rows with the chosen columns, sorted, on their way to a writer.

Which columns there are is known from the rows: rows are held until each name that was asked for has been met, and where
that never happens nothing is written but the error. Rows that are sorted are held to the last one; those of one kind
stay together, in the order in which the kinds came. A row that has none of the chosen columns is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkapy.errors import Unsupported
from kafkapy.output.row_view import RowView
from kafkapy.output.row_writer import RowWriter
from kafkapy.output.sink import Buffer

Row = dict[str, Any]


class ViewedRows:
    """A writer before another. Where all the columns that rows may have are ``known``, a wrong name is told at once."""

    def __init__(self, writer: RowWriter, view: RowView, known: Iterable[str] = ()) -> None:
        self._writer = writer
        self._view = view
        self._met = dict.fromkeys(known)
        if self._met:
            view.check(self._met)
        self._missing = set(view.names) - set(self._met)
        self._held: list[Row] = []

    def row(self, row: Row) -> None:
        if self._missing:
            self._met.update(dict.fromkeys(row))
            self._missing.difference_update(row)
        self._held.append(row)
        if not self._missing and self._view.sort_by is None:
            self._release()

    def write_rows(self, data: Buffer) -> None:
        raise Unsupported("writing encoded rows", "--columns and --sort-by", "write rows")

    def finish(self, is_cut_short: bool = False) -> None:
        if self._missing and self._met:
            self._view.check(self._met)
        self._release()
        self._writer.finish(is_cut_short)

    def _release(self) -> None:
        held, self._held = self._held, []
        for row in held if self._view.sort_by is None else self._sorted(held):
            chosen = self._chosen(row)
            if chosen is not None:
                self._writer.row(chosen)

    def _chosen(self, row: Row) -> Row | None:
        if not self._view.columns:
            return row
        if row.keys().isdisjoint(self._view.columns):
            return None
        return {name: row.get(name) for name in self._view.columns}

    def _sorted(self, rows: list[Row]) -> Iterable[Row]:
        kinds: dict[str, list[Row]] = {}
        for row in rows:
            kinds.setdefault(row["type"], []).append(row)
        for of_kind in kinds.values():
            yield from sorted_by(of_kind, self._view.sort_by, self._view.is_descending)


def sorted_by(rows: Iterable[Any], column: Any, is_descending: bool) -> list[Any]:
    """Rows by a column, by its name or its place in them; those without a value come last at any rate."""
    valued: list[tuple[Any, Any]] = []
    others: list[tuple[Any, Any]] = []
    for row in rows:
        value = row.get(column) if isinstance(row, dict) else row[column]
        (others if value is None else valued).append((sort_key(value), row))
    valued.sort(key=lambda pair: pair[0], reverse=is_descending)
    return [row for _, row in (*valued, *others)]


def sort_key(value: Any) -> tuple[int, Any]:
    """Numbers before texts before lists before objects, so that values of any kinds can be compared."""
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, list | tuple):
        return 2, [sort_key(item) for item in value]
    if isinstance(value, dict):
        return 3, [(key, sort_key(item)) for key, item in value.items()]
    return (-1, 0) if value is None else (1, str(value))
