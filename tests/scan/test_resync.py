"""``--resync``: every batch that damage did not touch is printed, and what is lost is told."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from random import Random

import pytest

from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.output.output_format import Output
from kafkapy.scan.options import Filters
from tests.dumping import dumped, rows
from tests.segments import OldMessage, batch_with_body, encode_message, flip_bits, set_byte, zero_fill

NAME = "00000000000000000000.log"


def batch(offset: int, count: int = 2, codec: Codec = Codec.NONE) -> bytes:
    records = [Record(offset + n, 1000 + n, b"key-%d" % (offset + n), b"value" * 5) for n in range(count)]
    return encode_batch(records, BatchOptions(offset, codec))


BATCHES = [batch(0), batch(2, codec=Codec.LZ4), batch(4), batch(6, codec=Codec.ZSTD), batch(8)]
ENDS = [sum(map(len, BATCHES[: n + 1])) for n in range(len(BATCHES))]


def offsets(path: Path) -> tuple[list[int], bytes, int]:
    done = dumped(path, deep_iteration=True, resync=True)
    found = [int(number) for number in re.findall(rb"^\| offset: (\d+) ", done.stdout, re.M)]
    return found, done.stderr, done.code


def write(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / NAME
    path.write_bytes(data)
    return path


def test_a_whole_file_is_printed_as_without(tmp_path: Path) -> None:
    path = write(tmp_path, b"".join(BATCHES))
    for options in ({}, {"print_data_log": True}, {"deep_iteration": True, "output": Output.JSONL}):
        assert dumped(path, resync=True, **options) == dumped(path, **options)


def test_a_batch_with_a_wrong_checksum_is_left_out(tmp_path: Path) -> None:
    data = bytearray(b"".join(BATCHES))
    data[ENDS[1] - 1] ^= 1
    path = write(tmp_path, bytes(data))
    lost = f"{path}: lost bytes {ENDS[0]} to {ENDS[1] - 1} ({ENDS[1] - ENDS[0]} bytes), offsets 2 to 3\n"
    found, told, code = offsets(path)
    assert found == [0, 1, 4, 5, 6, 7, 8, 9]
    assert told.decode().splitlines(keepends=True)[0] == lost
    assert code == 1


def test_a_wrong_size_is_passed_by_search(tmp_path: Path) -> None:
    for size in (-1, 0, 13, 60, 10**6, 2**31 - 1):
        data = bytearray(b"".join(BATCHES))
        struct.pack_into(">i", data, ENDS[1] + 8, size)
        path = write(tmp_path, bytes(data))
        found, told, code = offsets(path)
        assert (found, code) == ([0, 1, 2, 3, 6, 7, 8, 9], 1)
        assert f"lost bytes {ENDS[1]} to {ENDS[2] - 1} ".encode() in told


def test_garbage_between_batches(tmp_path: Path) -> None:
    for garbage in (b"\x00" * 5000, b"\xff" * 999, Random(1).randbytes(3000), b"\x02" * 300):
        path = write(tmp_path, b"".join(BATCHES[:2]) + garbage + b"".join(BATCHES[2:]))
        found, told, code = offsets(path)
        assert (found, code) == (list(range(10)), 1)
        assert f"lost bytes {ENDS[1]} to {ENDS[1] + len(garbage) - 1} ({len(garbage)} bytes)\n".encode() in told


def test_a_torn_tail(tmp_path: Path) -> None:
    path = write(tmp_path, b"".join(BATCHES)[:-3])
    found, told, code = offsets(path)
    assert (found, code) == (list(range(8)), 1)
    lost = ENDS[4] - ENDS[3] - 3
    expected = f"{path}: lost bytes {ENDS[3]} to {ENDS[4] - 4} ({lost} bytes), offsets from 8 on\n"
    assert told.decode() == expected


def test_only_garbage(tmp_path: Path) -> None:
    path = write(tmp_path, b"\x00" * 100_000)
    assert offsets(path) == ([], f"{path}: lost bytes 0 to 99999 (100000 bytes), offsets from 0 on\n".encode(), 1)


def test_an_older_batch_is_not_taken_for_the_next(tmp_path: Path) -> None:
    """A stale copy in the middle of damage, as in a reused preallocated file."""
    path = write(tmp_path, b"".join(BATCHES[:3]) + b"\xff" * 40 + BATCHES[0] + b"\xff" * 40 + BATCHES[3])
    assert offsets(path)[0] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_damage_behind_a_right_checksum(tmp_path: Path) -> None:
    broken = batch_with_body(BATCHES[1], b"\xff" * 30)
    path = write(tmp_path, BATCHES[0] + broken + b"".join(BATCHES[2:]))
    found, told, code = offsets(path)
    assert (found, code) == ([0, 1, 4, 5, 6, 7, 8, 9], 1)
    assert f"lost bytes {ENDS[0]} to {ENDS[0] + len(broken) - 1} ".encode() in told


def test_old_messages_are_found_too(tmp_path: Path) -> None:
    messages = [encode_message(OldMessage(n, b"k", b"v" * 20, 5), n % 2) for n in range(6)]
    path = write(tmp_path, messages[0] + messages[1] + b"\xff" * 77 + b"".join(messages[2:]))
    assert offsets(path)[0] == [0, 1, 2, 3, 4, 5]


def test_with_a_filter(tmp_path: Path) -> None:
    data = bytearray(b"".join(BATCHES))
    data[ENDS[0] + 30] ^= 1
    done = dumped(write(tmp_path, bytes(data)), filters=Filters(key="key-[36]"), resync=True, output=Output.JSONL)
    assert re.findall(rb'"offset":(\d+)', done.stdout) == [b"6"]
    assert done.code == 1


@pytest.mark.parametrize("seed", range(3))
def test_every_batch_that_damage_did_not_touch_is_printed(tmp_path: Path, seed: int) -> None:
    for number in range(150):
        rng = Random(f"{seed}-{number}")
        batches = [batch(3 * n, rng.randrange(1, 4), rng.choice(list(Codec))) for n in range(8)]
        whole = b"".join(batches)
        damaged = rng.choice((flip_bits, set_byte, zero_fill))(rng, whole)
        path = write(tmp_path, damaged)
        position, expected = 0, []
        for n, each in enumerate(batches):
            if damaged[position : position + len(each)] == each:
                expected.append(3 * n)
            position += len(each)
        done = dumped(path, resync=True)
        found = [int(base) for base in re.findall(rb"^baseOffset: (\d+) ", done.stdout, re.M)]
        # an offset or a leader epoch is not under the checksum: such damage may leave a batch that is printed
        assert set(expected) - set(found) <= shadowed(damaged, whole), f"seed {seed}-{number}"
        assert done.code == (1 if b"lost bytes" in done.stderr else 0)


def shadowed(damaged: bytes, whole: bytes) -> set[int]:
    """Batches that cannot be told from stale ones, since damage made an offset before them larger."""
    position, largest, found = 0, -1, set()
    while position < len(whole):
        offset, size = struct.unpack_from(">qi", whole, position)
        shown = struct.unpack_from(">q", damaged, position)[0] if position + 8 <= len(damaged) else offset
        if largest >= offset:
            found.add(offset)
        largest = max(largest, shown)
        position += size + 12
    return found


def test_rows_of_what_is_left(tmp_path: Path) -> None:
    path = write(tmp_path, b"".join(BATCHES))
    expected = rows(path, print_data_log=True)
    path = write(tmp_path, b"\xaa" * 100 + b"".join(BATCHES))
    done = dumped(path, print_data_log=True, resync=True, output=Output.JSON)
    assert done.code == 1
    found = json.loads(done.stdout)["rows"]
    for row in found:
        row["batch_position"] -= 100
    assert found == expected
