from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.formats.record_batch import BatchHeader, BatchOptions, Record, decode_header, encode_batch
from kafkapy.log.batch import is_good
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX, TIME_INDEX_SUFFIX, parse_segment_file
from kafkapy.log.segment import LogSegment, RollParams
from kafkapy.log.segment_reader import SegmentReader
from tests.golden_set import unpack
from tests.segments import entries as whole_entries

NOW = 1_700_000_000_000


def batch(base: int, timestamps: list[int], value_size: int = 10) -> bytes:
    records = [Record(base + n, time, b"k", b"v" * value_size) for n, time in enumerate(timestamps)]
    return encode_batch(records, BatchOptions(base_offset=base, partition_leader_epoch=0))


def ignore(*_: object) -> None:
    pass


def make(directory: Path, base: int = 0, **config: int) -> LogSegment:
    segment = LogSegment(str(directory), base, LogConfig(**config), Files(sync=False), NOW)
    segment.create()
    return segment


def add(segment: LogSegment, data: bytes) -> BatchHeader:
    header = decode_header(data)
    segment.append(data, [header])
    return header


def golden_logs() -> list[str]:
    """The segments of 4.3.1 brokers that were indexed in one go: not compacted, not appended to after a restart."""
    root = unpack("golden")
    found = []
    for path in sorted(root.glob("clean/broker-*/*/*.log")):
        crashed = root / "crashed" / path.relative_to(root / "clean")
        untouched = crashed.exists() and crashed.read_bytes() == path.read_bytes()
        if untouched and "compacted" not in str(path):
            found.append(str(path.relative_to(root)))
    return found


@pytest.mark.parametrize("name", golden_logs())
def test_the_indexes_of_a_real_broker_are_made_again_to_the_byte(name: str, golden: Path, tmp_path: Path) -> None:
    path = golden / name
    parsed = parse_segment_file(path.name)
    assert parsed is not None
    segment = make(tmp_path, parsed.base_offset)
    data = path.read_bytes()
    for position, size, magic in whole_entries(data):
        assert magic == 2
        add(segment, data[position : position + size])
    segment.become_inactive()
    for suffix in (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX):
        assert Path(segment.path(suffix)).read_bytes() == path.with_suffix(suffix).read_bytes(), suffix


def test_the_golden_set_has_indexes_with_entries(golden: Path) -> None:
    sizes = [(golden / name).with_suffix(INDEX_SUFFIX).stat().st_size for name in golden_logs()]
    assert sum(size > 0 for size in sizes) > 10


def test_an_entry_comes_only_after_more_than_the_interval(tmp_path: Path) -> None:
    segment = make(tmp_path, index_interval_bytes=len(batch(0, [NOW])))
    for n in range(4):
        add(segment, batch(n, [NOW + n]))
    size = len(batch(0, [NOW]))
    assert list(segment.offset_index) == [(2, 2 * size)]
    assert list(segment.time_index) == [(NOW + 2, 2)]
    segment.become_inactive()
    assert list(segment.time_index) == [(NOW + 2, 2), (NOW + 3, 3)]


def test_time_entries_only_grow(tmp_path: Path) -> None:
    segment = make(tmp_path, index_interval_bytes=0)
    for n, shift in enumerate([0, 1, -2, 3, 4, -5, 6, 7]):
        add(segment, batch(n, [NOW + shift]))
    assert [entry.timestamp - NOW for entry in segment.time_index] == [1, 3, 4, 6, 7]
    assert [entry.offset for entry in segment.time_index] == [1, 3, 4, 6, 7]


@given(st.lists(st.lists(st.integers(NOW - 50, NOW + 50), min_size=1, max_size=4), max_size=30), st.integers(0, 400))
def test_recovery_makes_the_same_indexes(batches: list[list[int]], interval: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        segment, offset = make(Path(name), 5, index_interval_bytes=interval), 5
        for timestamps in batches:
            offset = add(segment, batch(offset, timestamps)).last_offset + 1
        segment.become_inactive()
        before = {suffix: Path(segment.path(suffix)).read_bytes() for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX)}
        Path(segment.path(INDEX_SUFFIX)).write_bytes(bytes(800))
        Path(segment.path(TIME_INDEX_SUFFIX)).unlink()
        again = LogSegment(name, 5, LogConfig(index_interval_bytes=interval), Files(sync=False))
        assert again.recover(ignore) == 0
        assert {suffix: Path(again.path(suffix)).read_bytes() for suffix in before} == before
        assert again.next_offset() == offset


@given(st.data())
def test_every_offset_and_time_is_found(data: st.DataObject) -> None:
    import tempfile

    rng = Random(data.draw(st.integers(0, 2**32)))
    with tempfile.TemporaryDirectory() as name:
        segment, offset, records = make(Path(name), 7, index_interval_bytes=rng.choice((0, 150, 4096))), 7, []
        for _ in range(rng.randrange(1, 15)):
            offset += rng.choice((0, 0, 3))
            timestamps = [NOW + rng.randrange(-20, 20) for _ in range(rng.randrange(1, 4))]
            records += [(offset + n, time) for n, time in enumerate(timestamps)]
            offset = add(segment, batch(offset, timestamps)).last_offset + 1
        segment.flush()
        for reader in (segment, SegmentReader(name, 7)):
            target = rng.randrange(7, offset)
            expected = [header for _, header in reader.headers(7) if header.last_offset >= target]
            assert [found.header for found in reader.read(target)] == expected
            time, start = NOW + rng.randrange(-21, 22), rng.randrange(7, offset)
            first = next(((t, o) for o, t in records if t >= time and o >= start), None)
            assert reader.find_offset_by_timestamp(time, start) == first
            assert reader.max_timestamp.timestamp == max(time for _, time in records)
            latest = max(time for _, time in records)
            assert reader.offset_of_max_timestamp() == (latest, next(o for o, t in records if t == latest))
            assert reader.next_offset() == offset


@given(st.integers(0, 40), st.integers(0, 200))
def test_truncation_leaves_what_never_had_more(keep: int, interval: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        segment, short = (make(Path(each), 0, index_interval_bytes=interval) for each in (name, other))
        for n in range(0, 40, 2):
            add(segment, batch(n, [NOW + n % 7, NOW]))
            if n + 1 < keep:
                add(short, batch(n, [NOW + n % 7, NOW]))
        segment.truncate_to(keep)
        assert Path(segment.log_path).read_bytes() == Path(short.log_path).read_bytes()
        assert list(segment.offset_index) == list(short.offset_index)
        assert segment.max_timestamp.timestamp == short.max_timestamp.timestamp
        assert segment.next_offset() == short.next_offset()


@pytest.mark.parametrize("damage", ["cut", "zeros", "flip", "garbage"])
def test_recovery_cuts_at_the_first_bad_batch(damage: str, tmp_path: Path) -> None:
    segment = make(tmp_path)
    for n in range(3):
        add(segment, batch(n, [NOW]))
    segment.flush()
    segment.release()
    size = len(batch(0, [NOW]))
    data = Path(segment.log_path).read_bytes()
    bad = {
        "cut": data[:-1],
        "zeros": data[: 2 * size] + bytes(5000),
        "flip": data[: 2 * size + 70] + bytes([data[2 * size + 70] ^ 1]) + data[2 * size + 71 :],
        "garbage": data[: 2 * size] + b"garbage" * 30,
    }[damage]
    Path(segment.log_path).write_bytes(bad)
    assert SegmentReader(str(tmp_path), 0).next_offset() == 2
    assert Path(segment.log_path).read_bytes() == bad
    again = LogSegment(str(tmp_path), 0, LogConfig(), Files(sync=False))
    seen: list[int] = []
    assert again.recover(lambda header, _: seen.append(header.base_offset)) == len(bad) - 2 * size
    assert seen == [0, 1]
    assert os.path.getsize(again.log_path) == 2 * size


def test_reading_goes_on_behind_a_damaged_batch(tmp_path: Path) -> None:
    segment = make(tmp_path)
    for n in range(3):
        add(segment, batch(n, [NOW]))
    segment.flush()
    segment.release()
    data = bytearray(Path(segment.log_path).read_bytes())
    data[len(data) // 3 + 70] ^= 1
    Path(segment.log_path).write_bytes(data)
    reader = SegmentReader(str(tmp_path), 0)
    assert reader.next_offset() == 3
    assert [is_good(found.header, found.data) for found in reader.read(0)] == [True, False, True]


def test_an_index_that_lies_is_not_followed(tmp_path: Path) -> None:
    segment = make(tmp_path, index_interval_bytes=0)
    for n in range(6):
        add(segment, batch(n, [NOW + n]))
    segment.become_inactive()
    index = Path(segment.path(INDEX_SUFFIX))
    index.write_bytes(bytes.fromhex("00000001000000110000000500000100"))
    reader = SegmentReader(str(tmp_path), 0)
    assert [found.header.base_offset for found in reader.read(3)] == [3, 4, 5]
    assert reader.next_offset() == 6


def test_roll_rules(tmp_path: Path) -> None:
    first = batch(0, [NOW])
    config = {"segment_bytes": 3 * len(first), "segment_ms": 1000, "segment_index_bytes": 1000}
    segment = make(tmp_path, **config)

    def rolls(size: int = len(first), time: int = NOW, last_offset: int = 5) -> bool:
        return segment.should_roll(RollParams(size, time, last_offset, NOW))

    assert not rolls(3 * len(first), NOW + 10**9)
    add(segment, first)
    assert not rolls(2 * len(first))
    assert rolls(2 * len(first) + 1)
    assert not rolls(time=NOW + 1000)
    assert rolls(time=NOW + 1001)
    assert not rolls(time=NOW - 10**9)
    assert not rolls(last_offset=2**31 - 1)
    assert rolls(last_offset=2**31)


@pytest.mark.parametrize(("step", "entries"), [(0, 6), (1, 3)], ids=["offset index", "time index"])
def test_a_full_index_rolls(step: int, entries: int, tmp_path: Path) -> None:
    # 48 bytes: 6 offset entries; of 4 time entries one is kept free for the last
    segment = make(tmp_path, index_interval_bytes=0, segment_index_bytes=48)
    for n in range(entries + 1):
        assert not segment.should_roll(RollParams(1, NOW, 10, NOW))
        add(segment, batch(n, [NOW + n * step]))
    assert segment.should_roll(RollParams(1, NOW, 10, NOW))
