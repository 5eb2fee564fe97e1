"""Lines or rows to stdout: what a command that is no bulk job prints with.

A command makes pairs of Kafka's line and the row that says the same; ``--output`` decides which of the two is written.
Where there is no row, CSV still has its header, and a table says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafkapy.output.row_writer import RowWriter, row_writer
from kafkapy.output.sink import Sink

Row = Mapping[str, Any]
KAFKA = "kafka"
NO_ROWS = "(no rows)"


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


def print_rows(output: str, rows: Iterable[tuple[str | None, Row | None]], columns: Sequence[str] = ()) -> None:
    """Write the line of each pair, or with any other ``output`` the row; either may be missing. ``columns`` are those
    of a CSV file without rows."""
    if output == KAFKA:
        print_lines(line for line, _ in rows if line is not None)
        return
    writer: RowWriter | None = None
    known: dict[str, list[str]] = {}
    sink = Sink()
    for _, row in rows:
        if row is None:
            continue
        known.setdefault(row["type"], list(row))
        writer = writer or row_writer(output, sink, known)
        writer.row(dict(row))
    if writer is not None or output in ("json", "jsonl"):
        (writer or row_writer(output, sink, known)).finish()
    elif output == "table":
        print_lines([NO_ROWS], sink)
    elif columns:
        print_lines([",".join(columns)], sink)
