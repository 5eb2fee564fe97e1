"""Columns as JSON, value by value: bytes in base64, times in ISO 8601 and UTC, JSON as it is.

A value is made into JSON once where a column has few of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.export.decoding import JSON_TEXT

NULL = "null"


def json_column(column: pa.Array, field: pa.Field) -> Iterator[str]:
    """The values of a column."""
    kind = column.type
    if field.metadata == JSON_TEXT:
        return (NULL if value is None else value for value in column.to_pylist())
    if pa.types.is_integer(kind):
        return (NULL if value is None else str(value) for value in column.to_pylist())
    if pa.types.is_binary(kind):
        return (NULL if value is None else f'"{base64(value)}"' for value in column.to_pylist())
    if pa.types.is_timestamp(kind):
        return (NULL if value is None else f'"{value}"' for value in iso_times(column).to_pylist())
    return _cached(column)


def iso_times(column: pa.Array) -> pa.Array:
    """Times as text."""
    return pc.strftime(column, format="%Y-%m-%dT%H:%M:%SZ" if column.type.tz else "%Y-%m-%dT%H:%M:%S")


def base64(value: bytes) -> str:
    """Bytes as text."""
    from binascii import b2a_base64

    return b2a_base64(value, newline=False).decode()


def json_value(value: Any) -> str:
    """A value of any type, on one line."""
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _cached(column: pa.Array) -> Iterator[str]:
    encoded = column.dictionary_encode() if pa.types.is_string(column.type) else None
    if encoded is None:
        return map(json_value, column.to_pylist())
    texts = [*map(json_value, encoded.dictionary.to_pylist()), NULL]
    return (texts[-1 if number is None else number] for number in encoded.indices.to_pylist())


def _plain(value: Any) -> Any:
    """What JSON has no type for."""
    return base64(value) if isinstance(value, bytes) else str(value)
