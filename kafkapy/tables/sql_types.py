"""The types of columns in SQL's words, as Spark's DESCRIBE has them."""

from __future__ import annotations

import pyarrow as pa

_NAMES = {
    pa.string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
}


def sql_type(kind: pa.DataType) -> str:
    """The name of a type."""
    if pa.types.is_list(kind):
        return f"array<{sql_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = ",".join(f"{field.name}:{sql_type(field.type)}" for field in kind)
        return f"struct<{fields}>"
    return "timestamp" if pa.types.is_timestamp(kind) else _NAMES[kind]


def sql_columns(schema: pa.Schema) -> list[tuple[str, str]]:
    """Each column with its type."""
    return [(field.name, sql_type(field.type)) for field in schema]
