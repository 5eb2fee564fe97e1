"""The primitives a message is written with: each appends to a bytearray, or raises SchemaError and names the field.

They are the mirror of message_reader, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, error
from typing import Any

from kafkapy.errors import SchemaError
from kafkapy.formats.uuid import uuid_bytes

Write = Callable[[bytearray, Any], None]

LONGEST_STRING = 0x7FFF

_NUMBERS = {
    "int8": Struct(">b"),
    "int16": Struct(">h"),
    "uint16": Struct(">H"),
    "int32": Struct(">i"),
    "uint32": Struct(">I"),
    "int64": Struct(">q"),
    "float64": Struct(">d"),
}
_INT16 = _NUMBERS["int16"]
_INT32 = _NUMBERS["int32"]


def write_unsigned_varint(out: bytearray, value: int) -> None:
    """Plain LEB128 of the 32 bits of ``value``."""
    value &= 0xFFFF_FFFF
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def number_writer(name: str, number_type: str) -> Write:
    pack = _NUMBERS[number_type].pack

    def write(out: bytearray, value: Any) -> None:
        try:
            out += pack(value)
        except (error, OverflowError, TypeError):
            raise SchemaError(f"field {name}: {value!r} is not of type {number_type}") from None

    return write


def bool_writer(name: str) -> Write:
    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, bool):
            raise SchemaError(f"field {name}: {value!r} is not of type bool")
        out.append(value)

    return write


def uuid_writer(name: str) -> Write:
    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, str):
            raise SchemaError(f"field {name}: {value!r} is not of type uuid")
        out += uuid_bytes(value)

    return write


def string_writer(name: str, flexible: bool) -> Write:
    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, str):
            raise SchemaError(f"field {name}: {value!r} is not of type string")
        data = value.encode("utf-8", "replace")
        if len(data) > LONGEST_STRING:
            raise SchemaError(f"'{name}' field is too long to be serialized")
        write_string_length(out, len(data), flexible)
        out += data

    return write


def bytes_writer(name: str, flexible: bool) -> Write:
    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, bytes | bytearray | memoryview):
            raise SchemaError(f"field {name}: {value!r} is not of type bytes")
        write_length(out, len(value), flexible)
        out += value

    return write


def write_string_length(out: bytearray, length: int, flexible: bool) -> None:
    """The length before a string, -1 for null: the one length of two bytes in the older encoding."""
    if flexible:
        write_unsigned_varint(out, length + 1)
    else:
        out += _INT16.pack(length)


def write_length(out: bytearray, length: int, flexible: bool) -> None:
    """The length before bytes or an array, -1 for null."""
    if flexible:
        write_unsigned_varint(out, length + 1)
    else:
        out += _INT32.pack(length)
