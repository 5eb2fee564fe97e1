"""JSON lines: an object a row, by the names of its columns; how values look stands in ``json_text.py``."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.export.file_format import Compression
from kafkapy.export.json_text import json_column, json_value
from kafkapy.export.stream_file import open_stream


class JsonFile:
    """One file."""

    held = 0

    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        self._stream = stream
        self._schema = schema
        self._before = [f"{',' if number else '{'}{json_value(name)}:" for number, name in enumerate(schema.names)]

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        parts: list[Any] = []
        for before, column, field in zip(self._before, batch.columns, self._schema, strict=True):
            parts += before, json_column(column, field)
        lines = pc.binary_join_element_wise(*parts, "}\n", "")
        self._stream.write(_text(lines))

    def flush(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """End the file."""
        self._stream.close()


def open_file(path: str, schema: pa.Schema, compression: Compression) -> JsonFile:
    """A new file."""
    return JsonFile(open_stream(path, compression), schema)


def _text(lines: pa.Array) -> pa.Buffer:
    """The bytes of all lines, which lie one behind the other."""
    _, offsets, data = lines.buffers()
    ends = pa.Array.from_buffers(pa.int32(), len(lines) + 1, [None, offsets], offset=lines.offset)
    return data.slice(ends[0].as_py(), ends[-1].as_py() - ends[0].as_py())
