r"""Kafka's deserializers, as the text that Java's ``toString`` makes of what they give.

class        prints
String       UTF-8, as Java decodes it, or text in another encoding
Integer      a big-endian number of 4 bytes; Long: 8, Short: 2
Float        Java's shortest decimal, 1.0E10 from ten million on; Double: the same of 8 bytes
Boolean      true or false, of the bytes 1 and 0
UUID         the 36 characters, which must be one
Bytes        printable ASCII, and \xNN for the rest
ByteBuffer   java.nio.HeapByteBuffer[pos=0 lim=N cap=N]
ByteArray    the bytes as they are (Kafka prints the array's identity, which tells nothing)
Void         nothing: it takes null only, and a formatter never hands it null
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from kafkapy.errors import FormatError
from kafkapy.formats.java_text import java_utf8

Deserializer = Callable[[bytes], bytes]
PACKAGE = "org.apache.kafka.common.serialization."
SUFFIX = "Deserializer"


def deserializer(name: str, encoding: str | None = None) -> Deserializer | None:
    """The deserializer of this class, with its package or without; None for one that kafkapy does not know, or strings
    in an encoding that it does not know."""
    kind = name.removeprefix(PACKAGE).removesuffix(SUFFIX)
    return _string(encoding) if kind == "String" and encoding is not None else _DESERIALIZERS.get(kind)


def _string(encoding: str) -> Deserializer | None:
    if encoding.upper() in ("UTF-8", "UTF8"):
        return java_utf8
    if encoding.upper() == "UTF-16":
        return _utf16
    try:
        str(b" ", encoding, "replace")
    except LookupError:
        return None
    return lambda data: str(data, encoding, "replace").encode()


def _utf16(data: bytes) -> bytes:
    """Big-endian where nothing says otherwise; Python would take what the machine has."""
    has_mark = data.startswith((b"\xfe\xff", b"\xff\xfe"))
    return str(data, "utf-16" if has_mark else "utf-16-be", "replace").encode()


def _number(kind: str, code: str) -> Deserializer:
    layout = struct.Struct(">" + code)

    def decode(data: bytes) -> bytes:
        number: int = layout.unpack(_sized(data, layout.size, kind))[0]
        return b"%d" % number

    return decode


def _sized(data: bytes, size: int, kind: str) -> bytes:
    if len(data) != size:
        raise FormatError(f"Size of data received by {kind}{SUFFIX} is not {size}")
    return data


def _float(data: bytes) -> bytes:
    value: float = struct.unpack(">f", _sized(data, 4, "Float"))[0]
    # Java wants two digits at least: 1.4E-45, not 1.0E-45
    shortest = (text for digits in range(2, 10) if _is_float(text := f"{value:.{digits}g}", data))
    return _decimal(float(next(shortest, value)))


def _is_float(text: str, data: bytes) -> bool:
    try:
        return struct.pack(">f", float(text)) == data
    except OverflowError:  # the largest float, rounded up
        return False


def _double(data: bytes) -> bytes:
    return _decimal(struct.unpack(">d", _sized(data, 8, "Double"))[0])


def _decimal(value: float) -> bytes:
    from kafkapy.formats.message_json import java_double

    return java_double(value).encode()


def _boolean(data: bytes) -> bytes:
    if _sized(data, 1, "Boolean") not in (b"\0", b"\1"):
        raise FormatError(f"Unexpected byte received by BooleanDeserializer: {struct.unpack('b', data)[0]}")
    return b"true" if data == b"\1" else b"false"


def _uuid(data: bytes) -> bytes:
    from uuid import UUID

    text = java_utf8(data).decode()
    try:
        if len(text) != 36:
            raise ValueError
        return str(UUID(text)).encode()
    except ValueError:
        raise FormatError("Error parsing data into UUID") from None


def _bytes(data: bytes) -> bytes:
    return b"".join(b"%c" % c if 0x20 <= c <= 0x7E and c != 0x5C else b"\\x%02X" % c for c in data)


def _byte_buffer(data: bytes) -> bytes:
    return b"java.nio.HeapByteBuffer[pos=0 lim=%d cap=%d]" % (len(data), len(data))


def _void(_: bytes) -> bytes:
    raise FormatError("Data should be null for a VoidDeserializer.")


_DESERIALIZERS: dict[str, Deserializer] = {
    "String": java_utf8,
    "Integer": _number("Integer", "i"),
    "Long": _number("Long", "q"),
    "Short": _number("Short", "h"),
    "Float": _float,
    "Double": _double,
    "Boolean": _boolean,
    "UUID": _uuid,
    "Bytes": _bytes,
    "ByteBuffer": _byte_buffer,
    "ByteArray": bytes,
    "Void": _void,
}
NAMES = tuple(_DESERIALIZERS)
