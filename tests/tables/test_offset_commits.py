"""offset_commits: the same commits as Kafka's formatter and as consumer-offsets, by columns or one by one."""

from __future__ import annotations

from pathlib import Path
from struct import pack
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.offset_records import decode_value
from kafkapy.errors import DamagedFileError, SchemaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.tables.commit_values import FIELDS, value_columns
from kafkapy.tables.offset_commits_table import TABLE
from kafkapy.tables.scan import Mode, Range, Scan
from tests.tables.internal_logs import json_documents, log_dir, milliseconds, scan_of
from tests.tables.logs import rows

NOW = 1_700_000_000_000


def key(group: str, topic: str, partition: int) -> bytes:
    names = {"group": group, "topic": topic, "partition": partition}
    return encode_record(GROUP, CoordinatorRecord("OffsetCommit", names))[0]


def value(offset: int, version: int = 4, metadata: str = "", topic_id: str | None = None) -> bytes:
    fields: dict[str, Any] = {"offset": offset, "leaderEpoch": 5, "metadata": metadata, "commitTimestamp": NOW + offset}
    fields |= {"expireTimestamp": NOW if version == 1 else -1}
    if version < 3:
        fields["leaderEpoch"] = -1
    if topic_id is not None:
        fields["topicId"] = topic_id
    names = {"group": "", "topic": "", "partition": 0}
    encoded = encode_record(GROUP, CoordinatorRecord("OffsetCommit", names, version, fields))[1]
    assert encoded is not None
    return encoded


def test_what_kafka_prints(golden: Path) -> None:
    printed = [each for each in json_documents(golden, "format-offsets") if each["value"] is not None]
    found = [row for row in rows(scan_of(golden), "offset_commits") if not row["tombstone"]]
    shown = [
        {
            "group": row["group"],
            "topic": row["topic"],
            "partition": row["partition"],
            "offset": row["committed_offset"],
            "metadata": row["metadata"],
            "commitTimestamp": milliseconds(row["commit_timestamp"]),
            "topicId": row["topic_id"],
        }
        for row in found
    ]
    for each in printed:
        commit = each["key"]["data"] | each["value"]["data"]
        assert commit.pop("leaderEpoch") == -1
        assert commit in shown
    assert {row["leader_epoch"] for row in found} == {None}


@pytest.mark.parametrize("state", ["clean", "crashed"])
def test_what_consumer_offsets_shows(golden: Path, state: str, capfd: pytest.CaptureFixture[str]) -> None:
    from tests.commands.running import dirs, run

    told = run(capfd, "consumer-offsets", "--log-dirs", dirs(golden, state), "--output", "jsonl").rows
    told = [row for row in told if row["type"] == "offset_commit"]
    found = rows(scan_of(golden, state), "offset_commits")
    assert len(told) == len(found) > 5
    by_place = {(row["log_partition"], row["log_offset"]): row for row in found}
    for row in told:
        own = by_place[row["log_partition"], row["log_offset"]]
        assert (own["group"], own["topic"], own["partition"]) == (row["group"], row["topic"], row["partition"])
        assert own["committed_offset"] == row["offset"]
        assert own["tombstone"] is row["deleted"]
        assert milliseconds(own["timestamp"]) == row["timestamp"]
        assert milliseconds(own["commit_timestamp"]) == row["commit_timestamp"]


def test_old_versions(zk_era: Path) -> None:
    found = rows(scan_of(zk_era), "offset_commits")
    assert found
    assert all(row["committed_offset"] is not None or row["tombstone"] for row in found)


def test_scan_is_honoured(golden: Path) -> None:
    scan = scan_of(golden)
    everything = rows(scan, "offset_commits")
    wanted = scan._replace(topics=frozenset(("orders",)), partitions=frozenset((1,)))
    assert rows(wanted, "offset_commits") == [
        row for row in everything if row["topic"] == "orders" and row["partition"] == 1
    ]
    later = rows(scan._replace(offsets=Range(4, 24)), "offset_commits")
    assert later == [row for row in everything if 4 <= row["log_offset"] < 24]
    assert 0 < len(later) < len(everything)
    middle = sorted(milliseconds(row["timestamp"]) or 0 for row in everything)[4]
    since = rows(scan._replace(timestamps=Range(middle, None)), "offset_commits")
    assert since == [row for row in everything if (milliseconds(row["timestamp"]) or 0) >= middle]
    assert rows(scan._replace(columns=("log_offset", "group")), "offset_commits") == [
        {"log_offset": row["log_offset"], "group": row["group"]} for row in everything
    ]
    assert rows(scan._replace(split_bytes=1), "offset_commits") == everything
    assert len(TABLE.splits(scan._replace(split_bytes=1))) > len(TABLE.splits(scan)) == 1


def test_open_transactions_are_left_out_of_a_committed_scan(tmp_path: Path) -> None:
    records = [Record(0, NOW, key("g", "t", 0), value(7))]
    pending = BatchOptions(producer_id=9, producer_epoch=0, base_sequence=0, transactional=True)
    paths = log_dir(tmp_path, "__consumer_offsets", [encode_batch(records), encode_batch(records, pending)])
    assert [row["producer_id"] for row in rows(Scan(paths), "offset_commits")] == [None, 9]
    assert [row["producer_id"] for row in rows(Scan(paths, committed=True), "offset_commits")] == [None]


def test_records_that_do_not_decode(tmp_path: Path) -> None:
    records = [
        Record(0, NOW, key("g", "t", 0), value(7)),
        Record(1, NOW, key("g", "t", 1), pack(">h", 99)),
        Record(2, NOW, b"\0\1\0\5g", value(8)),
        Record(3, NOW, None, value(9)),
        Record(4, NOW, key("g", "t", 2), None),
    ]
    paths = log_dir(tmp_path, "__consumer_offsets", [encode_batch(records)])
    with pytest.raises(DamagedFileError, match=r"damaged at byte 0: the record at offset [123]: "):
        rows(Scan(paths), "offset_commits")
    good = rows(Scan(paths, mode=Mode.DROPMALFORMED), "offset_commits")
    assert [(row["log_offset"], row["committed_offset"]) for row in good] == [(0, 7), (4, None)]
    kept = rows(Scan(paths, mode=Mode.PERMISSIVE), "offset_commits")
    assert [row["log_offset"] for row in kept if row["damage"] is None] == [0, 4]
    told = [row for row in kept if row["damage"] is not None]
    assert sorted(row["damage"].partition(":")[0] for row in told) == [
        f"the record at offset {offset}" for offset in (1, 2, 3)
    ]
    assert {(row["damage_file"], row["damage_position"], row["group"]) for row in told} == {
        (f"{paths[0]}/__consumer_offsets-0/{0:020d}.log", 0, None)
    }


def test_damaged_batches(tmp_path: Path) -> None:
    batches = [encode_batch([Record(0, NOW, key("g", "t", n), value(n))]) for n in range(3)]
    paths = log_dir(tmp_path, "__consumer_offsets", batches)
    log = Path(paths[0], "__consumer_offsets-0", f"{0:020d}.log")
    data = bytearray(log.read_bytes())
    data[len(batches[0]) + 70] ^= 1
    log.write_bytes(data)
    with pytest.raises(DamagedFileError, match=f"damaged at byte {len(batches[0])}: Record is corrupt"):
        rows(Scan(paths), "offset_commits")
    kept = rows(Scan(paths, mode=Mode.PERMISSIVE), "offset_commits")
    assert [row["partition"] for row in kept if row["damage"] is None] == [0, 2]
    assert [row["damage_position"] for row in kept if row["damage"] is not None] == [len(batches[0])]


VALUES = st.one_of(
    st.none(),
    st.builds(value, st.integers(0, 2**62), st.integers(0, 4), st.sampled_from(["", "a", "née", "x" * 200])),
    st.builds(value, st.integers(0, 9), st.just(4), st.just(""), st.sampled_from(["62WlZ-83SfGc8fQtyZw7WQ"])),
    st.binary(max_size=40),
)


@given(st.lists(VALUES, max_size=30))
def test_columns_say_what_single_values_say(values: list[bytes | None]) -> None:
    expected: list[OffsetAndMetadata | None] | None = []
    try:
        expected = [None if each is None else decode_value(each) for each in values]
    except SchemaError:
        expected = None
    array = pa.array([b"", *values], pa.binary())[1:]
    if expected is None:
        with pytest.raises(SchemaError):
            value_columns(array, list(FIELDS))
        return
    found = value_columns(array, list(FIELDS))
    rows_found = list(zip(*(found[name].to_pylist() for name in FIELDS), strict=True))
    assert rows_found == [tuple(each) if each is not None else (None,) * 6 for each in expected]
