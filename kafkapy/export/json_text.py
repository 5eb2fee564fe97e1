"""Columns as JSON, value by value: bytes in base64, times in ISO 8601 and UTC, JSON as it is.

Rows are many and columns few, so each column becomes text as a whole, most of them without a Python object for a value.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.export.decoding import JSON_TEXT
from kafkapy.export.iso_time import iso_times

NULL = "null"


def json_column(column: pa.Array, field: pa.Field) -> pa.Array:
    """The values of a column as JSON; none is null but the text is."""
    return pc.fill_null(_json(column, field), NULL)


def _json(column: pa.Array, field: pa.Field) -> pa.Array:
    kind = column.type
    if field.metadata == JSON_TEXT:
        return column
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(pa.string())
    if pa.types.is_binary(kind) or pa.types.is_timestamp(kind):
        return pc.binary_join_element_wise('"', text_column(column), '"', "")
    if pa.types.is_string(kind):
        values = column.dictionary_encode()
        return pa.array([*map(json_value, values.dictionary.to_pylist())], pa.string()).take(values.indices)
    return nested_column(column)


def text_column(column: pa.Array) -> pa.Array:
    """Bytes and times as text."""
    if pa.types.is_timestamp(column.type):
        return iso_times(column)
    found = [None if value is None else b2a_base64(value, newline=False) for value in column.to_pylist()]
    return pa.array(found, pa.binary()).cast(pa.string())


def nested_column(column: pa.Array) -> pa.Array:
    """Values of any type, each as JSON; lists are mostly empty, as those of headers."""
    if pa.types.is_list(column.type) and not pc.sum(pc.list_value_length(column)).as_py():
        return pc.if_else(column.is_valid(), "[]", pa.scalar(None, pa.string()))
    return pa.array([None if value is None else json_value(value) for value in column.to_pylist()], pa.string())


def json_value(value: Any) -> str:
    """A value of any type, on one line."""
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """What JSON has no type for."""
    return b2a_base64(value, newline=False).decode() if isinstance(value, bytes) else str(value)
