"""Rows as JSON lines, a JSON document, YAML, CSV or tables.

A row is a dictionary whose first field, ``type``, names its kind. JSON lines, JSON and YAML hold rows of any kinds
together; CSV writes a header line at the first row and again where the kind changes; a table is a page of rows of one
kind. Rows of chosen columns (see ``row_view``) are all of one kind. Where no row comes at all, CSV has a header all the
same, and the table says so, unless an error does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kafkapy.errors import Unsupported
from kafkapy.output.row_view import ALL, RowView
from kafkapy.output.sink import Buffer, Sink

SCHEMA_VERSION = 1
TABLE_PAGE = 500
NO_ROWS = "(no rows)"


class RowWriter(Protocol):
    """Where rows go."""

    def row(self, row: dict[str, Any]) -> None:
        """Write one row."""
        ...

    def write_rows(self, data: Buffer) -> None:
        """Write rows that are encoded already; only the JSON forms take them."""
        ...

    def finish(self, is_cut_short: bool = False) -> None:
        """Write what ends the output, also where it ``is_cut_short`` by an error."""
        ...


def row_writer(
    output: str,
    sink: Sink,
    columns: Mapping[str, Sequence[str]],
    view: RowView = ALL,
    is_every_kind: bool = True,
    if_empty: Sequence[str] = (),
) -> RowWriter:
    """The writer for a value of ``--output``; ``columns`` names the columns of each kind of row, of which there may be
    more later if it is not ``is_every_kind``. ``if_empty`` are those of a CSV file that no row comes to."""
    writer = _writer(output, sink, columns, view, if_empty)
    if not view.names:
        return writer
    from kafkapy.output.viewed_rows import ViewedRows

    known = [name for names in columns.values() for name in names] if is_every_kind else ()
    return ViewedRows(writer, view, known)


def _writer(
    output: str, sink: Sink, columns: Mapping[str, Sequence[str]], view: RowView, if_empty: Sequence[str]
) -> RowWriter:
    if output == "jsonl":
        return JsonLines(sink)
    if output == "json":
        return JsonDocument(sink)
    if output == "yaml":
        from kafkapy.output.yaml_writer import YamlDocument

        return YamlDocument(sink)
    return Csv(sink, columns, view, if_empty) if output == "csv" else Table(sink, view)


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

    def finish(self, is_cut_short: bool = False) -> None:
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

    def finish(self, is_cut_short: bool = False) -> None:
        self._sink.write(self._before_row + b"]}\n" if self._before_row else b"\n]}\n")
        self._before_row = b""


class Csv:
    """Comma-separated values, RFC 4180."""

    def __init__(
        self, sink: Sink, columns: Mapping[str, Sequence[str]], view: RowView = ALL, if_empty: Sequence[str] = ()
    ) -> None:
        import csv
        import io

        self._sink = sink
        self._columns = columns
        self._view = view
        self._if_empty = if_empty
        self._names: Sequence[str] = ()
        self._buffer = io.StringIO()
        self._writer = csv.writer(self._buffer, lineterminator="\n")

    def row(self, row: dict[str, Any]) -> None:
        names = self._view.columns or self._columns[row["type"]]
        if names is not self._names:
            self._begin(names)
        self._writer.writerow([csv_cell(row.get(name)) for name in names])
        self._flush()

    def write_rows(self, data: Buffer) -> None:
        raise Unsupported("writing encoded rows", "CSV output", "write rows")

    def finish(self, is_cut_short: bool = False) -> None:
        if not self._names:
            self._begin(self._view.columns or self._if_empty)
        self._flush()

    def _begin(self, names: Sequence[str]) -> None:
        self._names = names
        if self._view.has_header and names:
            self._writer.writerow(names)

    def _flush(self) -> None:
        self._sink.write(self._buffer.getvalue().encode("utf-8", "replace"))
        self._buffer.seek(0)
        self._buffer.truncate()


class Table:
    """Tables of up to ``TABLE_PAGE`` rows; a column that is empty in all of them is left out."""

    def __init__(self, sink: Sink, view: RowView = ALL) -> None:
        self._sink = sink
        self._view = view
        self._rows: list[dict[str, Any]] = []
        self._is_empty = True

    def row(self, row: dict[str, Any]) -> None:
        is_of_kind = self._rows and (self._view.columns or row["type"] == self._rows[0]["type"])
        if self._rows and (not is_of_kind or len(self._rows) == TABLE_PAGE):
            self._print()
        self._rows.append(row)
        self._is_empty = False

    def write_rows(self, data: Buffer) -> None:
        raise Unsupported("writing encoded rows", "table output", "write rows")

    def finish(self, is_cut_short: bool = False) -> None:
        if self._is_empty and not is_cut_short:
            self._sink.write(f"{NO_ROWS}\n".encode())
        if self._rows:
            self._print()

    def _print(self) -> None:
        from kafkapy.output.table import render

        rows, self._rows = self._rows, []
        self._sink.write(render(rows, self._view).encode("utf-8", "replace"))


def csv_cell(value: Any) -> Any:
    """A value as CSV has it: null is empty, lists and objects are JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json_bytes(value).decode() if isinstance(value, dict | list) else value
