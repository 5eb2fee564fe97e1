"""Avro object container files. Avro's gzip is deflate, which every reader knows."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow as pa
from fastavro.write import Writer

from kafkapy.export.avro_types import avro_schema
from kafkapy.export.file_format import Compression
from kafkapy.export.python_values import python_values

CODECS = {
    Compression.SNAPPY: "snappy",
    Compression.GZIP: "deflate",
    Compression.NONE: "null",
}


class AvroFile:
    """One file."""

    held = 0

    def __init__(self, file: BinaryIO, schema: pa.Schema, compression: Compression) -> None:
        self._file = file
        self._writer = Writer(file, avro_schema(schema), CODECS[compression])

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        names = batch.schema.names
        for row in zip(*map(_values, batch.columns), strict=True):
            self._writer.write(dict(zip(names, row, strict=True)))

    def flush(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """End the file."""
        self._writer.flush()
        self._file.close()


def open_file(path: str, schema: pa.Schema, compression: Compression) -> AvroFile:
    """A new file."""
    return AvroFile(open(path, "wb"), schema, compression)


def _values(column: pa.Array) -> list[Any]:
    """Python's values; those of times are numbers, which Avro has too."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return python_values(column)
