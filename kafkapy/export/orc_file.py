"""ORC files: zstd by default. ORC's gzip is zlib."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import orc

from kafkapy.export.column_file import ColumnFile
from kafkapy.export.file_format import Compression

NAMES = {Compression.GZIP: "zlib", Compression.NONE: "uncompressed"}


class OrcFile(ColumnFile):
    """One file."""

    def _write(self, rows: pa.Table) -> None:
        self._writer.write(rows)


def open_file(path: str, schema: pa.Schema, compression: Compression) -> OrcFile:
    """A new file."""
    return OrcFile(orc.ORCWriter(path, compression=NAMES.get(compression, compression.value)), schema)
