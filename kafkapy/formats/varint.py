"""Variable-length integers of records: LEB128 of the zigzag form, so that small negatives stay short.

A varint holds 32 bits in at most 5 bytes, a varlong 64 bits in at most 10. Like Kafka, a reader drops the
bits that do not fit into the last byte and refuses a value that goes on after it.
"""

from __future__ import annotations

from kafkapy.errors import CorruptRecordError


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The 32-bit value at ``position``, and the position after it."""
    return _read(data, position, 5, 0xFFFFFFFF)


def read_varlong(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """The 64-bit value at ``position``, and the position after it."""
    return _read(data, position, 10, 0xFFFFFFFFFFFFFFFF)


def _read(data: bytes | memoryview, position: int, longest: int, mask: int) -> tuple[int, int]:
    value = shift = 0
    end = position + longest
    while True:
        if position >= len(data):
            raise CorruptRecordError("a variable-length integer runs past the end")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= mask
            return (value >> 1) ^ -(value & 1), position
        if position == end:
            raise CorruptRecordError(f"a variable-length integer is longer than {longest} bytes")
        shift += 7


def write_varint(value: int, out: bytearray) -> None:
    """Append ``value`` (32 or 64 bits, signed) in its shortest form."""
    value = (value << 1) ^ (value >> 63)
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
