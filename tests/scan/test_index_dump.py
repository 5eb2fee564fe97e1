"""Index files: their entries, what disagrees with the log, and that nothing is ever written."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.output.output_format import Output
from tests.dumping import dumped, rows
from tests.segments import offset_index, time_index

STEM = "00000000000000000100"
BATCHES = [
    encode_batch(
        [Record(100 + 2 * n, 1000 + n, b"k", b"v"), Record(101 + 2 * n, 1500 + n, b"k", b"v")],
        BatchOptions(100 + 2 * n, codec),
    )
    for n, codec in enumerate(Codec)
]
POSITIONS = [sum(map(len, BATCHES[:n])) for n in range(len(BATCHES))]
LOG = b"".join(BATCHES)


def entry(offset: int, position: int) -> bytes:
    return struct.pack(">ii", offset - 100, position)


def time_entry(timestamp: int, offset: int) -> bytes:
    return struct.pack(">qi", timestamp, offset - 100)


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    path = tmp_path / f"{STEM}.log"
    path.write_bytes(LOG)
    path.with_suffix(".index").write_bytes(offset_index(LOG, 100))
    path.with_suffix(".timeindex").write_bytes(time_index(LOG, 100))
    return path


def test_an_index_that_fits(segment: Path) -> None:
    index = segment.with_suffix(".index")
    lines = [f"offset: {101 + 2 * n} position: {POSITIONS[n]}\n" for n in range(1, 5)]
    assert dumped(index) == (0, f"Dumping {index}\n{''.join(lines)}".encode(), b"")
    assert dumped(index, verify_index_only=True) == (0, f"Dumping {index}\n".encode(), b"")
    passed = f"Dumping {index}\n{index} passed sanity check.\n"
    assert dumped(index, index_sanity_check=True) == (0, passed.encode(), b"")


def test_a_time_index_that_fits(segment: Path) -> None:
    index = segment.with_suffix(".timeindex")
    lines = [f"timestamp: {1500 + n} offset: {101 + 2 * n}\n" for n in range(5)]
    assert dumped(index) == (0, f"Dumping {index}\n{''.join(lines)}".encode(), b"")
    assert dumped(index, verify_index_only=True) == (0, f"Dumping {index}\n".encode(), b"")


def test_mismatches_are_told_from_the_largest_offset_down(segment: Path) -> None:
    index = segment.with_suffix(".index")
    index.write_bytes(entry(102, POSITIONS[1]) + entry(105, POSITIONS[2]) + entry(106, POSITIONS[3]))
    done = dumped(index, verify_index_only=True)
    assert done.stderr.decode() == (
        f"Mismatches in :{index}\n  Index offset: 106, log offset: 107\n  Index offset: 102, log offset: 103\n"
    )
    assert done.code == 0
    assert [row["matches"] for row in rows(index)] == [False, True, False]


def test_an_entry_that_points_into_nothing(segment: Path) -> None:
    index = segment.with_suffix(".index")
    for position, reason in (
        (POSITIONS[1] + 5, "Found record size"),
        (len(LOG), "no whole batch at position"),
        (len(LOG) + 1, "points to position"),
        (-1, "points to position -1"),
    ):
        index.write_bytes(entry(103, POSITIONS[1]) + entry(105, position))
        done = dumped(index)
        assert done.code == 1
        assert done.stdout.endswith(f"offset: 103 position: {POSITIONS[1]}\n".encode())
        assert done.stderr.startswith(f"kafkapy: {index}: damaged at byte 8: ".encode())
        assert reason in done.stderr.decode() or position == POSITIONS[1] + 5


def test_a_preallocated_tail_is_not_shown(segment: Path) -> None:
    index, times = segment.with_suffix(".index"), segment.with_suffix(".timeindex")
    for path, unit in ((index, 8), (times, 12)):
        whole = dumped(path)
        path.write_bytes(path.read_bytes() + bytes(unit * 1000))
        assert dumped(path) == whole


def test_an_empty_index(segment: Path) -> None:
    index, times = segment.with_suffix(".index"), segment.with_suffix(".timeindex")
    index.write_bytes(b"")
    times.write_bytes(b"")
    assert dumped(index).stdout.decode() == f"Dumping {index}\n{index} is empty.\n"
    assert dumped(times).stdout.decode() == f"Dumping {times}\n"
    assert rows(index) == rows(times) == []


def test_a_failed_sanity_check(segment: Path) -> None:
    index, times = segment.with_suffix(".index"), segment.with_suffix(".timeindex")
    index.write_bytes(entry(103, 1) + entry(90, 2))
    times.write_bytes(time_entry(5, 103) + time_entry(3, 104))
    for path in (index, times):
        done = dumped(path, index_sanity_check=True)
        assert (done.code, done.stdout) == (1, f"Dumping {path}\n".encode())
        assert str(path) in done.stderr.decode()
    index.write_bytes(entry(103, 1) + b"\x00")
    assert dumped(index, index_sanity_check=True).code == 1


def test_what_a_time_index_can_have_wrong(segment: Path) -> None:
    index = segment.with_suffix(".timeindex")
    index.write_bytes(
        time_entry(1500, 101) + time_entry(1600, 103) + time_entry(1400, 105) + time_entry(1700, 106)
        + time_entry(1800, 200)
    )  # fmt: skip
    done = dumped(index, verify_index_only=True)
    assert done.code == 0
    assert done.stderr.decode() == (
        f"Found timestamp mismatch in :{index}\n"
        "  Index timestamp: 1600, log timestamp: 1501\n"
        "  Index timestamp: 1400, log timestamp: 1502\n"
        f"Found out of order timestamp in :{index}\n"
        "  Index timestamp: 1400, Previously indexed timestamp: 1600\n"
        f"The following indexed offsets are not found in :{index}\n"
        "Indexed offset: 106, found log offset: 107\n"
        "Indexed offset: 200, found log offset: -1\n"
    )


def test_max_message_size_limits_what_is_looked_at(segment: Path) -> None:
    index = segment.with_suffix(".index")
    assert dumped(index, max_message_size=10).code == 1
    assert dumped(index, max_message_size=max(map(len, BATCHES))).code == 0


@pytest.mark.parametrize(("suffix", "missing"), [(".index", ".log"), (".timeindex", ".log"), (".timeindex", ".index")])
def test_a_missing_file_is_told_and_not_made(segment: Path, suffix: str, missing: str) -> None:
    segment.with_suffix(missing).unlink()
    before = sorted(segment.parent.iterdir())
    path = segment.with_suffix(suffix)
    done = dumped(path)
    assert (done.code, done.stdout) == (1, f"Dumping {path}\n".encode())
    assert done.stderr == f"kafkapy: {segment.with_suffix(missing)}: No such file or directory\n".encode()
    assert sorted(segment.parent.iterdir()) == before


def test_a_dump_changes_no_file(segment: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in segment.parent.iterdir()}
    for options in ({}, {"verify_index_only": True}, {"index_sanity_check": True}, {"output": Output.CSV}):
        dumped(segment.parent, **options)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in segment.parent.iterdir()} == before
