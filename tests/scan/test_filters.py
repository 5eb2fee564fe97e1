"""Filters, against the rows of the whole file filtered in Python."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch
from kafkapy.scan.options import Filters, TransactionState
from tests.dumping import dumped, rows
from tests.segments import any_batch, any_message_set, control_marker, next_offset, offset_index, time_index

NAME = "00000000000000000000.log"
Row = dict[str, Any]
TIME = 1_700_500_000_000


def has_key(row: Row, pattern: bytes) -> bool:
    if row["key"] is None:
        return False
    key = b64decode(row["key"]) if row.get("key_encoding") else row["key"].encode()
    return re.search(pattern, key) is not None


def has_header(row: Row, key: str, value: str) -> bool:
    return any(header == {"key": key, "value": value} for header in row.get("headers", []))


CASES: list[tuple[Filters, Callable[[Row], bool]]] = [
    (Filters(from_offset=7), lambda row: row["offset"] >= 7),
    (Filters(to_offset=7), lambda row: row["offset"] <= 7),
    (Filters(from_offset=3, to_offset=12), lambda row: 3 <= row["offset"] <= 12),
    (Filters(from_offset=9, to_offset=2), lambda row: False),
    (Filters(from_time=TIME), lambda row: row["timestamp"] >= TIME),
    (Filters(to_time=TIME), lambda row: row["timestamp"] <= TIME),
    (Filters(from_time=TIME, to_time=TIME + 10**9), lambda row: TIME <= row["timestamp"] <= TIME + 10**9),
    (Filters(partition_leader_epoch=7), lambda row: row.get("partition_leader_epoch") == 7),
    (Filters(partition_leader_epoch=-1), lambda row: row.get("partition_leader_epoch") == -1),
    (Filters(producer_id=2), lambda row: row.get("producer_id") == 2),
    (Filters(producer_id=-1), lambda row: row.get("producer_id") == -1),
    (Filters(key="k1"), lambda row: has_key(row, b"k1")),
    (Filters(key="^Gr.+[0-4]$"), lambda row: has_key(row, b"^Gr.+[0-4]$")),
    (Filters(key=""), lambda row: row["key"] is not None),
    (Filters(headers=(("k1", ""),)), lambda row: has_header(row, "k1", "")),
    (Filters(from_offset=3, producer_id=1), lambda row: row["offset"] >= 3 and row.get("producer_id") == 1),
    (Filters(to_offset=30, key="e"), lambda row: row["offset"] <= 30 and has_key(row, b"e")),
]


def segments(directory: Path, with_messages: bool) -> Iterator[Path]:
    path = directory / NAME
    for seed in range(25):
        rng = Random(seed)
        data = b""
        for _ in range(6):
            message_set = with_messages and rng.randrange(3) == 0
            offset = next_offset(data) if data else 0
            data += any_message_set(rng, offset) if message_set else any_batch(rng, offset)
        path.write_bytes(data)
        yield path


@pytest.mark.parametrize("with_messages", [False, True])
@pytest.mark.parametrize(("filters", "wanted"), CASES)
def test_records(tmp_path: Path, filters: Filters, wanted: Callable[[Row], bool], with_messages: bool) -> None:
    for path in segments(tmp_path, with_messages):
        everything = rows(path, print_data_log=True)
        assert rows(path, print_data_log=True, filters=filters) == [row for row in everything if wanted(row)]


@pytest.mark.parametrize(("filters", "wanted"), CASES[:7])
def test_indexes_change_nothing_but_speed(tmp_path: Path, filters: Filters, wanted: Callable[[Row], bool]) -> None:
    for path in segments(tmp_path, False):
        expected = [row for row in rows(path, print_data_log=True) if wanted(row)]
        data = path.read_bytes()
        path.with_suffix(".index").write_bytes(offset_index(data, 0, 2))
        path.with_suffix(".timeindex").write_bytes(time_index(data, 0))
        assert rows(path, print_data_log=True, filters=filters) == expected
        path.with_suffix(".index").write_bytes(bytes(8) + b"\x00\x00\x00\x01\x00\x00\x00\x03")
        assert rows(path, print_data_log=True, filters=filters) == expected
        path.with_suffix(".index").unlink()
        path.with_suffix(".timeindex").unlink()


@pytest.mark.parametrize(("filters", "wanted"), CASES[:3])
def test_batches(tmp_path: Path, filters: Filters, wanted: Callable[[Row], bool]) -> None:
    """Without records, a batch is kept where its range of offsets touches the wanted one."""
    low, high = filters.from_offset or 0, 2**63 if filters.to_offset is None else filters.to_offset
    for path in segments(tmp_path, False):
        expected = [row for row in rows(path) if row["last_offset"] >= low and row["base_offset"] <= high]
        assert rows(path, filters=filters) == expected


def test_a_header_filter_reads_records_without_being_asked(tmp_path: Path) -> None:
    path = tmp_path / NAME
    records = [Record(n, 0, b"k", b"v", (Header("h", b"%d" % n),)) for n in range(3)]
    path.write_bytes(encode_batch(records))
    (row,) = rows(path, filters=Filters(headers=(("h", "1"),)))
    assert (row["type"], row["offset"], row["header_keys"]) == ("record", 1, ["h"])


def test_text_shows_the_batch_of_what_is_found(tmp_path: Path) -> None:
    path = tmp_path / NAME
    batches = [encode_batch([Record(n, 5, b"k%d" % n, b"v")], BatchOptions(n)) for n in range(4)]
    path.write_bytes(b"".join(batches))
    lines = dumped(path, print_data_log=True, filters=Filters(key="k2")).stdout.decode().splitlines()
    assert [line.split(" lastOffset")[0] for line in lines[2:]] == [
        "baseOffset: 2",
        "| offset: 2 CreateTime: 5 keySize: 2 valueSize: 1 sequence: -1 headerKeys: [] key: k2 payload: v",
    ]


def test_gaps_are_not_told_of_a_filtered_dump(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(encode_batch([Record(0, 5, b"a", b""), Record(9, 5, b"b", b"")]))
    assert dumped(path, print_data_log=True).stderr != b""
    assert dumped(path, print_data_log=True, filters=Filters(key="b")).stderr == b""


def transactions() -> bytes:
    """Producer 1 commits, producer 2 aborts and begins again, producer 3 is not transactional."""

    def data(offset: int, producer: int, transactional: bool = True) -> bytes:
        options = BatchOptions(
            offset, producer_id=producer, producer_epoch=0, base_sequence=0, transactional=transactional
        )
        return encode_batch([Record(offset, 1, b"k", b"v")], options)

    return b"".join(
        [
            data(0, 1),
            data(1, 2),
            data(2, 3, False),
            control_marker(3, 1, committed=True),
            data(4, 2),
            control_marker(5, 2, committed=False),
            data(6, 2),
        ]
    )


@pytest.mark.parametrize(
    ("state", "offsets"),
    [
        (TransactionState.COMMITTED, [0, 3]),
        (TransactionState.ABORTED, [1, 4, 5]),
        (TransactionState.OPEN, [6]),
    ],
)
def test_transactions(tmp_path: Path, state: TransactionState, offsets: list[int]) -> None:
    path = tmp_path / NAME
    path.write_bytes(transactions())
    found = rows(path, print_data_log=True, filters=Filters(transactional=state))
    assert [row["offset"] for row in found] == offsets


def test_a_marker_in_a_later_segment_counts(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(transactions())
    (tmp_path / "00000000000000000007.log").write_bytes(control_marker(7, 2, committed=True))
    found = rows(path, print_data_log=True, filters=Filters(transactional=TransactionState.OPEN))
    assert found == []
    found = rows(path, print_data_log=True, filters=Filters(transactional=TransactionState.COMMITTED))
    assert [row["offset"] for row in found] == [0, 3, 6]
