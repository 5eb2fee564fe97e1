"""What DumpLogSegments prints for the key and the payload of a record, for each of its decoder options.

A decoder gives two texts; None means that the part is not printed. A record that does not decode is no failure of
the dump: its line says so and the dump goes on. Only a coordinator record without a key stops it, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkapy.errors import CorruptRecordError, SchemaError
from kafkapy.formats import coordinator_record, message, metadata_record
from kafkapy.formats.coordinator_record import CoordinatorRecord, UnknownRecordTypeError
from kafkapy.formats.message_json import json_text, json_tree
from kafkapy.formats.message_reader import MessageReader, java_message
from kafkapy.formats.remote_log_metadata import remote_log_metadata_text
from kafkapy.formats.schema import schemas

RecordDecoder = Callable[[int, bytes | None, bytes | None], tuple[str | None, str | None]]

_TOMBSTONE = "<DELETE>"
# Kafka does not look whether there is a value, so what it prints is the Java runtime's text.
_NO_VALUE = (
    'Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of '
    '"org.apache.kafka.common.record.internal.Record.value()" is null'
)
_CONSUMER_PROTOCOL = {"subscription": "ConsumerProtocolSubscription", "assignment": "ConsumerProtocolAssignment"}


def decode_offsets(offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
    """A record of __consumer_offsets; the bytes inside a classic consumer group are opened too."""
    return _decode_coordinator(coordinator_record.GROUP, offset, key, value)


def decode_transaction_log(offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
    """A record of __transaction_state."""
    return _decode_coordinator(coordinator_record.TRANSACTION, offset, key, value)


def decode_share_group_state(offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
    """A record of __share_group_state."""
    return _decode_coordinator(coordinator_record.SHARE, offset, key, value)


def decode_cluster_metadata(offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
    """A record of __cluster_metadata or of a snapshot of it."""
    try:
        record = metadata_record.decode(value)
    except SchemaError as error:
        return None, f"Error at {offset}, skipping. {java_message(error)}"
    schema = metadata_record.record_schema(record.name)
    return None, json_text(
        {
            "type": metadata_record.type_name(record.name),
            "version": record.version,
            "data": json_tree(schema, record.version, record.value),
        }
    )


def decode_remote_log_metadata(offset: int, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
    """A record of __remote_log_metadata."""
    if value is None:
        return None, f"Error at offset {offset}, skipping. {_NO_VALUE}"
    try:
        record = metadata_record.decode(value, metadata_record.REMOTE_LOG_METADATA)
        return None, remote_log_metadata_text(record)
    except SchemaError as error:
        return None, f"Error at offset {offset}, skipping. {java_message(error)}"


RECORD_DECODERS: dict[str, RecordDecoder] = {
    "offsets": decode_offsets,
    "transaction-log": decode_transaction_log,
    "cluster-metadata": decode_cluster_metadata,
    "remote-log-metadata": decode_remote_log_metadata,
    "share-group-state": decode_share_group_state,
}


def _decode_coordinator(
    area: str, offset: int, key: bytes | None, value: bytes | None
) -> tuple[str | None, str | None]:
    if key is None:
        raise CorruptRecordError(
            f"Failed to decode message at offset {offset} using the specified decoder (message had a missing key)"
        )
    try:
        record = coordinator_record.decode(area, key, value)
    except UnknownRecordTypeError as error:
        return f"Unknown record type {error.record_type} at offset {offset}, skipping.", None
    except SchemaError as error:
        return f"Error at offset {offset}, skipping. {java_message(error)}", None
    return _key_text(area, record), _value_text(area, record)


def _key_text(area: str, record: CoordinatorRecord) -> str:
    # Kafka 4.3.1 puts the type and the version here as JSON strings, though its console formatters use numbers.
    data = json_tree(coordinator_record.key_schema(area, record.name), 0, record.key)
    return json_text({"type": str(coordinator_record.record_type(area, record.name)), "data": data})


def _value_text(area: str, record: CoordinatorRecord) -> str:
    if record.version is None or record.value is None:
        return _TOMBSTONE
    data = json_tree(coordinator_record.value_schema(area, record.name), record.version, record.value)
    if record.name == "GroupMetadata" and data["protocolType"] == "consumer":
        for member in data["members"]:
            _open_consumer_protocol(member)
    return json_text({"version": str(record.version), "data": data})


def _open_consumer_protocol(member: dict[str, Any]) -> None:
    """Puts trees in the place of a member's bytes, and leaves bytes that are not what they should be."""
    for field, name in _CONSUMER_PROTOCOL.items():
        schema = schemas("consumer_protocol")[name]
        reader = MessageReader(member[field])
        try:
            version = reader.int16()
            member[field] = json_tree(schema, version, message.read(schema, version, reader))
        except SchemaError:
            continue
