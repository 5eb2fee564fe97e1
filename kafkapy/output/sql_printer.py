"""The rows of a query on stdout: aligned in columns for people, or as JSON, JSON lines, YAML or CSV.

Where a terminal is too narrow, long texts in columns end in an ellipsis, but no number, no time and no text as short as
a time does: where that does not fit, each row is a block of lines, in which everything stands whole.

Rows come as tuples of plain values: texts, numbers, booleans, None, lists and dictionaries. Unlike rows of other
commands they have exactly the columns that were asked for, in that order; where two have one name, JSON calls the
second ``name_2``, as do YAML and the options that name columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from kafkapy.output.cell_width import beginning, to_the_left, to_the_right, width_of
from kafkapy.output.row_blocks import Field, block_lines
from kafkapy.output.row_view import RowView, shown_view
from kafkapy.output.row_writer import csv_cell, row_writer
from kafkapy.output.sink import Sink
from kafkapy.output.viewed_rows import sorted_by

Row = Sequence[Any]

GUTTER = " | "
NARROWEST = len("2026-11-18T21:30:00.000Z")
PAGE_ROWS = 1000
CSV_ROWS = 1000


def print_result(output: str, columns: Sequence[str], rows: Iterable[Row], width: int | None, sink: Sink) -> int:
    """Write all rows, as a table no wider than ``width`` where that can be; how many there were."""
    view = shown_view()
    if view.names:
        columns, rows = _viewed(view, columns, rows)
    if output == "table":
        return _print_table(columns, rows, width, sink, view.has_header)
    if output == "csv":
        return _print_csv(columns, rows, sink, view.has_header)
    writer = row_writer(output, sink, {})
    names = _unique(columns)
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        writer.row(dict(zip(names, row, strict=True)))
    writer.finish()
    return count


def _viewed(view: RowView, columns: Sequence[str], rows: Iterable[Row]) -> tuple[Sequence[str], Iterable[Row]]:
    """The columns and the rows that were asked for; rows that are to be sorted are all held."""
    names = _unique(columns)
    view.check(names)
    if view.sort_by is not None:
        rows = sorted_by(rows, names.index(view.sort_by), view.is_descending)
    places = [names.index(name) for name in view.columns or names]
    return [columns[place] for place in places], ([row[place] for place in places] for row in rows)


def _unique(columns: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in columns:
        number = 1
        while (own := name if number == 1 else f"{name}_{number}") in found:
            number += 1
        found.append(own)
    return found


def _print_csv(columns: Sequence[str], rows: Iterable[Row], sink: Sink, has_header: bool) -> int:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if has_header:
        writer.writerow(columns)
    count = 0
    left = iter(rows)
    while True:
        some = list(islice(left, CSV_ROWS))
        writer.writerows([csv_cell(value) for value in row] for row in some)
        sink.write(text.getvalue().encode("utf-8", "replace"))
        if not some:
            return count
        count += len(some)
        text.seek(0)
        text.truncate()


def _print_table(columns: Sequence[str], rows: Iterable[Row], width: int | None, sink: Sink, has_header: bool) -> int:
    """Pages of rows, so that memory is bounded; each is as wide as its own rows need."""
    left = iter(rows)
    count = 0
    while True:
        some = list(islice(left, PAGE_ROWS))
        if some or not count:
            lines = table_lines(columns, some, width, has_header)
            sink.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        count += len(some)
        if len(some) < PAGE_ROWS:
            if not has_header:
                return count
            sink.write(b"(1 row)\n" if count == 1 else b"(%d rows)\n" % count)
            return count


def table_lines(
    columns: Sequence[str], rows: Sequence[Row], width: int | None = None, has_header: bool = True
) -> list[str]:
    """Lines with a heading, in which numbers stand to the right and texts that do not fit end in an ellipsis; or a
    block of lines for each row. A text of several lines that is all there is stands as it is."""
    text = _only_text(rows)
    if text is not None:
        lines = [_printable(line) for line in text.rstrip("\n").split("\n")]
        return [columns[0], "-" * width_of(columns[0]), *lines] if has_header else lines
    cells = [[_cell(value) for value in row] for row in rows]
    is_number = [bool(rows) and all(_is_number(row[number]) for row in rows) for number in range(len(columns))]
    widths = [max(map(width_of, column)) for column in zip(columns, *cells, strict=True)]
    if width is not None:
        _narrow(widths, [max(width_of(name), NARROWEST) for name in columns], is_number, width)
        if rows and _needed(widths) > width:
            values = zip(*cells, strict=True)
            fields = [Field(name, own, not right) for name, own, right in zip(columns, values, is_number, strict=True)]
            return [*block_lines(fields, width, is_brief=False), ""]
    heading, *lines = [_line(row, widths, is_number) for row in (columns, *cells)]
    return [heading, "-+-".join("-" * size for size in widths), *lines] if has_header else lines


def _only_text(rows: Sequence[Row]) -> str | None:
    """The text that is all there is, if it has several lines, as a plan has or a statement."""
    if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], str) and "\n" in rows[0][0]:
        return rows[0][0]
    return None


def _narrow(widths: list[int], least: Sequence[int], is_number: Sequence[bool], width: int) -> None:
    """Take from the widest texts until all columns fit, or none can give any more."""
    while _needed(widths) > width:
        giving = [n for n, size in enumerate(widths) if not is_number[n] and size > least[n]]
        if not giving:
            return
        widths[max(giving, key=widths.__getitem__)] -= 1


def _needed(widths: Sequence[int]) -> int:
    return sum(widths) + len(GUTTER) * (len(widths) - 1)


def _cut(text: str, width: int) -> str:
    return text if width_of(text) <= width else beginning(text, width - 1) + "…"


def _line(row: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> str:
    places = zip(row, widths, is_number, strict=True)
    return GUTTER.join(
        to_the_right(cell, size) if right else to_the_left(_cut(cell, size), size) for cell, size, right in places
    ).rstrip()


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _printable(str(csv_cell(value)))


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
