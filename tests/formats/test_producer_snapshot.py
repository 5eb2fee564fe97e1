from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptSnapshotError
from kafkapy.formats import producer_snapshot
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.producer_snapshot import ProducerStateEntry
from tests.dump_cases import dump_cases

int16, int32, int64 = (st.integers(-(2**bits), 2**bits - 1) for bits in (15, 31, 63))
entries_strategy = st.lists(
    st.builds(ProducerStateEntry, int64, int16, int32, int64, int32, int64, int32, int64), max_size=20
)
# Id 5, epoch 1, last sequence 2, last offset 3, delta 4, timestamp 9, coordinator epoch 7, no transaction.
ENTRY = "00000000000000050001000000020000000000000003000000040000000000000009" + "00000007ffffffffffffffff"


def sealed(body: bytes) -> bytes:
    return b"\0\1" + crc32c(body).to_bytes(4, "big") + body


@given(entries_strategy)
def test_round_trip(entries: list[ProducerStateEntry]) -> None:
    data = producer_snapshot.encode(entries)
    assert len(data) == 10 + 46 * len(entries)
    assert producer_snapshot.decode(data) == entries
    assert producer_snapshot.decode(memoryview(data)) == entries


@given(entries_strategy, st.integers(min_value=0), st.integers(1, 255))
def test_any_flipped_byte_is_found(entries: list[ProducerStateEntry], at: int, mask: int) -> None:
    data = bytearray(producer_snapshot.encode(entries))
    data[at % len(data)] ^= mask
    with pytest.raises(CorruptSnapshotError):
        producer_snapshot.decode(data)


@given(st.one_of(st.binary(max_size=120), st.binary(max_size=120).map(sealed)))
def test_hostile_bytes_raise_only_corrupt_snapshot_errors(data: bytes) -> None:
    try:
        entries = producer_snapshot.decode(data)
    except CorruptSnapshotError:
        return
    assert len(entries) == int.from_bytes(data[6:10], "big")


SCHEMA = "Snapshot failed schema validation: "


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", SCHEMA + "null"),
        ("00", SCHEMA + "null"),
        ("0001", SCHEMA + "null"),
        ("000100000000", SCHEMA + "null"),
        ("0002", SCHEMA + "Snapshot contained an unknown file version 2"),
        ("ffff0000000000000000", SCHEMA + "Snapshot contained an unknown file version -1"),
        ("000100000000ffffffff", SCHEMA + "non-nullable field producerEntries was serialized as null"),
        (
            "00010000000000000002",
            SCHEMA + "Tried to allocate a collection of size 2, but there are only 0 bytes remaining.",
        ),
        (
            "0001000000007fffffff" + ENTRY,
            SCHEMA + "Tried to allocate a collection of size 2147483647, but there are only 46 bytes remaining.",
        ),
        ("00010000000000000005" + ENTRY, SCHEMA + "null"),
        (
            "00010000000000000000",
            "Snapshot is corrupt (CRC is no longer valid). Stored crc: 0. Computed crc: 1214729159",
        ),
        (
            "00010000000000000001" + ENTRY + "00",
            "Snapshot is corrupt (CRC is no longer valid). Stored crc: 0. Computed crc: 2917488880",
        ),
    ],
)
def test_says_what_kafka_says(data: str, message: str) -> None:
    with pytest.raises(CorruptSnapshotError) as caught:
        producer_snapshot.decode(bytes.fromhex(data))
    assert str(caught.value) == message


def test_bytes_after_the_last_entry_pass_if_the_checksum_covers_them() -> None:
    data = sealed(bytes.fromhex("00000001" + ENTRY) + b"more")
    assert producer_snapshot.decode(data) == [ProducerStateEntry(5, 1, 2, 3, 4, 9, 7)]


@pytest.mark.parametrize(("last", "delta", "first"), [(9, 4, 5), (4, 4, 0), (1, 3, 2**31 - 2)])
def test_sequences_wrap(last: int, delta: int, first: int) -> None:
    assert ProducerStateEntry(1, 0, last, 10, delta, 0, 0).first_sequence == first


def test_every_real_snapshot_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [*golden.rglob("*.snapshot"), *zk_era.rglob("*.snapshot")]
    for path in paths:
        data = path.read_bytes()
        assert producer_snapshot.encode(producer_snapshot.decode(data)) == data, path
    assert len(paths) > 100


def line(entry: ProducerStateEntry) -> str:
    open_txn = f"OptionalLong[{entry.current_txn_first_offset}]" if entry.has_open_txn else "OptionalLong.empty"
    text = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {open_txn} "
        f"lastTimestamp: {entry.timestamp}"
    )
    if entry.has_batch:
        text += (
            f" firstSequence: {entry.first_sequence} lastSequence: {entry.last_sequence} "
            f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
        )
    return text


def test_prints_what_dump_log_segments_printed(golden: Path, zk_era: Path) -> None:
    cases = dump_cases(golden, ".snapshot") + dump_cases(zk_era, ".snapshot")
    for case in cases:
        assert [line(entry) for entry in producer_snapshot.decode(case.data)] == case.printed, case.file
    assert len(cases) >= 50
