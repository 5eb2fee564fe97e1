"""One file of rows that is being written, by its format. Batches go in, and nobody sees the file before it is closed.

Formats that lay out columns want many rows at once, so batches are held until ``flush``; whoever writes decides when
that is, by ``held`` bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from kafkapy.export.file_format import Compression, Format

if TYPE_CHECKING:
    import pyarrow as pa


class RowFile(Protocol):
    """A file that takes rows."""

    held: int
    """Bytes that are in memory."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Take rows."""
        ...

    def flush(self) -> None:
        """Write what is held."""
        ...

    def close(self) -> None:
        """Write all that makes the file whole."""
        ...


def open_row_file(kind: Format, path: str, schema: pa.Schema, compression: Compression) -> RowFile:
    """A new file; ``kafkapy.export.<format>_file`` writes it."""
    module = import_module(f"kafkapy.export.{kind}_file")
    return cast(Callable[[str, "pa.Schema", Compression], RowFile], module.open_file)(path, schema, compression)
