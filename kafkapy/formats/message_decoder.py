"""Turns a struct of a schema, at one version, into a function that reads it.

The function is made once for a version and kept by ``message``; what differs between versions is decided while it is
made, so reading a message costs one call a field.

A version that the schema does not have is read as the nearest one that it has, because Kafka's generated readers do
the same: they compare with the versions they know. Only a struct of a single field refuses a version above the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafkapy.errors import SchemaError
from kafkapy.formats.message_reader import MessageReader, decode_utf8
from kafkapy.formats.message_writer import LONGEST_STRING
from kafkapy.formats.schema import Field, Schema, Struct

Value = dict[str, Any]
Read = Callable[[MessageReader], Any]

UNKNOWN_TAGGED_FIELDS = "_unknownTaggedFields"

_FIXED: dict[str, Read] = {
    "bool": MessageReader.bool,
    "int8": MessageReader.int8,
    "int16": MessageReader.int16,
    "uint16": MessageReader.uint16,
    "int32": MessageReader.int32,
    "uint32": MessageReader.uint32,
    "int64": MessageReader.int64,
    "float64": MessageReader.float64,
    "uuid": MessageReader.uuid,
}


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a version means for the bytes: the version as asked for, the one read as, and the encoding."""

    asked: int
    version: int
    last: int
    flexible: bool


def message_decoder(schema: Schema, version: int) -> Callable[[MessageReader], Value]:
    nearest = schema.valid_versions.nearest(version)
    layout = _Layout(version, nearest, schema.valid_versions.high, nearest in schema.flexible_versions)
    return _struct_reader(schema.struct, layout)


def _struct_reader(struct: Struct, layout: _Layout) -> Callable[[MessageReader], Value]:
    if struct.inline and layout.asked > layout.last:
        return _refuse(f"Can't read version {layout.asked} of {struct.name}")
    here, _ = struct.at(layout.version)
    plain = [(field.name, _field_reader(field, layout)) for field in here if field.tag is None]
    read_names = {name for name, _ in plain}
    template = struct.defaults()
    fresh = [
        field
        for field in struct.fields
        if field.name not in read_names and isinstance(template[field.name], list | dict)
    ]
    read_tags = _tags_reader(struct, layout) if layout.flexible else None

    def read(reader: MessageReader) -> Value:
        value = template.copy()
        for name, read_field in plain:
            value[name] = read_field(reader)
        for field in fresh:
            value[field.name] = field.default()
        if read_tags is not None:
            read_tags(reader, value)
        return value

    return read


def _refuse(reason: str) -> Callable[[MessageReader], Value]:
    def read(reader: MessageReader) -> Value:
        raise SchemaError(reason)

    return read


def _tags_reader(struct: Struct, layout: _Layout) -> Callable[[MessageReader, Value], None]:
    known = {field.tag: (field.name, _tag_reader(field, layout)) for field in struct.fields if field.tag is not None}

    def read(reader: MessageReader, value: Value) -> None:
        for _ in range(reader.unsigned_varint()):
            tag = reader.unsigned_varint()
            size = reader.unsigned_varint()
            if tag in known:
                name, read_field = known[tag]
                value[name] = read_field(reader)
            else:
                value.setdefault(UNKNOWN_TAGGED_FIELDS, []).append((tag, reader.array(size)))

    return read


def _tag_reader(field: Field, layout: _Layout) -> Read:
    if layout.version not in field.versions:
        return _refuse(f"Tag {field.tag} is not valid for version {layout.asked}")
    return _field_reader(field, layout)


def _field_reader(field: Field, layout: _Layout) -> Read:
    if field.is_array:
        return _array_reader(field, layout)
    if field.struct is not None and layout.version in field.nullable:
        return _nullable_struct_reader(field, _struct_reader(field.struct, layout))
    return _element_reader(field, field.name, layout.version in field.nullable, layout)


def _element_reader(field: Field, name: str, nullable: bool, layout: _Layout) -> Read:
    """Reads one value of the field's type; ``name`` is what errors call it."""
    if field.struct is not None:
        return _struct_reader(field.struct, layout)
    if field.type == "string":
        return _string_reader(name, nullable, layout.flexible)
    if field.type in ("bytes", "records"):
        return _bytes_reader(name, nullable, layout.flexible)
    return _FIXED[field.type]


def _nullable_struct_reader(field: Field, read_struct: Read) -> Read:
    """One mark before the struct says whether it is there: a byte, or a varint where the field is a tagged one."""
    tagged = field.tag is not None

    def read(reader: MessageReader) -> Value | None:
        is_null = reader.unsigned_varint() <= 0 if tagged else reader.int8() < 0
        return None if is_null else read_struct(reader)

    return read


def _string_reader(name: str, nullable: bool, flexible: bool) -> Read:
    read_length = MessageReader.compact_length if flexible else MessageReader.int16

    def read(reader: MessageReader) -> str | None:
        length = read_length(reader)
        if length < 0:
            _check_null(name, nullable)
            return None
        if length > LONGEST_STRING:
            raise SchemaError(f"string field {name} had invalid length {length}")
        return decode_utf8(reader.array(length))

    return read


def _bytes_reader(name: str, nullable: bool, flexible: bool) -> Read:
    read_length = MessageReader.compact_length if flexible else MessageReader.int32

    def read(reader: MessageReader) -> bytes | None:
        length = read_length(reader)
        if length < 0:
            _check_null(name, nullable)
            return None
        return reader.array(length)

    return read


def _array_reader(field: Field, layout: _Layout) -> Read:
    read_length = MessageReader.compact_length if layout.flexible else MessageReader.int32
    read_element = _element_reader(field, f"{field.name} element", False, layout)
    name, nullable = field.name, layout.version in field.nullable

    def read(reader: MessageReader) -> list[Any] | None:
        length = read_length(reader)
        if length < 0:
            _check_null(name, nullable)
            return None
        if length > reader.remaining:
            raise SchemaError(
                f"Tried to allocate a collection of size {length}, "
                f"but there are only {reader.remaining} bytes remaining."
            )
        return [read_element(reader) for _ in range(length)]

    return read


def _check_null(name: str, nullable: bool) -> None:
    if not nullable:
        raise SchemaError(f"non-nullable field {name} was serialized as null")
