from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptIndexError
from kafkapy.formats import time_index
from kafkapy.formats.time_index import TimeIndex, TimestampOffset
from tests.dump_cases import dump_cases

INT32 = 2**31 - 1
INT64 = 2**63 - 1
base_offsets = st.integers(0, 2**62)
columns = st.lists(st.tuples(st.integers(0, INT64), st.integers(1, INT32)), max_size=40).map(
    lambda rows: list(zip(sorted({row[0] for row in rows}), sorted({row[1] for row in rows}), strict=False))
)


def absolute(base_offset: int, rows: list[tuple[int, int]]) -> list[TimestampOffset]:
    return [TimestampOffset(timestamp, base_offset + relative) for timestamp, relative in rows]


@given(base_offsets, columns)
def test_round_trip(base_offset: int, rows: list[tuple[int, int]]) -> None:
    entries = absolute(base_offset, rows)
    index = TimeIndex(base_offset, time_index.encode(base_offset, entries))
    assert list(index) == entries
    assert index.entry_count == index.written_count == len(entries)
    assert index.last_entry() == (entries[-1] if entries else (-1, base_offset))
    index.sanity_check("x.timeindex")


@given(base_offsets, columns, st.integers(0, 50), st.integers(-2, INT64), st.integers(0, 11))
def test_lookup_is_the_last_entry_at_or_before_the_target_preallocated_or_not(
    base_offset: int, rows: list[tuple[int, int]], zeros: int, target: int, ragged: int
) -> None:
    entries = absolute(base_offset, rows)
    index = TimeIndex(base_offset, time_index.encode(base_offset, entries) + bytes(12 * zeros + ragged))
    before = [entry for entry in entries if entry.timestamp <= target]
    if entries or zeros != 1:
        assert index.lookup(target) == (before[-1] if before else (-1, base_offset))
        assert index.last_entry() == (entries[-1] if entries else (-1, base_offset))


def test_the_first_entry_may_be_the_base_offset() -> None:
    index = TimeIndex(5, time_index.encode(5, [(1000, 5), (2000, 6)]) + bytes(120))
    assert index.written_count == 2
    assert index.lookup(1500) == (1000, 5)


@given(base_offsets, st.binary(max_size=200), st.integers(-(2**63), INT64))
def test_hostile_bytes_raise_only_format_errors(base_offset: int, data: bytes, target: int) -> None:
    index = TimeIndex(base_offset, data)
    assert len(list(index)) <= index.entry_count
    index.lookup(target)
    index.last_entry()
    with suppress(CorruptIndexError):
        index.sanity_check("x.timeindex")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            bytes(13),
            "Time index file /d/x.timeindex is corrupt, found 13 bytes which is neither positive nor a multiple of 12",
        ),
        (
            time_index.encode(50, [(9, 51), (8, 52)]),
            "Corrupt time index found, time index file (/d/x.timeindex) has non-zero size but the last timestamp is 8 "
            "which is less than the first timestamp 9",
        ),
        (
            bytes(8) + b"\xff\xff\xff\xff",
            "Corrupt time index found, time index file (/d/x.timeindex) has non-zero size but the last offset is 49 "
            "which is less than the first offset 50",
        ),
    ],
)
def test_sanity_check_speaks_kafkas_words(data: bytes, message: str) -> None:
    with pytest.raises(CorruptIndexError) as caught:
        TimeIndex(50, data).sanity_check("/d/x.timeindex")
    assert str(caught.value) == message


def test_sanity_check_of_a_real_damaged_index(golden: Path) -> None:
    data = (golden / "damaged/index-past-end-0/00000000000000000000.timeindex").read_bytes()
    stack_trace = golden / "dumps/damaged__index-past-end-0__00000000000000000000.timeindex.sanity.err"
    expected = stack_trace.read_text().splitlines()[0].partition("CorruptIndexException: ")[2]
    with pytest.raises(CorruptIndexError) as caught:
        TimeIndex(0, data).sanity_check("GOLDEN/damaged/index-past-end-0/00000000000000000000.timeindex")
    assert str(caught.value) == expected


def test_every_real_index_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [path for root in (golden, zk_era) for path in root.rglob("*.timeindex") if "damaged" not in path.parts]
    written = 0
    for path in paths:
        base_offset, data = int(path.name[:20]), path.read_bytes()
        index = TimeIndex(base_offset, data)
        entries = [index.entry(n) for n in range(index.written_count)]
        assert entries == sorted(entries)
        assert time_index.encode(base_offset, entries) == data[: 12 * len(entries)], path
        assert not any(data[12 * len(entries) :]), path
        if "crashed" not in path.parts and not path.is_relative_to(zk_era):
            assert len(data) == 12 * len(entries), path
        written += len(entries)
    assert len(paths) > 100
    assert written > 100


def test_prints_what_dump_log_segments_printed(golden: Path, zk_era: Path) -> None:
    cases = dump_cases(golden, ".timeindex") + dump_cases(zk_era, ".timeindex")
    for case in cases:
        lines = [
            f"timestamp: {timestamp} offset: {offset}" for timestamp, offset in TimeIndex(case.base_offset, case.data)
        ]
        assert lines == case.printed, case.file
    assert len(cases) >= 40
