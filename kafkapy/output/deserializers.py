r"""Kafka's deserializers, as the text that Java's ``toString`` makes of what they give.

class        prints
String       UTF-8, as Java decodes it
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


def deserializer(name: str) -> Deserializer | None:
    """The deserializer of this class, with its package or without; None for one that kafkapy does not know."""
    return _DESERIALIZERS.get(name.removeprefix(PACKAGE).removesuffix(SUFFIX))


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
    shortest = (text for digits in range(1, 10) if _is_float(text := f"{value:.{digits}g}", data))
    return _java_decimal(next(shortest, repr(value)))


def _is_float(text: str, data: bytes) -> bool:
    try:
        return struct.pack(">f", float(text)) == data
    except OverflowError:  # the largest float, rounded up
        return False


def _double(data: bytes) -> bytes:
    return _java_decimal(repr(struct.unpack(">d", _sized(data, 8, "Double"))[0]))


def _java_decimal(text: str) -> bytes:
    """A decimal as Double.toString writes it: plain from 0.001 up to ten million, else with an exponent."""
    from decimal import Decimal

    value = Decimal(text)
    if value.is_nan():
        return b"NaN"
    sign = "-" if value.is_signed() else ""
    if value.is_infinite():
        return f"{sign}Infinity".encode()
    if not value:
        return f"{sign}0.0".encode()
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    exponent = value.adjusted()
    if -3 <= exponent < 7:
        plain = f"{abs(value):f}"
        whole, _, fraction = plain.partition(".")
        return f"{sign}{whole}.{fraction.rstrip('0') or '0'}".encode()
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}".encode()


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
