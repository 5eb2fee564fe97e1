"""Decoders of keys and values: Kafka's four classes, and short names for what people look for in a payload.

name           class of Kafka's    prints
string         StringDecoder       UTF-8, as Java decodes it
bytes, hex     DefaultDecoder      hexadecimal digits (Kafka prints the array's identity, which tells nothing)
int            IntegerDecoder      a big-endian 32-bit number
long           LongDecoder         a big-endian 64-bit number
base64                             base64
json                               the document on one line
utf-8-escaped                      UTF-8 with control characters and bad bytes as \\xNN
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from kafkapy.errors import CorruptRecordError, UsageError
from kafkapy.formats.java_text import java_utf8

PayloadDecoder = Callable[[bytes], str]
KAFKA_PACKAGES = ("org.apache.kafka.tools.api.", "kafka.serializer.")


def payload_decoder(name: str) -> PayloadDecoder:
    """The decoder of that name or class."""
    known = _CLASSES.get(_without_package(name)) or _NAMES.get(name.lower())
    if known is None:
        raise UsageError(
            f"no decoder '{name}': kafkapy runs no Java classes; use one of {', '.join(_NAMES)}, "
            f"or a class of Kafka's own: {', '.join(_CLASSES)}"
        )
    return known


def is_string_decoder(name: str) -> bool:
    """Whether this is the default decoder."""
    return payload_decoder(name) is _string


def _without_package(name: str) -> str:
    for package in KAFKA_PACKAGES:
        if name.startswith(package):
            return name[len(package) :]
    return name


def _string(data: bytes) -> str:
    return java_utf8(data).decode()


def _hex(data: bytes) -> str:
    return data.hex()


def _number(data: bytes, size: int, kind: str) -> str:
    if len(data) < size:
        raise CorruptRecordError(f"a payload of {len(data)} bytes is not of type {kind}: choose another decoder")
    return str(int.from_bytes(data[:size], "big", signed=True))


def _int(data: bytes) -> str:
    return _number(data, 4, "int")


def _long(data: bytes) -> str:
    return _number(data, 8, "long")


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def _json(data: bytes) -> str:
    import json

    try:
        return json.dumps(json.loads(data), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise CorruptRecordError("a payload is not JSON: choose another decoder") from None


def _utf8_escaped(data: bytes) -> str:
    text = data.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_NAMES: dict[str, PayloadDecoder] = {
    "string": _string,
    "bytes": _hex,
    "hex": _hex,
    "base64": _base64,
    "int": _int,
    "long": _long,
    "json": _json,
    "utf-8-escaped": _utf8_escaped,
}
_CLASSES: dict[str, PayloadDecoder] = {
    "StringDecoder": _string,
    "DefaultDecoder": _hex,
    "IntegerDecoder": _int,
    "LongDecoder": _long,
}
NAMES = tuple(_NAMES)
