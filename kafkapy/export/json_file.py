"""JSON lines: an object a row, by the names of its columns; how values look stands in ``json_text.py``."""

from __future__ import annotations

import pyarrow as pa

from kafkapy.export.file_format import Compression
from kafkapy.export.json_text import json_column, json_value
from kafkapy.export.stream_file import open_stream


class JsonFile:
    """One file."""

    held = 0

    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        self._stream = stream
        self._schema = schema
        names = (json_value(name).replace("%", "%%") for name in schema.names)
        self._line = "{" + ",".join(f"{name}:%s" for name in names) + "}\n"

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        columns = [json_column(column, field) for column, field in zip(batch.columns, self._schema, strict=True)]
        line = self._line
        self._stream.write("".join([line % row for row in zip(*columns, strict=True)]).encode("utf-8", "replace"))

    def flush(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """End the file."""
        self._stream.close()


def open_file(path: str, schema: pa.Schema, compression: Compression) -> JsonFile:
    """A new file."""
    return JsonFile(open_stream(path, compression), schema)
