"""Spark's values as plain ones, by their types: what JSON has, and what people read.

Times are ISO 8601 in UTC. Binary is text where it is UTF-8, and else a literal of SQL's (``X'00FF'``), which a query
can be given back.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

Plain = Callable[[Any], Any]

_AS_THEY_ARE = (BooleanType, ByteType, ShortType, IntegerType, LongType, StringType)


def plain(kind: DataType) -> Plain:
    """What makes values of a type plain."""
    found = _plain(kind)
    return lambda value: None if value is None else found(value)


def binary_text(value: bytes) -> str:
    """Text where it is UTF-8, else a literal."""
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        return f"X'{bytes(value).hex().upper()}'"


def _plain(kind: DataType) -> Plain:
    match kind:
        case ArrayType():
            element = plain(kind.elementType)
            return lambda value: [element(each) for each in value]
        case MapType():
            key, item = plain(kind.keyType), plain(kind.valueType)
            return lambda value: {str(key(name)): item(each) for name, each in value.items()}
        case StructType():
            fields = [(field.name, plain(field.dataType)) for field in kind]
            return lambda value: {name: make(each) for (name, make), each in zip(fields, value, strict=True)}
        case BinaryType():
            return binary_text
        case TimestampType():  # comes in the zone of this process
            return lambda value: value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case TimestampNTZType():
            return lambda value: value.isoformat(timespec="milliseconds")
        case FloatType() | DoubleType():
            return _finite
        case DecimalType():
            return lambda value: int(value) if kind.scale == 0 else str(value)
    return _itself if isinstance(kind, _AS_THEY_ARE) else str


def _finite(value: float) -> float | str:
    """JSON has no infinities."""
    return value if value - value == 0 else str(value)


def _itself(value: Any) -> Any:
    return value
