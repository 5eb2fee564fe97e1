"""The end of a log is looked at before anything is appended to it, also after a stop that was clean."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkapy.errors import KafkaError
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from tests.log.test_partition_log import NOW, PARTITION, batch, contents, open_log

FOUR = [(n, b"%d" % n) for n in range(4)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Four batches of the same size, closed in good order."""
    written = open_log(str(tmp_path), config=LogConfig())
    for _, value in FOUR:
        written.append_as_leader(batch(value), 0, NOW)
    written.close(NOW)
    return tmp_path / "00000000000000000000.log"


def reopened(log: Path, largest_batch: int = 1 << 20) -> PartitionLog:
    return open_log(str(log.parent), config=LogConfig(max_message_bytes=largest_batch))


def test_a_whole_log_is_left_alone(log: Path) -> None:
    before = log.read_bytes()
    again = reopened(log)
    assert (again.recovered, again.damaged_end) == ([], None)
    assert log.read_bytes() == before


@pytest.mark.parametrize("left", [1, 17, 30, 60])
def test_a_torn_batch_is_cut_off_and_what_follows_is_read(log: Path, left: int) -> None:
    size = log.stat().st_size // 4
    os.truncate(log, 3 * size + left)
    again = reopened(log)
    assert again.recovered == [f"cut {left} bytes off the end of {log.name}, which was torn"]
    again.append_as_leader(batch(b"new"), 0, NOW)
    again.close(NOW)
    assert contents(reopened(log)) == [*FOUR[:3], (3, b"new")]


def test_zeros_are_cut_off(log: Path) -> None:
    size = log.stat().st_size
    os.truncate(log, size + 100)
    assert len(reopened(log).recovered) == 1
    assert log.stat().st_size == size


def damaged(log: Path, offset: int, byte: int, value: int) -> bytes:
    data = bytearray(log.read_bytes())
    data[offset * (len(data) // 4) + byte] = value
    log.write_bytes(data)
    return bytes(data)


@pytest.mark.parametrize(
    ("offset", "byte", "largest_batch"),
    [(3, 65, 1 << 20), (1, 8, 1 << 20), (3, 8, 20)],
    ids=["a checksum", "a size, before good batches", "a size, before more than a batch"],
)
def test_other_damage_stays_and_nothing_is_appended_behind_it(
    log: Path, offset: int, byte: int, largest_batch: int
) -> None:
    before = damaged(log, offset, byte, 0x55)
    again = reopened(log, largest_batch)
    assert again.log_end_offset == offset
    assert again.recovered == []
    with pytest.raises(KafkaError, match=r"damaged at byte .* nothing is appended behind that") as refused:
        again.append_as_leader(batch(b"new"), 0, NOW)
    assert refused.value.name == "KafkaStorageException"
    again.close(NOW)
    assert log.read_bytes() == before


def test_a_follower_cuts_damage_off_and_takes_what_its_leader_has(log: Path) -> None:
    whole = log.read_bytes()
    damaged(log, 2, 65, 0x55)
    damaged(log, 3, 65, 0x55)
    again = reopened(log)
    assert again.append_as_follower(whole[len(whole) // 2 :], NOW) is not None
    again.close(NOW)
    assert again.recovered == [f"cut {len(whole) // 2} bytes off the end of {log.name}, which was damaged"]
    assert log.read_bytes() == whole


def test_damage_before_the_log_start_goes_with_its_segment(log: Path) -> None:
    whole = log.read_bytes()
    damaged(log, 1, 8, 0x55)
    again = PartitionLog.open(
        str(log.parent),
        PARTITION,
        LogConfig(),
        files=Files(sync=False),
        now=NOW,
        clean_shutdown=True,
        log_start_offset=2,
    )
    assert again.recovered == ["removed segment 0, which ends before offset 2, where the log begins"]
    again.recovered.clear()
    assert again.append_as_follower(whole[len(whole) // 2 :], NOW) is not None
    assert again.recovered == []
    assert contents(again) == FOUR[2:]
