"""Avro's types as Arrow's, and the other way round.

A union of null and one type is that type, nullable; any other union has no column. Values of a logical type that Arrow
has no type for, such as uuid, are what they are written as. Avro has no integers of 8 and 16 bits: they become int.
Names of records are made of the path to them, since Avro wants each only once.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafkapy.errors import KafkapyError

PRIMITIVES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
LOGICAL = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", tz="UTC"),
    "timestamp-micros": pa.timestamp("us", tz="UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}
DECIMAL, MAX_DIGITS = "decimal", 38
_NESTED = ("type", "items", "values", "fields")


def without_other_logical_types(schema: Any) -> Any:
    """A schema as JSON without the logical types that are unknown or not of their type: Avro's specification wants them
    ignored, and who reads by the schema must do no more with them than ``arrow_type``."""
    if isinstance(schema, list):
        return [without_other_logical_types(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: without_other_logical_types(of) if name in _NESTED else of for name, of in schema.items()}
    if not _has_known_logical_type(schema):
        kept.pop("logicalType", None)
    return kept


def _has_known_logical_type(schema: dict[str, Any]) -> bool:
    logical, kind = schema.get("logicalType"), schema.get("type")
    if logical != DECIMAL:
        return isinstance(logical, str) and logical in LOGICAL and kind == _written_as(LOGICAL[logical])
    digits, scale = schema.get("precision"), schema.get("scale", 0)
    return (
        kind in ("bytes", "fixed") and isinstance(digits, int) and isinstance(scale, int) and 0 <= scale <= digits > 0
    )


def _written_as(kind: pa.DataType) -> str:
    return "int" if kind.bit_width == 32 else "long"


def arrow_type(schema: Any) -> pa.DataType:
    """The Arrow type of a parsed schema."""
    return _arrow(schema, {}, ())


def _arrow(schema: Any, named: dict[str, Any], inside: tuple[str, ...]) -> pa.DataType:
    if isinstance(schema, list):
        return _arrow(_not_null(schema), named, inside)
    if isinstance(schema, str):
        return _by_name(schema, named, inside)
    logical = schema.get("logicalType")
    if logical in LOGICAL:
        return LOGICAL[logical]
    if logical == DECIMAL:
        if schema["precision"] > MAX_DIGITS:
            raise KafkapyError(
                f"a decimal of {schema['precision']} digits cannot be a column: {MAX_DIGITS} are the most"
            )
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    kind = schema["type"]
    if kind in ("record", "enum", "fixed"):
        named[schema["name"]] = schema
    if kind == "record":
        within = (*inside, schema["name"])
        return pa.struct([(field["name"], _arrow(field["type"], named, within)) for field in schema["fields"]])
    if kind == "array":
        return pa.list_(_arrow(schema["items"], named, inside))
    if kind == "map":
        return pa.map_(pa.string(), _arrow(schema["values"], named, inside))
    if kind == "enum":
        return pa.string()
    return pa.binary(schema["size"]) if kind == "fixed" else _arrow(kind, named, inside)


def _by_name(name: str, named: dict[str, Any], inside: tuple[str, ...]) -> pa.DataType:
    if name in PRIMITIVES:
        return PRIMITIVES[name]
    if name in inside:
        raise KafkapyError(f"{name} contains itself, which no column can")
    return _arrow(named[name], named, inside)


def _not_null(union: list[Any]) -> Any:
    others = [each for each in union if each != "null"]
    if len(others) > 1:
        raise KafkapyError("a union of several types cannot be a column: null and one other can")
    return others[0] if others else "null"


def avro_schema(schema: pa.Schema) -> dict[str, Any]:
    """The Avro schema of rows."""
    return {"type": "record", "name": "row", "fields": [_avro_field(field, "row") for field in schema]}


def _avro_field(field: pa.Field, above: str) -> dict[str, Any]:
    kind = _avro(field.type, f"{above}_{field.name}")
    return {"name": field.name, "type": ["null", kind], "default": None}


def _avro(kind: pa.DataType, name: str) -> Any:
    for logical, known in LOGICAL.items():
        if kind == known:
            return {"type": _written_as(kind), "logicalType": logical}
    types = pa.types
    if types.is_decimal(kind):
        return {"type": "bytes", "logicalType": DECIMAL, "precision": kind.precision, "scale": kind.scale}
    if types.is_struct(kind):
        return {"type": "record", "name": name, "fields": [_avro_field(field, name) for field in kind]}
    if types.is_map(kind):
        return {"type": "map", "values": ["null", _avro(kind.item_type, f"{name}_value")]}
    if types.is_list(kind):
        return {"type": "array", "items": ["null", _avro(kind.value_type, f"{name}_item")]}
    return _avro_primitive(kind)


def _avro_primitive(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_integer(kind):
        return "int" if kind.bit_width < 32 or kind == pa.int32() else "long"
    if types.is_binary(kind) or types.is_fixed_size_binary(kind):
        return "bytes"
    return next(name for name, known in PRIMITIVES.items() if kind == known)
