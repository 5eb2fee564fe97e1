"""The values of a column as Python's, for formats that are written row by row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def python_values(column: pa.Array) -> list[Any]:
    """Each value; a map is a dict."""
    found: list[Any] = column.to_pylist(maps_as_pydicts="lossy") if _has_map(column.type) else column.to_pylist()
    return found


def _has_map(kind: pa.DataType) -> bool:
    if pa.types.is_map(kind):
        return True
    return any(_has_map(kind.field(number).type) for number in range(kind.num_fields))
