"""The frame around a record of the KRaft metadata log, and around one of __remote_log_metadata:

    uvarint frame version (1), uvarint api key, uvarint version, the message

The record has no key. Nothing may follow the message. A broker that cannot read a metadata record stops, so every
failure here is final; the errors are Kafka's own words, and the cause is chained.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkapy.errors import SchemaError
from kafkapy.formats import message
from kafkapy.formats.message import Value
from kafkapy.formats.message_reader import Buffer, MessageReader
from kafkapy.formats.message_writer import write_unsigned_varint
from kafkapy.formats.schema import Schema, schemas, schemas_by_key

METADATA = "metadata"
REMOTE_LOG_METADATA = "storage"

_FRAME_VERSION = 1
_INT16_MAX = 0x7FFF


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record by Kafka's name for it, e.g. ``TopicRecord``."""

    name: str
    version: int
    value: Value


def decode(buffer: Buffer | None, area: str = METADATA) -> MetadataRecord:
    """The record in a log record's value."""
    reader = MessageReader(b"" if buffer is None else buffer)
    _check_frame_version(_read_int16(reader, "frame version"))
    api_key = _read_int16(reader, "type")
    version = _read_int16(reader, "version")
    schema = schemas_by_key(area, "metadata").get(api_key)
    if schema is None:
        raise SchemaError(f"org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id {api_key}")
    try:
        value = message.read(schema, version, reader)
    except SchemaError as error:
        raise SchemaError(f"Failed to deserialize record with type {api_key}") from error
    if reader.remaining > 0:
        raise SchemaError(f"Found {reader.remaining} byte(s) of garbage after {api_key}")
    return MetadataRecord(schema.name, version, value)


def encode(record: MetadataRecord, area: str = METADATA) -> bytes:
    schema = record_schema(record.name, area)
    assert schema.api_key is not None
    out = bytearray()
    for number in (_FRAME_VERSION, schema.api_key, record.version):
        write_unsigned_varint(out, number)
    return bytes(out) + message.encode(schema, record.version, record.value)


def record_schema(name: str, area: str = METADATA) -> Schema:
    return schemas(area)[name]


def type_name(name: str) -> str:
    """Kafka's enum constant for a record: TopicRecord is TOPIC_RECORD."""
    return "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in name).removeprefix("_")


def _check_frame_version(version: int) -> None:
    if version == 0:
        raise SchemaError(
            "Could not deserialize metadata record with frame version 0. "
            "Note that upgrades from the preview release of KRaft in 2.8 to newer versions are not supported."
        )
    if version != _FRAME_VERSION:
        raise SchemaError(
            f"Could not deserialize metadata record due to unknown frame version {version}"
            f"(only frame version {_FRAME_VERSION} is supported)"
        )


def _read_int16(reader: MessageReader, entity: str) -> int:
    try:
        value = reader.unsigned_varint()
    except SchemaError as error:
        raise SchemaError(f"Error while reading {entity}") from error
    if value > _INT16_MAX:
        raise SchemaError(f"Value for {entity} was too large.")
    # Java casts to short, so a varint that is negative as an int loses its upper bits here.
    return (value + 0x8000 & 0xFFFF) - 0x8000
