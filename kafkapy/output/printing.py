"""Lines or rows to stdout: what a command that is no bulk job prints with.

A command makes pairs of Kafka's line and the row that says the same; ``--output`` decides which of the two is written.
Where there is no row, CSV still has its header, and a table says so (row_writer.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafkapy.output.row_view import shown_columns, shown_view
from kafkapy.output.row_writer import RowWriter, row_writer
from kafkapy.output.sink import Sink

Row = Mapping[str, Any]
KAFKA = "kafka"


def print_lines(lines: Iterable[str], sink: Sink | None = None) -> None:
    """Write lines; those before an error, too."""
    sink = sink or Sink()
    pending: list[bytes] = []
    try:
        for line in lines:
            pending.append(line.encode("utf-8", "surrogateescape") + b"\n")
            if len(pending) >= 1000:
                sink.write(b"".join(pending))
                pending.clear()
    finally:
        sink.write(b"".join(pending))


def print_rows(
    output: str,
    rows: Iterable[tuple[str | None, Row | None]],
    columns: Sequence[str] = (),
    is_only_kind: bool = False,
) -> None:
    """Write the line of each pair, or with any other ``output`` the row; either may be missing. ``columns`` are those
    of a CSV file without rows, by default those of all rows that the command has, and where that ``is_only_kind`` of
    row, of them all. Rows before an error are written, too, and what ends the output."""
    if output == KAFKA:
        print_lines(line for line, _ in rows if line is not None)
        return
    view, sink = shown_view(), Sink()
    if columns and is_only_kind:
        view.check(columns)
    known: dict[str, list[str]] = {}
    writer: RowWriter | None = None
    try:
        for _, row in rows:
            if row is None:
                continue
            known.setdefault(row["type"], list(row))
            writer = writer or row_writer(output, sink, known, view, is_every_kind=False)
            writer.row(dict(row))
    finally:
        if writer is not None:
            writer.finish()
    if writer is None:
        row_writer(output, sink, known, view, is_every_kind=False, if_empty=columns or shown_columns()).finish()
