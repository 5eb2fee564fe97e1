"""Parquet and ORC: files whose columns lie together, in groups of as many rows as are held at a time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


class ColumnFile:
    """Holds batches for a writer that takes tables."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema
        self._batches: list[pa.RecordBatch] = []
        self.held = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Hold rows."""
        self._batches.append(batch)
        self.held += batch.nbytes

    def flush(self) -> None:
        """Write what is held as one group."""
        if self._batches:
            self._write(pa.Table.from_batches(self._batches, self._schema))
        self._batches.clear()
        self.held = 0

    def _write(self, rows: pa.Table) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Write the last group and the footer."""
        self.flush()
        self._writer.close()
