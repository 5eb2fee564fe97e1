"""Text as Java makes it of bytes, since Kafka's tools print payloads through ``new String(bytes, UTF_8)``.

Java's decoder puts one U+FFFD where Python's ``errors="replace"`` does, except for an encoded surrogate (ED A0..BF
80..BF, or what is left of one at the end): that is one U+FFFD in Java and two or three in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()


def java_utf8(data: bytes) -> bytes:
    """``data`` as UTF-8 that Java's decoder and encoder would make of it."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub(_REPLACEMENT, data).decode("utf-8", "replace").encode()
    return data


def complete_length(data: bytes | memoryview) -> int:
    """How many bytes of ``data`` can be decoded now when more may follow: a sequence begun at the end is left out.

    A byte of 0xC0 or more always begins a sequence, also a malformed one, so cutting before it changes nothing.
    """
    size = len(data)
    for back in range(1, min(3, size) + 1):
        byte = data[size - back]
        if byte < 0x80:
            return size
        if byte >= 0xC0:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
            return size if back >= needed else size - back
    return size


def java_utf8_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What ``java_utf8`` makes of the pieces put together, in pieces."""
    held = b""
    for piece in pieces:
        data = held + piece
        cut = complete_length(data)
        held = data[cut:]
        yield java_utf8(data[:cut])
    yield java_utf8(held)
