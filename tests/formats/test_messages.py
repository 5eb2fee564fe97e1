"""Invariants of the interpreter, for every message and version:

- a value comes back from its bytes, and its bytes from the value, unknown tagged fields among them;
- bytes that end early are a SchemaError;
- bytes that are flipped are a SchemaError or a value that can be written and read again, nothing else.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.errors import SchemaError
from kafkapy.formats.message import UNKNOWN_TAGGED_FIELDS, decode, encode
from kafkapy.formats.message_reader import MessageReader, decode_utf8, java_message
from kafkapy.formats.message_writer import write_unsigned_varint
from kafkapy.formats.schema import Schema, parse_table, schemas
from kafkapy.formats.uuid import ZERO_UUID, random_uuid, uuid_bytes, uuid_text
from tests.formats.message_values import EVERY_VERSION, EVERY_VERSION_IDS, message_values

every_version = pytest.mark.parametrize(("schema", "version"), EVERY_VERSION, ids=EVERY_VERSION_IDS)

TOPIC = schemas("metadata")["TopicRecord"]
PARTITION_CHANGE = schemas("metadata")["PartitionChangeRecord"]
OFFSET_KEY = schemas("group_coordinator")["OffsetCommitKey"]
OFFSET_VALUE = schemas("group_coordinator")["OffsetCommitValue"]
MEMBER = schemas("group_coordinator")["ConsumerGroupMemberMetadataValue"]


@every_version
@settings(max_examples=20)
@given(data=st.data())
def test_round_trip(schema: Schema, version: int, data: st.DataObject) -> None:
    value = data.draw(message_values(schema, version))
    encoded = encode(schema, version, value)
    decoded = decode(schema, version, encoded)
    assert decoded == value
    assert list(decoded)[: len(schema.struct.fields)] == [field.name for field in schema.struct.fields]
    assert encode(schema, version, decoded) == encoded


@every_version
@settings(max_examples=3)
@given(data=st.data())
def test_truncation_is_a_schema_error(schema: Schema, version: int, data: st.DataObject) -> None:
    encoded = encode(schema, version, data.draw(message_values(schema, version)))
    for length in range(len(encoded)):
        with pytest.raises(SchemaError):
            decode(schema, version, encoded[:length])


@every_version
@settings(max_examples=10)
@given(data=st.data())
def test_flipped_bits_give_a_schema_error_or_a_value(schema: Schema, version: int, data: st.DataObject) -> None:
    damaged = bytearray(encode(schema, version, data.draw(message_values(schema, version))))
    if damaged:
        for bit in data.draw(st.lists(st.integers(0, len(damaged) * 8 - 1), min_size=1, max_size=4)):
            damaged[bit // 8] ^= 1 << bit % 8
    with contextlib.suppress(SchemaError):
        encoded = encode(schema, version, decode(schema, version, bytes(damaged)))
        assert encode(schema, version, decode(schema, version, encoded)) == encoded


@every_version
@settings(max_examples=10)
@given(noise=st.binary(max_size=40))
def test_noise_gives_a_schema_error_or_a_value(schema: Schema, version: int, noise: bytes) -> None:
    with contextlib.suppress(SchemaError):
        decode(schema, version, noise)


def test_known_bytes_of_a_flexible_message() -> None:
    value = {"name": "foo", "topicId": "AAAAAAAAAAAAAAAAAAAAAg"}
    encoded = b"\x04foo" + bytes(15) + b"\x02" + b"\x00"
    assert encode(TOPIC, 0, value) == encoded
    assert decode(TOPIC, 0, b"xx" + encoded + b"yy", 2) == value
    assert decode(TOPIC, 0, memoryview(encoded)) == value


def test_known_bytes_of_an_old_message() -> None:
    value = {"group": "g", "topic": "tt", "partition": 3}
    assert encode(OFFSET_KEY, 0, value) == b"\x00\x01g\x00\x02tt\x00\x00\x00\x03"


def test_tagged_fields_are_written_in_the_order_of_tags_and_only_off_their_default() -> None:
    value = {"partitionId": 1, "leader": 4, "isr": [], "directories": None, UNKNOWN_TAGGED_FIELDS: [(3000, b"z")]}
    encoded = encode(PARTITION_CHANGE, 2, value)
    assert encoded == b"\x00\x00\x00\x01" + bytes(16) + b"\x03\x00\x01\x01\x01\x04\x00\x00\x00\x04\xb8\x17\x01z"
    decoded = decode(PARTITION_CHANGE, 2, encoded)
    assert decoded["topicId"] == ZERO_UUID
    assert decoded["replicas"] is None
    assert decoded[UNKNOWN_TAGGED_FIELDS] == [(3000, b"z")]


def test_tagged_struct_without_a_default_is_its_own_defaults() -> None:
    value = decode(MEMBER, 0, encode(MEMBER, 0, {}))
    assert value["classicMemberMetadata"] == {"sessionTimeoutMs": 0, "supportedProtocols": []}
    assert encode(MEMBER, 0, {"classicMemberMetadata": {}}) == encode(MEMBER, 0, {})
    assert encode(MEMBER, 0, {"classicMemberMetadata": None}).endswith(b"\x01\x00\x01\x00")


def test_defaults_are_not_shared_between_values() -> None:
    encoded = encode(MEMBER, 0, {})
    decode(MEMBER, 0, encoded)["classicMemberMetadata"]["supportedProtocols"].append("x")
    assert decode(MEMBER, 0, encoded)["classicMemberMetadata"]["supportedProtocols"] == []


def test_ignorable_fields_are_dropped_and_others_refused() -> None:
    value = {"offset": 7, "leaderEpoch": 5, "metadata": "", "commitTimestamp": 1, "topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}
    assert decode(OFFSET_VALUE, 0, encode(OFFSET_VALUE, 0, value))["leaderEpoch"] == -1
    with pytest.raises(SchemaError, match=r"^Attempted to write a non-default directories at version 0$"):
        encode(PARTITION_CHANGE, 0, {"directories": []})


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (b"\x00", "null"),
        (b"\xff\xff", "non-nullable field group was serialized as null"),
        (b"\x00\x05g", "Error reading byte array of 5 byte(s): only 1 byte(s) available"),
    ],
)
def test_errors_of_an_old_message_are_kafkas_words(encoded: bytes, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        decode(OFFSET_KEY, 0, encoded)
    assert java_message(caught.value) == text


_CHANGE_HEAD = bytes(20)


@pytest.mark.parametrize(
    ("schema", "version", "encoded", "text"),
    [
        (TOPIC, 0, b"\x00", "non-nullable field name was serialized as null"),
        (TOPIC, 0, b"\x81\x80\x02", "string field name had invalid length 32768"),
        (TOPIC, 0, b"\x80\x80\x80\x80\x08", "string field name had invalid length 2147483647"),
        (
            TOPIC,
            0,
            b"\xff\xff\xff\xff\xff",
            "Varint is too long, the most significant bit in the 5th byte is set, converted value: ffffffff",
        ),
        (TOPIC, 0, b"\x01" + bytes(16) + b"\x01\x05\xff\xff\xff\xff\x0f", "-1"),
        (PARTITION_CHANGE, 1, _CHANGE_HEAD + b"\x01\x06\x00", "Tag 6 is not valid for version 1"),
        (
            PARTITION_CHANGE,
            0,
            _CHANGE_HEAD + b"\x01\x00\x00\x80\x80\x80\x80\x08",
            "Tried to allocate a collection of size 2147483647, but there are only 0 bytes remaining.",
        ),
        (
            MEMBER,
            0,
            b"\x00\x00\x01\x01\x03\x00",
            "non-nullable field subscribedTopicNames element was serialized as null",
        ),
    ],
)
def test_errors_of_a_flexible_message_are_kafkas_words(schema: Schema, version: int, encoded: bytes, text: str) -> None:
    padding = b"\x00" * 8 if "element" in text else b""
    with pytest.raises(SchemaError) as caught:
        decode(schema, version, encoded + padding)
    assert java_message(caught.value) == text


def test_a_later_version_is_read_as_the_last_one_but_not_into_a_struct_of_one_field() -> None:
    assert decode(TOPIC, 9, encode(TOPIC, 0, {"name": "x"}))["name"] == "x"
    quota = schemas("metadata")["ClientQuotaRecord"]
    encoded = encode(quota, 0, {"entity": [{"entityType": "user", "entityName": None}]})
    with pytest.raises(SchemaError, match=r"^Can't read version 3 of EntityData$"):
        decode(quota, 3, encoded)


@pytest.mark.parametrize(
    "value",
    [
        {"nam": "x"},
        {"name": None},
        {"name": 5},
        {"name": "x" * 32768},
        {"topicId": "short"},
        {"topicId": b"x" * 16},
        {"topicId": "A" * 25},
        {UNKNOWN_TAGGED_FIELDS: [(5, b""), (5, b"")]},
        {UNKNOWN_TAGGED_FIELDS: [(5, b""), (4, b"")]},
        [],
    ],
)
def test_values_that_do_not_fit_are_schema_errors(value: Any) -> None:
    with pytest.raises(SchemaError):
        encode(TOPIC, 0, value)


def test_other_values_that_do_not_fit() -> None:
    misfits: list[tuple[Schema, int, dict[str, Any]]] = [
        (TOPIC, 1, {}),
        (OFFSET_KEY, 0, {"partition": 2**31}),
        (OFFSET_KEY, 0, {"partition": "1"}),
        (OFFSET_KEY, 0, {UNKNOWN_TAGGED_FIELDS: [(1, b"")]}),
        (PARTITION_CHANGE, 0, {"isr": 5}),
        (PARTITION_CHANGE, 0, {UNKNOWN_TAGGED_FIELDS: [(0, b"\x00")]}),
        (schemas("metadata")["RegisterBrokerRecord"], 0, {"fenced": 1}),
        (schemas("metadata")["ClientQuotaRecord"], 0, {"value": 10**400}),
    ]
    for schema, version, value in misfits:
        with pytest.raises(SchemaError):
            encode(schema, version, value)


@given(value=st.integers(0, 2**32 - 1))
def test_unsigned_varint_round_trip(value: int) -> None:
    out = bytearray()
    write_unsigned_varint(out, value)
    reader = MessageReader(bytes(out))
    assert reader.unsigned_varint() & 0xFFFFFFFF == value
    assert reader.remaining == 0


@given(data=st.binary(min_size=16, max_size=16))
def test_uuid_round_trip(data: bytes) -> None:
    assert uuid_bytes(uuid_text(data)) == data
    assert uuid_bytes(uuid_text(data) + "==") == data


def test_random_uuids_differ_and_never_begin_with_a_dash() -> None:
    made = {random_uuid() for _ in range(300)}
    assert len(made) == 300
    assert not any(text.startswith("-") for text in made)
    assert {uuid_bytes(text)[6] >> 4 for text in made} == {4}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\xc3\xa9", "aé"),
        (b"\xff!", "\ufffd!"),
        (b"\xed\xa0\x80!", "\ufffd!"),
        (b"\xed\xa0!", "\ufffd!"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xf0\x9f\x98\x80", "😀"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
    ],
)
def test_malformed_utf8_is_replaced_as_java_does(data: bytes, text: str) -> None:
    assert decode_utf8(data) == text


def test_a_table_is_parsed_with_all_its_marks() -> None:
    [schema] = parse_table(
        "# note\n"
        "Thing coordinator-value key=4 versions=1-3 flexible=2+\n"
        "  one   []Pair 2-3 tag=5 nullable default=null ignorable\n"
        "  two   Inner\n"
        "    three bool default=true mapKey\n"
        "  struct Pair\n"
        "    left int32\n"
    )
    one, two = schema.struct.fields
    assert (schema.type, schema.api_key, str(schema.valid_versions)) == ("coordinator-value", 4, "1-3")
    assert str(schema.flexible_versions) == "2+"
    assert (one.tag, one.default(), one.ignorable) == (5, None, True)
    assert (str(one.versions), str(one.nullable)) == ("2-3", "2-3")
    assert one.struct is not None
    assert not one.struct.inline
    assert two.struct is not None
    assert two.struct.inline
    assert two.default() == {"three": True}
    assert two.struct.fields[0].map_key
