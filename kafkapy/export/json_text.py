"""Columns as JSON, value by value: bytes in base64, times in ISO 8601 and UTC, maps as objects, JSON as it is.

NaN and the infinities, for which JSON has no number, are strings.

Rows are many and columns few, so each column becomes text as a whole, most of them without a Python object for a value.
"""

from __future__ import annotations

import math
from binascii import b2a_base64
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.export.decoding import JSON_TEXT
from kafkapy.export.iso_time import iso_times
from kafkapy.export.python_values import python_values

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
    return pa.array([None if value is None else json_value(value) for value in python_values(column)], pa.string())


def json_value(value: Any) -> str:
    """A value of any type, on one line."""
    try:
        return _dumped(value)
    except ValueError:
        return _dumped(_finite(value))


def _dumped(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"


def _plain(value: Any) -> Any:
    """What JSON has no type for."""
    if isinstance(value, bytes):
        return b2a_base64(value, newline=False).decode()
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return str(value)
