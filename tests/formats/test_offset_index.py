from __future__ import annotations

import mmap
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptIndexError
from kafkapy.formats import offset_index
from kafkapy.formats.offset_index import OffsetIndex, OffsetPosition
from tests.dump_cases import dump_cases

INT32 = 2**31 - 1
base_offsets = st.integers(0, 2**62)
# Relative offsets begin at 1: a segment's first batch is never indexed.
columns = st.lists(st.tuples(st.integers(1, INT32), st.integers(1, INT32)), max_size=40).map(
    lambda rows: list(zip(sorted({row[0] for row in rows}), sorted(row[1] for row in rows), strict=False))
)


def absolute(base_offset: int, rows: list[tuple[int, int]]) -> list[OffsetPosition]:
    return [OffsetPosition(base_offset + relative, position) for relative, position in rows]


@given(base_offsets, columns)
def test_round_trip(base_offset: int, rows: list[tuple[int, int]]) -> None:
    entries = absolute(base_offset, rows)
    index = OffsetIndex(base_offset, offset_index.encode(base_offset, entries))
    assert list(index) == entries
    assert index.entry_count == index.written_count == len(entries)
    assert index.last_entry() == (entries[-1] if entries else (base_offset, 0))
    index.sanity_check("x.index")


@given(base_offsets, columns, st.integers(0, 50), st.integers(0, 2 * INT32), st.integers(0, 7))
def test_lookup_is_the_last_entry_at_or_before_the_target_preallocated_or_not(
    base_offset: int, rows: list[tuple[int, int]], zeros: int, distance: int, ragged: int
) -> None:
    entries = absolute(base_offset, rows)
    data = offset_index.encode(base_offset, entries) + bytes(8 * zeros + ragged)
    target = base_offset + distance
    before = [entry for entry in entries if entry.offset <= target]
    index = OffsetIndex(base_offset, memoryview(data))
    assert index.lookup(target) == (before[-1] if before else (base_offset, 0))
    assert index.entry_count == len(entries) + zeros
    if zeros > 1 or entries:
        assert index.written_count == len(entries)


def test_a_preallocated_file_dumps_one_entry_of_zeros() -> None:
    index = OffsetIndex(7, bytes(80))
    assert (index.entry_count, index.written_count, index.last_entry()) == (10, 0, (7, 0))
    assert list(index) == [(7, 0)]


@given(base_offsets, st.binary(max_size=200), st.integers(-(2**63), 2**63 - 1))
def test_hostile_bytes_raise_only_format_errors(base_offset: int, data: bytes, target: int) -> None:
    index = OffsetIndex(base_offset, data)
    assert len(list(index)) <= index.entry_count
    index.lookup(target)
    index.last_entry()
    with suppress(CorruptIndexError):
        index.sanity_check("x.index")


def test_sanity_check_speaks_kafkas_words() -> None:
    with pytest.raises(CorruptIndexError) as ragged:
        OffsetIndex(0, bytes(9)).sanity_check("/d/0.index")
    assert str(ragged.value) == (
        "Index file /d/0.index is corrupt, found 9 bytes which is neither positive nor a multiple of 8"
    )
    with pytest.raises(CorruptIndexError) as backwards:
        OffsetIndex(50, b"\xff\xff\xff\xfe\0\0\0\1").sanity_check("/d/50.index")
    assert str(backwards.value) == (
        "Corrupt index found, index file /d/50.index has non-zero size but the last offset is 48 which is less than "
        "the base offset 50"
    )


@pytest.mark.parametrize("offset", [99, 100 + 2**31])
def test_an_offset_that_does_not_fit_is_refused(offset: int) -> None:
    with pytest.raises(CorruptIndexError, match=f"Integer overflow for offset: {offset}"):
        offset_index.encode(100, [(offset, 0)])


def test_an_mmap_can_be_closed_under_an_index(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.index"
    path.write_bytes(offset_index.encode(0, [(5, 100), (9, 200)]))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        index = OffsetIndex(0, mapped)
        assert next(iter(index)) == (5, 100)
        assert index.lookup(8) == (5, 100)


def test_every_real_index_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [path for root in (golden, zk_era) for path in root.rglob("*.index") if "damaged" not in path.parts]
    written = 0
    for path in paths:
        base_offset, data = int(path.name[:20]), path.read_bytes()
        index = OffsetIndex(base_offset, data)
        entries = [index.entry(n) for n in range(index.written_count)]
        assert entries == sorted(entries)
        assert offset_index.encode(base_offset, entries) == data[: 8 * len(entries)], path
        assert not any(data[8 * len(entries) :]), path
        if "crashed" not in path.parts and not path.is_relative_to(zk_era):
            assert len(data) == 8 * len(entries), path
        written += len(entries)
    assert len(paths) > 100
    assert written > 100


def test_prints_what_dump_log_segments_printed(golden: Path, zk_era: Path) -> None:
    cases = dump_cases(golden, ".index") + dump_cases(zk_era, ".index")
    for case in cases:
        index = OffsetIndex(case.base_offset, case.data)
        lines = [f"offset: {offset} position: {position}" for offset, position in index]
        assert (lines if index.entry_count else [f"{case.file} is empty."]) == case.printed, case.file
    assert len(cases) >= 10
