"""Batches and records that are larger than the window: the same lines, without the memory."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from kafkapy.formats.compression import Codec
from kafkapy.formats.java_text import java_utf8
from kafkapy.formats.record_batch import BatchOptions, Header, Record, decode_header, encode_batch
from kafkapy.kernel.lines import batch_line, text_head
from kafkapy.log.window import MAX_WINDOW
from kafkapy.scan.options import Filters
from tests.dumping import KERNELS, Dumped, dumped, environment, rows, run_dumps
from tests.segments import any_records, offset_index, repaired

NAME = "00000000000000000000.log"
CODECS = (Codec.NONE, Codec.ZSTD, Codec.LZ4)
MOST_MEMORY = 100 << 20


def text_of(path: Path, batches: list[tuple[bytes, list[Record]]], data: bool = True) -> bytes:
    """What Kafka prints of a segment, from the records that it was made of."""
    out, position = bytearray(f"Dumping {path}\nLog starting offset: 0\n".encode()), 0
    for batch, records in batches:
        header = decode_header(batch)
        out += batch_line(header, position, True)
        for record in records:
            sizes = [-1 if part is None else len(part) for part in (record.key, record.value)]
            out += text_head("CreateTime", record.offset, record.timestamp, *sizes, -1)
            out += b",".join(each.key.encode() for each in record.headers) + b"]"
            if data and record.key is not None:
                out += b" key: " + java_utf8(record.key)
            if data and record.value is not None:
                out += b" payload: " + java_utf8(record.value)
            out += b"\n"
        position += len(batch)
    return bytes(out)


def assert_same(found: Dumped, expected: bytes) -> None:
    """The outputs are too large to be shown whole."""
    if found.stdout != expected:
        at = next(n for n in range(len(expected) + 1) if found.stdout[n : n + 1] != expected[n : n + 1])
        shown = f"{found.stdout[at : at + 64]!r}, not {expected[at : at + 64]!r}"
        pytest.fail(f"at {at}: {shown}; {found.stderr!r}")
    assert found.code == 0


def noisy(rng: Random, size: int) -> bytes:
    """Bytes that compress badly and are malformed UTF-8 at every boundary."""
    return (rng.randbytes(65_537) * (size // 65_537 + 1))[:size]


def segment(codec: Codec, large: list[Record]) -> list[tuple[bytes, list[Record]]]:
    """The large batch with small ones around it."""
    rng, first = Random(3), large[0].offset
    after = large[-1].offset + 1
    small = [any_records(rng, 0, 3), any_records(rng, after, 3)]
    return [
        (encode_batch(small[0]), small[0]),
        (encode_batch(large, BatchOptions(first, codec)), large),
        (encode_batch(small[1], BatchOptions(after)), small[1]),
    ]


MANY = [Record(100 + n, 5 + n, b"k%d" % n, noisy(Random(n), 20_000), (Header("h", b"v"),)) for n in range(1000)]
HUGE = Record(
    101, 6, noisy(Random(1), 70_000), noisy(Random(2), 18 << 20), (Header("é", b"x"), Header("", None))
)  # fmt: skip
ONE = [Record(100, 5, b"k", b"v"), HUGE, Record(102, 7, None, None)]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("large", [MANY, ONE], ids=["many records", "one large record"])
def test_the_text_is_that_of_any_batch(tmp_path: Path, codec: Codec, large: list[Record]) -> None:
    batches = segment(codec, large)
    path = tmp_path / NAME
    path.write_bytes(b"".join(batch for batch, _ in batches))
    assert path.stat().st_size > MAX_WINDOW or codec is not Codec.NONE
    assert_same(dumped(path, print_data_log=True), text_of(path, batches))
    assert_same(dumped(path, deep_iteration=True), text_of(path, batches, data=False))
    headers = dumped(path).stdout
    assert headers.count(b" isvalid: true\n") == 3


@pytest.mark.parametrize("kernel", KERNELS)
def test_batches_across_many_windows(tmp_path: Path, kernel: str) -> None:
    """Ordinary batches of all sizes, cut by the ends of windows in all places."""
    rng, offset, batches = Random(8), 0, []
    while sum(len(batch) for batch, _ in batches) < 6 << 20:
        records = [
            Record(offset + n, 5, b"k%d" % n, noisy(rng, rng.choice((0, 10, 300, 3000))))
            for n in range(rng.choice((1, 10, 100, 5000 if not offset else 50)))
        ]
        codec = rng.choice((Codec.NONE, Codec.NONE, Codec.LZ4, Codec.ZSTD))
        batches.append((encode_batch(records, BatchOptions(offset, codec)), records))
        offset += len(records)
    (tmp_path / NAME).write_bytes(b"".join(batch for batch, _ in batches))
    (done,) = run_dumps(kernel, tmp_path, [["--files", NAME, "--print-data-log"]])
    assert_same(done, text_of(Path(NAME), batches))


@pytest.mark.parametrize("kernel", KERNELS)
def test_both_kernels(tmp_path: Path, kernel: str) -> None:
    batches = segment(Codec.ZSTD, ONE)
    (tmp_path / NAME).write_bytes(b"".join(batch for batch, _ in batches))
    (done,) = run_dumps(kernel, tmp_path, [["--files", NAME, "--print-data-log"]])
    assert_same(done, text_of(Path(NAME), batches))


@pytest.mark.parametrize("codec", CODECS)
def test_filters_and_rows(tmp_path: Path, codec: Codec) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"".join(batch for batch, _ in segment(codec, ONE)))
    (row,) = rows(path, print_data_log=True, filters=Filters(from_offset=101, to_offset=101))
    assert (row["offset"], row["value_size"], row["value_encoding"]) == (101, 18 << 20, "base64")
    assert [row["offset"] for row in rows(path, filters=Filters(key="^k$"))] == [100]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("large", [MANY, ONE], ids=["many records", "one large record"])
def test_indexes_of_large_batches(tmp_path: Path, codec: Codec, large: list[Record]) -> None:
    data = b"".join(batch for batch, _ in segment(codec, large))
    path = tmp_path / NAME
    path.write_bytes(data)
    path.with_suffix(".index").write_bytes(offset_index(data, 0))
    # the small batches around are much later than the large one
    times = struct.pack(">qi", max(record.timestamp for record in large), large[-1].offset)
    path.with_suffix(".timeindex").write_bytes(times)
    for suffix in (".index", ".timeindex"):
        done = dumped(path.with_suffix(suffix), verify_index_only=True, max_message_size=1 << 30)
        assert (done.code, done.stderr) == (0, b"")


@pytest.mark.parametrize("codec", CODECS)
def test_damage_at_the_end_of_a_large_batch(tmp_path: Path, codec: Codec) -> None:
    """Of an uncompressed batch the records before the damage come out, of a compressed one none does."""
    batches = segment(Codec.NONE, MANY)
    path = tmp_path / NAME
    large = bytearray(batches[1][0])
    if codec is Codec.NONE:
        large[-2] = 0x7F  # the size of the last header's value, past the end
        shown = MANY[:-1]
    else:
        large = bytearray(encode_batch([*MANY, Record(1100, 0, b"k", b"v")], BatchOptions(100, codec)))
        large[57:61] = (len(MANY)).to_bytes(4, "big")
        shown = []
    damaged = repaired(bytes(large))
    path.write_bytes(batches[0][0] + damaged)
    done = dumped(path, print_data_log=True)
    assert done.code == 1
    assert done.stdout == text_of(path, [batches[0], (damaged, shown)])
    assert done.stderr.startswith(f"kafkapy: {path}: damaged at byte {len(batches[0][0])}: ".encode())


# Linux counts the memory of the process that forked as the child's own, so a small process in between starts it.
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("codec", "noise"), [(Codec.NONE, False), (Codec.ZSTD, False), (Codec.GZIP, False), (Codec.ZSTD, True)]
)
def test_memory_does_not_grow_with_a_record(tmp_path: Path, kernel: str, codec: Codec, noise: bool) -> None:
    path, out = tmp_path / NAME, tmp_path / "out"
    value = (b"a value that is long, and longer still \xc3\xa9 " * 4_000_000)[: 150 << 20]
    if noise:
        value = Random(1).randbytes(150 << 20)
    path.write_bytes(encode_batch([Record(0, 5, b"k", value)], BatchOptions(0, codec, level=1)))
    command = [sys.executable, "-m", "kafkapy", "dump-log", "--files", str(path), "--print-data-log"]
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, str(out), *command], env=environment(kernel), capture_output=True, check=True
    )
    code, memory = map(int, done.stdout.split())
    assert (code, done.stderr) == (0, b"")
    assert out.stat().st_size > len(value)
    assert memory < MOST_MEMORY, f"{memory >> 20} MiB"
