"""What JSON lines and CSV have in common: text that is written as it comes, compressed as a whole if at all."""

from __future__ import annotations

import pyarrow as pa

from kafkapy.export.file_format import Compression


def open_stream(path: str, compression: Compression) -> pa.NativeFile:
    """A new file for bytes."""
    return pa.output_stream(path, compression=None if compression is Compression.NONE else compression.value)
