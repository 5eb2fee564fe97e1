"""Records of internal topics as Kafka's formatters print them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.errors import FormatError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record, value_schema
from kafkapy.formats.message_json import json_text, json_tree
from kafkapy.formats.record_batch import Record
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.coordinator_formatters import MOST_KEYS, plain_commit
from kafkapy.output.record_formatter import RecordPrinter, formatter
from tests.formats.message_values import message_values
from tests.golden_set import unpack
from tests.output.draining import draining

PACKAGE = "org.apache.kafka.tools.consumer."
KEY = {"group": "g", "topic": "t", "partition": 1}
COMMIT = {"offset": 20, "leaderEpoch": 3, "metadata": "", "commitTimestamp": 1700, "topicId": "62WlZ-83SfGc8fQtyZw7WQ"}
LINE = (
    b'{"key":{"type":1,"data":{"group":"g","topic":"t","partition":1}},"value":{"version":4,"data":{"offset":20,'
    b'"leaderEpoch":3,"metadata":"","commitTimestamp":1700,"topicId":"62WlZ-83SfGc8fQtyZw7WQ"}}}'
)
TOMBSTONE = b'{"key":{"type":1,"data":{"group":"g","topic":"t","partition":1}},"value":null}'


def record(
    name: str, key: dict[str, object], version: int | None = None, value: dict[str, object] | None = None
) -> Record:
    return Record(9, 0, *encode_record(GROUP, CoordinatorRecord(name, key, version, value)))


def printed(name: str, *records: Record) -> bytes:
    out = bytearray()
    formatter(name, {}).write(iter(records), 0, "CreateTime", out)
    return bytes(out)


COMMITTED, DELETED = record("OffsetCommit", KEY, 4, COMMIT), record("OffsetCommit", KEY)


def test_a_class_prints_nothing_between_objects() -> None:
    assert printed(PACKAGE + "OffsetsMessageFormatter", COMMITTED, DELETED) == LINE + TOMBSTONE
    assert printed("OffsetsMessageFormatter", COMMITTED) == LINE


def test_a_short_name_prints_an_object_a_line() -> None:
    assert printed("offsets", COMMITTED, DELETED) == LINE + b"\n" + TOMBSTONE + b"\n"


@pytest.mark.parametrize(
    ("name", "record_name", "key"),
    [
        ("group-metadata", "GroupMetadata", {"group": "g"}),
        (PACKAGE + "GroupMetadataMessageFormatter", "GroupMetadata", {"group": "g"}),
        ("share-group", "ShareGroupMetadata", {"groupId": "g"}),
        ("share-group", "ShareGroupStatePartitionMetadata", {"groupId": "g"}),
    ],
)
def test_each_formatter_prints_its_types_only(name: str, record_name: str, key: dict[str, object]) -> None:
    own = record(record_name, key)
    out = printed(name, COMMITTED, own, record("ConsumerGroupMetadata", {"groupId": "g"}), DELETED)
    assert json.loads(out)["key"]["data"] == key


def test_areas_have_types_of_their_own() -> None:
    """Type 1 is an offset commit in one topic, a share update in another, and nothing in the third."""
    assert printed("transaction-log", COMMITTED) == b""
    with pytest.raises(FormatError, match="from key's buffer"):
        printed("share-group-state", COMMITTED)


def test_share_group_state_has_a_package_of_its_own() -> None:
    assert printed(PACKAGE + "group.share.ShareGroupStateMessageFormatter") == b""


def test_what_is_not_a_record_of_this_kind_prints_nothing() -> None:
    assert printed("offsets", Record(0, 0, None, b"v"), Record(1, 0, b"\x00\x09junk", b"v")) == b""


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (b"\x00", None, "Could not read version from key's buffer."),
        (COMMITTED.key, b"\x00\x05", "Found an unknown record version 5 for 1 type"),
        (COMMITTED.key, b"\x00\x03\x00", "Could not read record with version 3 from value's buffer due to: null."),
        # not printed by this formatter, but decoded all the same
        (record("GroupMetadata", {"group": "g"}).key, b"\x00", "Could not read version from value's buffer."),
    ],
)
def test_damage_is_told_in_kafkas_words(key: bytes, value: bytes | None, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        printed("offsets", Record(17, 0, key, value))
    assert str(caught.value) == f"Could not read record at offset 17 due to: {reason}"


def test_damaged_records_can_be_skipped() -> None:
    out: list[bytes] = []
    told: list[str] = []
    printer = RecordPrinter(formatter("offsets", {}), draining(out), told.append)
    printer.print([COMMITTED, Record(17, 0, COMMITTED.key, b"\0"), DELETED], 0, "CreateTime")
    printer.flush()
    assert b"".join(out) == LINE + b"\n" + TOMBSTONE + b"\n"
    assert printer.count == 3
    assert "offset 17" in told[0]


commits = message_values(value_schema(GROUP, "OffsetCommit"), 4, unknown_tags=False)


@given(version=st.integers(0, 4), value=commits, has_metadata=st.booleans(), tail=st.sampled_from([b"", b"\0", b"\1"]))
def test_a_commit_read_by_hand_is_the_same(
    version: int, value: dict[str, object], has_metadata: bool, tail: bytes
) -> None:
    if not has_metadata:
        value["metadata"] = ""
    value = {name: given for name, given in value.items() if name != "leaderEpoch" or version >= 3}
    committed = record("OffsetCommit", KEY, version, value | {"expireTimestamp": 5} if version == 1 else value)
    committed = committed._replace(value=(committed.value or b"") + tail)
    schema = value_schema(GROUP, "OffsetCommit")
    whole = {field.name: value.get(field.name, field.default()) for field in schema.struct.at(version)[0]}
    if version == 1:
        whole["expireTimestamp"] = 5
    expected = json_text({"version": version, "data": json_tree(schema, version, whole)})
    assert printed("offsets", committed).decode() == printed("offsets", DELETED).decode().replace(
        "null}", expected + "}"
    )


@given(st.binary(max_size=50))
def test_any_bytes_are_a_commit_or_not(data: bytes) -> None:
    plain_commit(data)


def test_plain_commits_are_recognised() -> None:
    """Else the fast way would be there and never taken."""
    assert plain_commit(COMMITTED.value or b"") is not None
    for version in (3, 4):
        plain = record("OffsetCommit", KEY, version, {"offset": 1, "metadata": "", "commitTimestamp": 2})
        assert plain_commit(plain.value or b"") == (version, 1, -1, 2, b"")


def test_many_keys_are_printed_all() -> None:
    count = MOST_KEYS + 10
    records = (Record(0, 0, b"\0\1\0\1g\0\1t" + number.to_bytes(4, "big"), None) for number in range(count))
    lines = printed("offsets", *records, DELETED).splitlines()
    assert len(set(lines)) == count
    assert lines[-1] == TOMBSTONE


@pytest.mark.parametrize(
    ("name", "topic", "formatter_name", "groups"),
    [
        ("format-offsets", "__consumer_offsets", "OffsetsMessageFormatter", ("audit", "billing", "next-gen")),
        ("format-groups", "__consumer_offsets", "GroupMetadataMessageFormatter", ("audit", "billing")),
        ("format-transactions", "__transaction_state", "TransactionLogMessageFormatter", ("pay-1", "pay-2")),
    ],
)
def test_the_records_that_kafkas_tool_saw(name: str, topic: str, formatter_name: str, groups: tuple[str, ...]) -> None:
    golden = unpack("golden")
    cluster = LogDirsCluster(*map(str, sorted((golden / "clean").glob("broker-*"))))
    out = bytearray()
    for number in cluster.image().topics[topic].partitions:
        for batch in cluster.read(TopicPartition(topic, number), 0):
            if not batch.header.is_control:
                formatter(formatter_name, {}).write(batch.records(), number, "CreateTime", out)
    expected = (golden / "tools" / f"{name}.out").read_bytes()
    ends = b'}{"key"'
    ours = set(bytes(out).replace(ends, b'}\n{"key"').splitlines())
    for line in expected.replace(ends, b'}\n{"key"').splitlines():
        if any(b'"%b"' % group.encode() in line for group in groups):
            assert line in ours
