"""Hypothesis strategies: values for any schema at any version, straight from the tables."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafkapy.formats.message import UNKNOWN_TAGGED_FIELDS
from kafkapy.formats.schema import Field, Schema, Struct, schemas
from kafkapy.formats.uuid import uuid_text

AREAS = (
    "metadata",
    "group_coordinator",
    "transaction_coordinator",
    "share_coordinator",
    "consumer_protocol",
    "raft",
    "storage",
)

EVERY_VERSION = [
    (schema, version) for area in AREAS for schema in schemas(area).values() for version in schema.valid_versions
]
EVERY_VERSION_IDS = [f"{schema.name}-{version}" for schema, version in EVERY_VERSION]

_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False),
    "string": st.text(max_size=5),
    "bytes": st.binary(max_size=5),
    "uuid": st.binary(min_size=16, max_size=16).map(uuid_text),
}
_UNKNOWN_TAGS = st.dictionaries(st.integers(100, 2**31 - 1), st.binary(max_size=4), min_size=1, max_size=3).map(
    lambda tags: sorted(tags.items())
)


def message_values(schema: Schema, version: int, unknown_tags: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Complete values: what a decoder would give for bytes of that version."""
    tags = _UNKNOWN_TAGS if unknown_tags and version in schema.flexible_versions else None
    return _struct_values(schema.struct, version, tags)


def _struct_values(struct: Struct, version: int, tags: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    fields = {
        field.name: _field_values(field, version, tags) if version in field.versions else st.builds(field.default)
        for field in struct.fields
    }
    return st.fixed_dictionaries(fields, optional={} if tags is None else {UNKNOWN_TAGGED_FIELDS: tags})


def _field_values(field: Field, version: int, tags: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    one = _PRIMITIVES[field.type] if field.struct is None else _struct_values(field.struct, version, tags)
    values = st.lists(one, max_size=3) if field.is_array else one
    if version in field.nullable:
        values |= st.none()
    return values | st.builds(field.default) if field.tag is not None else values
