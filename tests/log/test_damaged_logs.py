"""Logs that are not whole.

Invariants, for any byte that a checksum or the size covers, and any place to cut at:

- what ``salvage`` gives is a part of what was written, in order;
- where something is missing, something was told, with the path of the file;
- ``read`` gives every batch before the end of the log, good or not, or says where it had to stop.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import DamagedFileError
from kafkapy.formats.record_batch import MAGIC_POSITION, BatchOptions, Record, decode_header, encode_batch
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.segment import LogSegment
from kafkapy.log.topic_partition import TopicPartition

P0 = TopicPartition("t", 0)
IN_A_SEGMENT = 4
SEGMENTS = 3
END = SEGMENTS * IN_A_SEGMENT
COVERED = [8, 9, 10, 11, *range(MAGIC_POSITION + 1, 61)]


def batch(offset: int) -> bytes:
    return encode_batch([Record(offset, 1000 + offset, b"k", b"v" * 9)], BatchOptions(base_offset=offset))


SIZE = len(batch(0))


def write(directory: Path, interval: int = 0) -> Path:
    """Three segments of four batches; an index entry every ``interval`` bytes."""
    for number in range(SEGMENTS):
        segment = LogSegment(
            str(directory), number * IN_A_SEGMENT, LogConfig(index_interval_bytes=interval), Files(sync=False), 0
        )
        segment.create()
        for offset in range(segment.base_offset, segment.base_offset + IN_A_SEGMENT):
            data = batch(offset)
            segment.append(data, [decode_header(data)])
        segment.become_inactive()
        segment.flush()
        segment.release()
    return directory


def log_path(directory: Path, number: int) -> Path:
    return directory / f"{number * IN_A_SEGMENT:020d}.log"


def salvaged(reader: PartitionReader) -> tuple[list[int], list[str]]:
    told: list[str] = []
    return [each.header.base_offset for each in reader.salvage(told.append)], told


@pytest.fixture
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield write(Path(name))


def test_a_whole_log(directory: Path) -> None:
    reader = PartitionReader(str(directory), P0, clean_end=END)
    assert reader.damage is None
    assert salvaged(reader) == (list(range(END)), [])


@given(
    st.integers(0, SEGMENTS - 1), st.integers(0, IN_A_SEGMENT - 1), st.sampled_from(COVERED), st.integers(1, 255),
    st.sampled_from([0, 1 << 20]),
)  # fmt: skip
def test_a_turned_byte_is_told(number: int, at: int, byte: int, bits: int, interval: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = log_path(write(Path(name), interval), number)
        data = bytearray(path.read_bytes())
        data[at * SIZE + byte] ^= bits
        path.write_bytes(data)
        found, told = salvaged(PartitionReader(name, P0))
        lost = number * IN_A_SEGMENT + at
        assert set(range(END)) - set(found) >= {lost}
        assert found == sorted(set(found))
        assert [each for each in found if not lost <= each < (number + 1) * IN_A_SEGMENT] == [
            each for each in range(END) if not lost <= each < (number + 1) * IN_A_SEGMENT
        ], "the other segments, and what is before it"
        assert told
        assert told[0].startswith(f"{path}: damaged at byte {at * SIZE}: ")


@given(st.integers(0, SEGMENTS - 1), st.integers(0, IN_A_SEGMENT * SIZE - 1), st.sampled_from([0, 1 << 20]))
def test_a_cut_is_told(number: int, size: int, interval: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = log_path(write(Path(name), interval), number)
        os.truncate(path, size)
        whole = size // SIZE
        reader = PartitionReader(name, P0, clean_end=END)
        found, told = salvaged(reader)
        lost = range(number * IN_A_SEGMENT + whole, (number + 1) * IN_A_SEGMENT)
        assert found == [each for each in range(END) if each not in lost]
        if size % SIZE:
            (problem,) = told
            assert problem.startswith(f"{path}: damaged at byte {whole * SIZE}: ")
            assert problem.endswith(f"; {size % SIZE} bytes from there on are not read")
            if number < SEGMENTS - 1:
                with pytest.raises(DamagedFileError, match=f"damaged at byte {whole * SIZE}: "):
                    list(reader.read(0))
        elif number == SEGMENTS - 1:
            assert told == [
                f"{path}: ends at byte {size} and offset {reader.log_end_offset}, but the log went to {END} when its "
                "broker stopped"
            ]


def test_a_torn_end_is_where_a_crash_left_off(directory: Path) -> None:
    """Readers of records stop before it, as a broker would cut there."""
    path = log_path(directory, 2)
    os.truncate(path, path.stat().st_size - 1)
    reader = PartitionReader(str(directory), P0)
    assert reader.log_end_offset == END - 1
    assert [each.header.base_offset for each in reader.read(0)] == list(range(END - 1))
    assert reader.damage == (
        f"{path}: damaged at byte {3 * SIZE}: the batch has a size of {SIZE} bytes, the file ends after {SIZE - 1}; "
        f"{SIZE - 1} bytes from there on are not read"
    )


def test_a_size_that_is_wrong_before_the_last_index_entry_ends_a_read_with_an_error(directory: Path) -> None:
    path = log_path(directory, 1)
    data = bytearray(path.read_bytes())
    data[SIZE + 9] = 0xFF
    path.write_bytes(data)
    reader = PartitionReader(str(directory), P0)
    batches = reader.read(0)
    assert [next(batches).header.base_offset for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(DamagedFileError, match=f"{path.name}: damaged at byte {SIZE}: the batch has a size of"):
        next(batches)
    assert salvaged(reader)[0] == [0, 1, 2, 3, 4, 8, 9, 10, 11]


def test_all_that_the_last_index_entry_leads_to_is_damaged(directory: Path) -> None:
    path = log_path(directory, 2)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    reader = PartitionReader(str(directory), P0)
    assert reader.log_end_offset == END - 1
    assert reader.damage is not None
    assert "damaged at byte" in reader.damage
    assert "Record is corrupt (stored crc = " in reader.damage


@pytest.mark.parametrize(("size", "is_damage"), [(1 << 20, False), (1 << 16, True)])
def test_preallocated_space_is_no_damage(directory: Path, size: int, is_damage: bool) -> None:
    path = log_path(directory, 2)
    os.truncate(path, size)
    reader = PartitionReader(str(directory), P0)
    assert (reader.damage is not None) is is_damage
    assert reader.log_end_offset == END
    assert salvaged(reader)[0] == list(range(END))


def test_a_log_file_that_is_gone(directory: Path) -> None:
    log_path(directory, 1).unlink()
    found, told = salvaged(PartitionReader(str(directory), P0))
    assert found == [0, 1, 2, 3, 8, 9, 10, 11]
    assert told == [f"{directory}: {log_path(directory, 1).name} is missing, though its index is there"]
    for path in directory.iterdir():
        path.unlink()
    assert PartitionReader(str(directory), P0).damage == f"{directory}: has no .log file"


def test_a_segment_on_its_way_out_is_not_missing(directory: Path) -> None:
    first = log_path(directory, 0)
    first.rename(f"{first}.deleted")  # a broker renames the log first
    assert PartitionReader(str(directory), P0).damage is None
