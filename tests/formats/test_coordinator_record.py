"""Framing of coordinator and metadata records: round trips, and Kafka's words for what does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.errors import SchemaError
from kafkapy.formats import metadata_record
from kafkapy.formats.coordinator_record import (
    GROUP,
    SHARE,
    TRANSACTION,
    CoordinatorRecord,
    UnknownRecordTypeError,
    UnknownRecordVersionError,
    decode,
    encode_record,
    key_schema,
    record_type,
    value_schema,
)
from kafkapy.formats.metadata_record import METADATA, REMOTE_LOG_METADATA, MetadataRecord, type_name
from kafkapy.formats.schema import schemas
from tests.formats.message_values import message_values

EVERY_RECORD = [
    (area, schema.name.removesuffix("Value"), version)
    for area in (GROUP, TRANSACTION, SHARE)
    for schema in schemas(area).values()
    if schema.type == "coordinator-value"
    for version in schema.valid_versions
]
EVERY_METADATA_RECORD = [
    (area, schema.name, version)
    for area in (METADATA, REMOTE_LOG_METADATA)
    for schema in schemas(area).values()
    if schema.type == "metadata"
    for version in schema.valid_versions
]


@pytest.mark.parametrize(("area", "name", "version"), EVERY_RECORD)
@settings(max_examples=10)
@given(data=st.data())
def test_coordinator_record_round_trip(area: str, name: str, version: int, data: st.DataObject) -> None:
    key = data.draw(message_values(key_schema(area, name), 0))
    value = data.draw(message_values(value_schema(area, name), version))
    for record in (CoordinatorRecord(name, key, version, value), CoordinatorRecord(name, key)):
        key_bytes, value_bytes = encode_record(area, record)
        assert int.from_bytes(key_bytes[:2], "big") == record_type(area, name)
        assert decode(area, key_bytes, value_bytes) == record


def test_known_bytes_of_a_tombstone() -> None:
    record = CoordinatorRecord("GroupMetadata", {"group": "gone"})
    assert encode_record(GROUP, record) == (bytes.fromhex("00020004676f6e65"), None)


def test_every_key_has_its_value() -> None:
    for area in (GROUP, TRANSACTION, SHARE):
        names = {schema.name.removesuffix("Key") for schema in schemas(area).values() if schema.name.endswith("Key")}
        assert {f"{name}{part}" for name in names for part in ("Key", "Value")} == set(schemas(area))


def test_unknown_type_and_version_have_errors_of_their_own() -> None:
    with pytest.raises(UnknownRecordTypeError, match=r"^Found an unknown record type 9$") as unknown_type:
        decode(GROUP, b"\x00\x09", None)
    assert unknown_type.value.record_type == 9
    with pytest.raises(UnknownRecordVersionError, match=r"^Found an unknown record version 2 for 0 type$") as version:
        decode(TRANSACTION, b"\x00\x00\x00\x01t", b"\x00\x02")
    assert (version.value.record_type, version.value.version) == (0, 2)
    with pytest.raises(UnknownRecordVersionError):
        decode(TRANSACTION, b"\x00\x00\x00\x01t", b"\xff\xff")


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (b"\x00", None, "Could not read version from key's buffer."),
        (b"\x00\x00\x00\x01t", b"\x00", "Could not read version from value's buffer."),
        (b"\x00\x00", None, "Could not read record with version 0 from key's buffer due to: null."),
        (
            b"\x00\x00\x00\x01t",
            b"\x00\x01" + bytes(15) + b"\x09",
            "Could not read record with version 1 from value's buffer due to: "
            "Tried to allocate a collection of size 8, but there are only 0 bytes remaining..",
        ),
    ],
)
def test_damage_is_told_in_kafkas_words(key: bytes, value: bytes | None, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        decode(TRANSACTION, key, value)
    assert str(caught.value) == text


def test_bytes_behind_a_message_are_not_looked_at() -> None:
    key, value = encode_record(TRANSACTION, CoordinatorRecord("TransactionLog", {"transactionalId": "t"}, 0, {}))
    assert value is not None
    assert decode(TRANSACTION, key + b"junk", value + b"junk") == decode(TRANSACTION, key, value)


@pytest.mark.parametrize(("area", "name", "version"), EVERY_METADATA_RECORD)
@settings(max_examples=10)
@given(data=st.data())
def test_metadata_record_round_trip(area: str, name: str, version: int, data: st.DataObject) -> None:
    value = data.draw(message_values(metadata_record.record_schema(name, area), version))
    record = MetadataRecord(name, version, value)
    encoded = metadata_record.encode(record, area)
    assert encoded[0] == 1
    assert metadata_record.decode(encoded, area) == record
    with pytest.raises(SchemaError, match=r"^Found 1 byte\(s\) of garbage after "):
        metadata_record.decode(encoded + b"x", area)


def test_frame_version_of_the_preview_release() -> None:
    with pytest.raises(SchemaError, match=r"upgrades from the preview release of KRaft in 2\.8 "):
        metadata_record.decode(b"\x00")


def test_a_negative_varint_becomes_a_short_as_in_java() -> None:
    with pytest.raises(SchemaError, match=r"unknown frame version -1\(only"):
        metadata_record.decode(b"\xff\xff\xff\xff\x0f")


def test_type_names_are_kafkas_constants() -> None:
    assert [type_name(name) for name in ("TopicRecord", "NoOpRecord", "ZkMigrationStateRecord", "ClearElrRecord")] == [
        "TOPIC_RECORD",
        "NO_OP_RECORD",
        "ZK_MIGRATION_STATE_RECORD",
        "CLEAR_ELR_RECORD",
    ]
