"""Turns a struct of a schema, at one version, into a function that writes it. The mirror of message_decoder.

A value may leave out fields: they have their default. It may not have keys the struct lacks, nor a value other than
the default in a field that the version lacks, unless the field is ignorable: information is never lost in silence.
Tagged fields at their default are not written, as in Kafka; the others go out in the order of their tags, unknown
ones among them with the bytes they came with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkapy.errors import SchemaError
from kafkapy.formats.message_decoder import UNKNOWN_TAGGED_FIELDS, Value
from kafkapy.formats.message_writer import (
    Write,
    bool_writer,
    bytes_writer,
    number_writer,
    string_writer,
    uuid_writer,
    write_length,
    write_string_length,
    write_unsigned_varint,
)
from kafkapy.formats.schema import Field, Schema, Struct

WriteStruct = Callable[[bytearray, Value], None]

_NULL = -1


def message_encoder(schema: Schema, version: int) -> WriteStruct:
    if version not in schema.valid_versions:
        raise SchemaError(f"{schema.name} has no version {version}, only {schema.valid_versions}")
    return _struct_writer(schema.struct, version, version in schema.flexible_versions)


def is_default(field: Field, value: Any) -> bool:
    """Whether the field is at its default; a struct may leave fields out and still be."""
    default = field.default()
    if isinstance(value, dict) and isinstance(default, dict):
        return bool({**default, **value} == default)
    return bool(value == default)


def check_left_out(left_out: list[Field], version: int, value: Value) -> None:
    """Refuses a value that would lose something at this version."""
    for field in left_out:
        if field.name in value and not is_default(field, value[field.name]):
            raise SchemaError(f"Attempted to write a non-default {field.name} at version {version}")


def _struct_writer(struct: Struct, version: int, flexible: bool) -> WriteStruct:
    here, left_out = struct.at(version)
    plain = [(field, _field_writer(field, version, flexible)) for field in here if field.tag is None]
    names = {field.name for field in struct.fields} | {UNKNOWN_TAGGED_FIELDS}
    write_tags = _tags_writer(here, version, flexible)

    def write(out: bytearray, value: Value) -> None:
        if not isinstance(value, dict) or not names.issuperset(value):
            raise SchemaError(f"not a value of {struct.name}: {value!r}")
        check_left_out(left_out, version, value)
        for field, write_field in plain:
            write_field(out, value[field.name] if field.name in value else field.default())
        write_tags(out, value)

    return write


def _tags_writer(fields: list[Field], version: int, flexible: bool) -> WriteStruct:
    tagged = [(field, _field_writer(field, version, flexible)) for field in fields if field.tag is not None]
    defined = {field.tag for field, _ in tagged}

    def write(out: bytearray, value: Value) -> None:
        unknown: list[tuple[int, bytes]] = value.get(UNKNOWN_TAGGED_FIELDS, [])
        if not flexible:
            if unknown:
                raise SchemaError(
                    f"Tagged fields were set, but version {version} of this message does not support them."
                )
            return
        _check_unknown_tags([tag for tag, _ in unknown], defined)
        entries = [*_set_tags(tagged, value), *unknown]
        write_unsigned_varint(out, len(entries))
        for tag, data in sorted(entries):
            write_unsigned_varint(out, tag)
            write_unsigned_varint(out, len(data))
            out += data

    return write


def _set_tags(tagged: list[tuple[Field, Write]], value: Value) -> list[tuple[int, bytes]]:
    entries = []
    for field, write_field in tagged:
        if field.tag is not None and field.name in value and not is_default(field, value[field.name]):
            data = bytearray()
            write_field(data, value[field.name])
            entries.append((field.tag, bytes(data)))
    return entries


def _check_unknown_tags(tags: list[int], defined: set[int | None]) -> None:
    previous = -1
    for tag in tags:
        if tag in defined:
            raise SchemaError(f"Attempted to use tag {tag} as an undefined tag.")
        if tag <= previous:
            raise SchemaError(
                f"Invalid raw tag field list: tag {tag} comes after tag {previous}, but is not higher than it."
            )
        previous = tag


def _field_writer(field: Field, version: int, flexible: bool) -> Write:
    write_value = _array_writer(field, version, flexible) if field.is_array else _one_writer(field, version, flexible)
    nullable = version in field.nullable

    def write(out: bytearray, value: Any) -> None:
        if value is not None:
            write_value(out, value)
        elif nullable:
            _write_null(out, field, flexible)
        else:
            raise SchemaError(f"non-nullable field {field.name} is null")

    return write


def _write_null(out: bytearray, field: Field, flexible: bool) -> None:
    if field.is_array or field.type in ("bytes", "records"):
        write_length(out, _NULL, flexible)
    elif field.type == "string":
        write_string_length(out, _NULL, flexible)
    else:
        out.append(0 if field.tag is not None else 0xFF)


def _one_writer(field: Field, version: int, flexible: bool) -> Write:
    """Writes a field that is not an array; a nullable struct has a mark before it."""
    write_element = _element_writer(field, field.name, version, flexible)
    if field.struct is None or version not in field.nullable:
        return write_element

    def write(out: bytearray, value: Any) -> None:
        out.append(1)
        write_element(out, value)

    return write


def _array_writer(field: Field, version: int, flexible: bool) -> Write:
    write_element = _element_writer(field, f"{field.name} element", version, flexible)

    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, list | tuple):
            raise SchemaError(f"field {field.name}: {value!r} is not an array")
        write_length(out, len(value), flexible)
        for element in value:
            write_element(out, element)

    return write


def _element_writer(field: Field, name: str, version: int, flexible: bool) -> Write:
    if field.struct is not None:
        return _struct_writer(field.struct, version, flexible)
    match field.type:
        case "string":
            return string_writer(name, flexible)
        case "bytes" | "records":
            return bytes_writer(name, flexible)
        case "bool":
            return bool_writer(name)
        case "uuid":
            return uuid_writer(name)
        case _:
            return number_writer(name, field.type)
