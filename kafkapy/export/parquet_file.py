"""Parquet files: zstd by default, a row group for all rows that were held.

Numbers that grow along the log are stored by their differences. All other columns begin with a dictionary, which
Parquet gives up where a column turns out to have too many values; measured, that costs less than it saves.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from kafkapy.export.column_file import ColumnFile
from kafkapy.export.file_format import Compression

GROWING = ("offset", "timestamp", "sequence", "batch_position", "base_offset", "last_offset", "position")


class ParquetFile(ColumnFile):
    """One file."""

    def _write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows, row_group_size=len(rows))


def open_file(path: str, schema: pa.Schema, compression: Compression) -> ParquetFile:
    """A new file."""
    growing = [name for name in schema.names if name in GROWING]
    writer = pq.ParquetWriter(
        path,
        schema,
        compression=compression.value,
        use_dictionary=[name for name in _leaves(schema) if name not in growing],
        column_encoding=dict.fromkeys(growing, "DELTA_BINARY_PACKED"),
    )
    return ParquetFile(writer, schema)


def _leaves(schema: pa.Schema) -> list[str]:
    """The paths of Parquet's own columns, which are not nested."""
    empty = pa.BufferOutputStream()
    with pq.ParquetWriter(empty, schema):
        pass
    found = pq.ParquetFile(pa.BufferReader(empty.getvalue())).schema
    return [found.column(number).path for number in range(len(found))]
