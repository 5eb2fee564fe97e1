"""Records of the topics the coordinators keep their state in: __consumer_offsets, __transaction_state and
__share_group_state.

    key    int16 record type, then the key message (version 0, never flexible)
    value  int16 version, then the value message; a record without a value is a tombstone of its key

Bytes behind either message are not looked at. A type or a value version from a newer Kafka has an error of its own,
because whoever replays a log may step over it; anything else that does not fit is damage.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkapy.errors import SchemaError
from kafkapy.formats.message import Value, encode, read
from kafkapy.formats.message_reader import BufferUnderflowError, MessageReader, java_message
from kafkapy.formats.schema import Schema, schemas, schemas_by_key

GROUP = "group_coordinator"
TRANSACTION = "transaction_coordinator"
SHARE = "share_coordinator"

_KEY_VERSION = 0


class UnknownRecordTypeError(SchemaError):
    def __init__(self, record_type: int) -> None:
        super().__init__(f"Found an unknown record type {record_type}")
        self.record_type = record_type


class UnknownRecordVersionError(SchemaError):
    def __init__(self, record_type: int, version: int) -> None:
        super().__init__(f"Found an unknown record version {version} for {record_type} type")
        self.record_type = record_type
        self.version = version


@dataclass(frozen=True, slots=True)
class CoordinatorRecord:
    """A record by Kafka's name for it, e.g. ``OffsetCommit``. A tombstone has neither version nor value."""

    name: str
    key: Value
    version: int | None = None
    value: Value | None = None


def decode(area: str, key: bytes, value: bytes | None) -> CoordinatorRecord:
    """A record of an area (GROUP, TRANSACTION or SHARE)."""
    key_reader = MessageReader(key)
    record_type = _read_prefix(key_reader, "key")
    key_schema = schemas_by_key(area, "coordinator-key").get(record_type)
    if key_schema is None:
        raise UnknownRecordTypeError(record_type)
    name = key_schema.name.removesuffix("Key")
    # Kafka reads a key "at the version of its type", which the errors then speak of; the layout is always version 0.
    key_message = _read_message(key_schema, _KEY_VERSION, key_reader, record_type, "key")
    if value is None:
        return CoordinatorRecord(name, key_message)

    value_schema = schemas_by_key(area, "coordinator-value")[record_type]
    value_reader = MessageReader(value)
    version = _read_prefix(value_reader, "value")
    if version not in value_schema.valid_versions:
        raise UnknownRecordVersionError(record_type, version)
    value_message = _read_message(value_schema, version, value_reader, version, "value")
    return CoordinatorRecord(name, key_message, version, value_message)


def encode_record(area: str, record: CoordinatorRecord) -> tuple[bytes, bytes | None]:
    """Key and value; the value of a tombstone is None."""
    schema = key_schema(area, record.name)
    prefix = record_type(area, record.name).to_bytes(2, "big", signed=True)
    key = prefix + encode(schema, _KEY_VERSION, record.key)
    if record.version is None or record.value is None:
        return key, None
    message = encode(value_schema(area, record.name), record.version, record.value)
    return key, record.version.to_bytes(2, "big", signed=True) + message


def key_schema(area: str, name: str) -> Schema:
    return schemas(area)[f"{name}Key"]


def value_schema(area: str, name: str) -> Schema:
    return schemas(area)[f"{name}Value"]


def record_type(area: str, name: str) -> int:
    """The number before the key, e.g. 1 for ``OffsetCommit``."""
    api_key = key_schema(area, name).api_key
    assert api_key is not None
    return api_key


def _read_prefix(reader: MessageReader, part: str) -> int:
    try:
        return reader.int16()
    except BufferUnderflowError:
        raise SchemaError(f"Could not read version from {part}'s buffer.") from None


def _read_message(schema: Schema, version: int, reader: MessageReader, spoken_version: int, part: str) -> Value:
    try:
        return read(schema, version, reader)
    except SchemaError as error:
        raise SchemaError(
            f"Could not read record with version {spoken_version} from {part}'s buffer due to: {java_message(error)}."
        ) from error
