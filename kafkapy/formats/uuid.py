"""Kafka's 128-bit ids as the text Kafka prints: 22 characters of base64url without padding.

Everywhere in kafkapy an id is this text; bytes appear only on disk (16, most significant first).
The reserved ids are never given to a topic or a directory; what they mean depends on where they stand.
"""

from __future__ import annotations

import os
from binascii import Error, a2b_base64, b2a_base64

from kafkapy.errors import SchemaError

ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
ONE_UUID = "AAAAAAAAAAAAAAAAAAAAAQ"

DIRECTORY_MIGRATING = ZERO_UUID
DIRECTORY_UNASSIGNED = ONE_UUID
DIRECTORY_LOST = "AAAAAAAAAAAAAAAAAAAAAg"

_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_+/", b"+/!!")
_LONGEST_TEXT = 24


def uuid_text(data: bytes) -> str:
    """The text of an id of 16 bytes."""
    return b2a_base64(data, newline=False).translate(_TO_URL)[:22].decode("ascii")


def uuid_bytes(text: str) -> bytes:
    """The 16 bytes of an id's text; padding is accepted, as Kafka accepts it."""
    if len(text) > _LONGEST_TEXT:
        prefix = text[:_LONGEST_TEXT]
        raise SchemaError(f"Input string with prefix `{prefix}` is too long to be decoded as a base64 UUID")
    try:
        stripped = text.rstrip("=").encode("ascii").translate(_FROM_URL)
        data = a2b_base64(stripped + b"=" * (-len(stripped) % 4), strict_mode=True)
    except (Error, UnicodeEncodeError):
        raise SchemaError(f"Input string `{text}` is not a base64 UUID") from None
    if len(data) != 16:
        raise SchemaError(
            f"Input string `{text}` decoded as {len(data)} bytes, "
            "which is not equal to the expected 16 bytes of a base64-encoded UUID"
        )
    return data


def random_uuid() -> str:
    """A new id of type 4. Kafka never makes one whose text begins with a dash: it would look like an option."""
    while True:
        data = bytearray(os.urandom(16))
        data[6] = data[6] & 0x0F | 0x40
        data[8] = data[8] & 0x3F | 0x80
        text = uuid_text(bytes(data))
        if not text.startswith("-"):
            return text
