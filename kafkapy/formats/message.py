"""Messages: bytes to values and back, for every schema and version of the tables, by one interpreter.

A value is a plain dict with every field of its struct in schema order, under the name Kafka's JSON gives it. Numbers,
strings, booleans and lists are Python's own, bytes are ``bytes``, an id is its text of 22 characters, null is None.
A field that the version lacks, or a tagged field that was not written, holds its default. Tagged fields that no
schema tells of are kept under ``_unknownTaggedFields`` as (tag, bytes) in the order they came, and written again.

Every failure is a SchemaError, with Kafka's own words where Kafka has some: see ``message_reader.java_message``.
"""

from __future__ import annotations

from functools import lru_cache

from kafkapy.formats.message_decoder import UNKNOWN_TAGGED_FIELDS, Value, message_decoder
from kafkapy.formats.message_encoder import message_encoder
from kafkapy.formats.message_reader import Buffer, MessageReader
from kafkapy.formats.schema import Schema

__all__ = ["UNKNOWN_TAGGED_FIELDS", "Value", "decode", "encode", "read"]

# Bounded, because a damaged log can ask for every version an int16 has.
_decoder = lru_cache(maxsize=512)(message_decoder)
_encoder = lru_cache(maxsize=512)(message_encoder)


def read(schema: Schema, version: int, reader: MessageReader) -> Value:
    """The message at the reader's position, which then stands behind it."""
    return _decoder(schema, version)(reader)


def decode(schema: Schema, version: int, buffer: Buffer, position: int = 0) -> Value:
    """The message at ``position``; what follows it is not looked at."""
    return read(schema, version, MessageReader(buffer, position))


def encode(schema: Schema, version: int, value: Value) -> bytes:
    """The bytes of a value; fields that it leaves out have their default."""
    out = bytearray()
    _encoder(schema, version)(out, value)
    return bytes(out)
