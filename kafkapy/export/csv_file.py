"""CSV files with a header line: a null is nothing, an empty text is ``""``.

Bytes are base64, times ISO 8601 in UTC, and what is nested is JSON: CSV has no types for these.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import csv

from kafkapy.export.file_format import Compression
from kafkapy.export.json_text import nested_column, text_column
from kafkapy.export.stream_file import open_stream


class CsvFile:
    """One file."""

    held = 0

    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        self._stream = stream
        self._schema = pa.schema([(field.name, _csv_type(field.type)) for field in schema])
        self._writer = csv.CSVWriter(stream, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        columns = [_csv_column(column) for column in batch.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def flush(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """End the file."""
        self._writer.close()
        self._stream.close()


def open_file(path: str, schema: pa.Schema, compression: Compression) -> CsvFile:
    """A new file."""
    return CsvFile(open_stream(path, compression), schema)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_timestamp(kind))


def _csv_type(kind: pa.DataType) -> pa.DataType:
    return pa.string() if _is_text(kind) or pa.types.is_nested(kind) else kind


def _csv_column(column: pa.Array) -> pa.Array:
    if _is_text(column.type):
        return text_column(column)
    return nested_column(column) if pa.types.is_nested(column.type) else column
