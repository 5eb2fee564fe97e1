"""The primitives a message is read with, bounds checked: a hostile length is a SchemaError, never a crash.

Integers are big-endian. An unsigned varint is plain LEB128 of at most five bytes that Kafka keeps in a Java int, so a
large one comes out negative, and every test on it below means what it means in Java. The texts of the errors are
Kafka's own, for DumpLogSegments prints them.
"""

from __future__ import annotations

import codecs
from struct import Struct

from kafkapy.errors import SchemaError
from kafkapy.formats.uuid import uuid_text

Buffer = bytes | bytearray | memoryview

_INT16 = Struct(">h")
_UINT16 = Struct(">H")
_INT32 = Struct(">i")
_UINT32 = Struct(">I")
_INT64 = Struct(">q")
_FLOAT64 = Struct(">d")


class BufferUnderflowError(SchemaError):
    """The message ends before its last field does."""

    def __init__(self, wanted: int, position: int, remaining: int) -> None:
        super().__init__(f"{wanted} byte(s) wanted at byte {position}, but only {remaining} remain")


def java_message(error: SchemaError) -> str:
    """What Java's getMessage() gives for the same failure: a BufferUnderflowException has no message."""
    return "null" if isinstance(error, BufferUnderflowError) else str(error)


def _to_int32(value: int) -> int:
    return (value + 0x8000_0000 & 0xFFFF_FFFF) - 0x8000_0000


def _replace_like_java(error: UnicodeError) -> tuple[str | bytes, int]:
    """One U+FFFD for a whole encoded surrogate, where Python would give one for each of its bytes."""
    assert isinstance(error, UnicodeDecodeError)
    surrogate = error.object[error.start : error.start + 3]
    if surrogate[0] == 0xED and len(surrogate) > 1 and 0xA0 <= surrogate[1] <= 0xBF:
        continued = len(surrogate) > 2 and 0x80 <= surrogate[2] <= 0xBF
        return "\ufffd", error.start + (3 if continued else 2)
    return "\ufffd", error.end


codecs.register_error("kafkapy.java", _replace_like_java)


def decode_utf8(data: Buffer) -> str:
    """Bytes to text as Java's ``new String(bytes, UTF_8)`` does it: what is malformed becomes U+FFFD."""
    return str(data, "utf-8", "kafkapy.java")


class MessageReader:
    """A position in a buffer."""

    __slots__ = ("buffer", "limit", "position")

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        self.buffer = buffer
        self.position = position
        self.limit = len(buffer)

    @property
    def remaining(self) -> int:
        return self.limit - self.position

    def _advance(self, size: int) -> int:
        """Steps over ``size`` bytes and gives where they begin."""
        position = self.position
        if size > self.limit - position:
            raise BufferUnderflowError(size, position, self.limit - position)
        self.position = position + size
        return position

    def int8(self) -> int:
        byte = self.buffer[self._advance(1)]
        return byte - 256 if byte > 127 else byte

    def bool(self) -> bool:
        return self.buffer[self._advance(1)] != 0

    def int16(self) -> int:
        return int(_INT16.unpack_from(self.buffer, self._advance(2))[0])

    def uint16(self) -> int:
        return int(_UINT16.unpack_from(self.buffer, self._advance(2))[0])

    def int32(self) -> int:
        return int(_INT32.unpack_from(self.buffer, self._advance(4))[0])

    def uint32(self) -> int:
        return int(_UINT32.unpack_from(self.buffer, self._advance(4))[0])

    def int64(self) -> int:
        return int(_INT64.unpack_from(self.buffer, self._advance(8))[0])

    def float64(self) -> float:
        return float(_FLOAT64.unpack_from(self.buffer, self._advance(8))[0])

    def uuid(self) -> str:
        start = self._advance(16)
        return uuid_text(bytes(self.buffer[start : start + 16]))

    def unsigned_varint(self) -> int:
        position = self.position
        if position < self.limit and self.buffer[position] < 0x80:  # most are of one byte
            self.position = position + 1
            return self.buffer[position]
        result = 0
        for shift in (0, 7, 14, 21, 28):
            byte = self.buffer[self._advance(1)]
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return _to_int32(result)
        raise SchemaError(
            "Varint is too long, the most significant bit in the 5th byte is set, "
            f"converted value: {result & 0xFFFF_FFFF:x}"
        )

    def compact_length(self) -> int:
        """The length of a compact string, array or bytes: one less than written, negative for null."""
        position = self.position
        if position < self.limit and self.buffer[position] < 0x80:
            self.position = position + 1
            return self.buffer[position] - 1
        return _to_int32(self.unsigned_varint() - 1)

    def array(self, size: int) -> bytes:
        """``size`` raw bytes."""
        if size > self.remaining:
            raise SchemaError(f"Error reading byte array of {size} byte(s): only {self.remaining} byte(s) available")
        if size < 0:
            raise SchemaError(str(size))
        start = self._advance(size)
        return bytes(self.buffer[start : start + size])
