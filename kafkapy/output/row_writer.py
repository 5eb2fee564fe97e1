"""Rows as JSON lines, a JSON document, CSV or tables.

A row is a dictionary whose first field, ``type``, names its kind. JSON lines and the JSON document hold rows of any
kinds together; CSV writes a header line at the first row and again where the kind changes; a table is a page of rows
of one kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kafkapy.errors import Unsupported
from kafkapy.output.sink import Buffer, Sink

SCHEMA_VERSION = 1
TABLE_PAGE = 500


class RowWriter(Protocol):
    """Where rows go."""

    def row(self, row: dict[str, Any]) -> None:
        """Write one row."""
        ...

    def write_rows(self, data: Buffer) -> None:
        """Write rows that are encoded already; only the JSON forms take them."""
        ...

    def finish(self) -> None:
        """Write what ends the output."""
        ...


def row_writer(output: str, sink: Sink, columns: Mapping[str, Sequence[str]]) -> RowWriter:
    """The writer for a value of ``--output``; ``columns`` names the columns of each kind of row."""
    if output == "jsonl":
        return JsonLines(sink)
    if output == "json":
        return JsonDocument(sink)
    if output == "csv":
        return Csv(sink, columns)
    return Table(sink)


def json_bytes(row: Any) -> bytes:
    """A row as compact JSON."""
    import json

    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class JsonLines:
    """A row a line."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def row(self, row: dict[str, Any]) -> None:
        self._sink.write(json_bytes(row) + b"\n")

    def write_rows(self, data: Buffer) -> None:
        self._sink.write(data)

    def finish(self) -> None:
        pass


class JsonDocument:
    """One document; a comma stands before every row but the first."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._before_row = b'{"schema_version":%d,"rows":[' % SCHEMA_VERSION

    def row(self, row: dict[str, Any]) -> None:
        self.write_rows(b",\n" + json_bytes(row))

    def write_rows(self, data: Buffer) -> None:
        """Rows, each with ``,\\n`` before it."""
        if self._before_row:
            self._sink.write(self._before_row)
            data, self._before_row = memoryview(data)[1:], b""
        self._sink.write(data)

    def finish(self) -> None:
        self._sink.write(self._before_row + b"]}\n" if self._before_row else b"\n]}\n")
        self._before_row = b""


class Csv:
    """Comma-separated values, RFC 4180."""

    def __init__(self, sink: Sink, columns: Mapping[str, Sequence[str]]) -> None:
        import csv
        import io

        self._sink = sink
        self._columns = columns
        self._kind: str | None = None
        self._buffer = io.StringIO()
        self._writer = csv.writer(self._buffer, lineterminator="\n")

    def row(self, row: dict[str, Any]) -> None:
        names = self._columns[row["type"]]
        if row["type"] != self._kind:
            self._kind = row["type"]
            self._writer.writerow(names)
        self._writer.writerow([_cell(row.get(name)) for name in names])
        self._flush()

    def write_rows(self, data: Buffer) -> None:
        raise Unsupported("writing encoded rows", "CSV output", "write rows")

    def finish(self) -> None:
        self._flush()

    def _flush(self) -> None:
        self._sink.write(self._buffer.getvalue().encode("utf-8", "replace"))
        self._buffer.seek(0)
        self._buffer.truncate()


class Table:
    """Tables of up to ``TABLE_PAGE`` rows; a column that is empty in all of them is left out."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._rows: list[dict[str, Any]] = []

    def row(self, row: dict[str, Any]) -> None:
        if self._rows and (row["type"] != self._rows[0]["type"] or len(self._rows) == TABLE_PAGE):
            self.finish()
        self._rows.append(row)

    def write_rows(self, data: Buffer) -> None:
        raise Unsupported("writing encoded rows", "table output", "write rows")

    def finish(self) -> None:
        if not self._rows:
            return
        from kafkapy.output.table import render

        rows, self._rows = self._rows, []
        self._sink.write(render(rows).encode("utf-8", "replace"))


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json_bytes(value).decode() if isinstance(value, dict | list) else value
