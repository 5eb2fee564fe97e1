"""Two copies are made from one history, something is done to one, and the comparison must say what that was."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.formats.compression import Codec
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.batch import Batch
from kafkapy.log.batch_cursor import BatchCursor, skip_equal
from kafkapy.log.cleaner import clean
from kafkapy.log.cleaner_plan import log_to_clean
from kafkapy.log.cleaning_round import CleaningRound
from kafkapy.log.config import LogConfig
from kafkapy.log.epoch_comparison import EpochDifference, first_epoch_difference, truncation_offset
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.replica_comparison import compare, torn_bytes, verify
from tests.compaction_logs import CONFIG, NOW, PARTITION, STEP, open_log, write_random_log

DELETE = CONFIG._replace(cleanup_policy=("delete",))
seeds = st.integers(0, 2**32)


@contextmanager
def two_copies(seed: int, codecs: tuple[Codec, ...] = (Codec.NONE, Codec.LZ4)) -> Iterator[tuple[Path, Path, int]]:
    """Two directories with the same log, and the time at its end."""
    with tempfile.TemporaryDirectory() as directory:
        ours, theirs = Path(directory, "1", "t-0"), Path(directory, "2", "t-0")
        now = write_random_log(ours, Random(seed), codecs=codecs)
        shutil.copytree(ours, theirs)
        yield ours, theirs, now


def reader(path: Path, log_start_offset: int = 0) -> PartitionReader:
    return PartitionReader(str(path), PARTITION, log_start_offset)


def batches(path: Path) -> list[Batch]:
    return list(reader(path).read(0))


def boundary(path: Path, share: float) -> int:
    """An offset at which a batch begins, or the log ends."""
    found = [batch.header.base_offset for batch in batches(path) if batch.header.magic >= 2]
    offsets = [*found, reader(path).log_end_offset]
    return offsets[int(share * (len(offsets) - 1))]


def offsets_of(path: Path) -> set[int]:
    return {record.offset for batch in batches(path) for record in batch.records()}


def changed(path: Path, now: int, config: LogConfig = DELETE) -> PartitionLog:
    return open_log(str(path), config, now=now)


def compact(path: Path, now: int, checkpoint: int | None = None) -> int:
    """Compact a copy; up to where."""
    log = changed(path, now, CONFIG)
    found = log_to_clean(log, CONFIG, checkpoint, log.last_stable_offset(log.log_end_offset), now)
    end = checkpoint or 0
    if found.cleanable_bytes:
        cleaning = CleaningRound(log, CONFIG, found, log.producers, now)
        clean(log, cleaning)
        end = cleaning.end_offset
    log.close(now)
    for left in path.glob("*.deleted"):
        left.unlink()
    return end


@settings(max_examples=20)
@given(seed=seeds, segment_bytes=st.sampled_from((300, 5000)))
def test_the_same_batches_in_other_segments_are_alike(seed: int, segment_bytes: int) -> None:
    with two_copies(seed) as (ours, theirs, now):
        shutil.rmtree(theirs)
        log = changed(theirs, now, DELETE._replace(segment_bytes=segment_bytes))
        for batch in batches(ours):
            if batch.header.magic < 2:
                return  # a follower does not append messages of old formats one by one
            log.append_as_follower(batch.data, now)
        log.close(now)
        found = compare(reader(ours), reader(theirs))
        assert found == (0, reader(ours).log_end_offset, None, None, None, 0)


@settings(max_examples=15)
@given(seed=seeds, share=st.floats(0, 1))
def test_a_truncated_copy_is_shorter_and_not_different(seed: int, share: float) -> None:
    with two_copies(seed) as (ours, theirs, now):
        log = changed(theirs, now)
        log.truncate_to(boundary(ours, share), now)
        end = log.log_end_offset
        log.close(now)
        for one, other in ((ours, theirs), (theirs, ours)):
            assert compare(reader(one), reader(other)) == (0, end, None, None, None, 0)


@settings(max_examples=15)
@given(seed=seeds, share=st.floats(0, 1), epoch=st.sampled_from((0, 1)))
def test_a_copy_that_went_its_own_way(seed: int, share: float, epoch: int) -> None:
    with two_copies(seed) as (ours, theirs, now):
        log = changed(theirs, now)
        log.truncate_to(boundary(ours, share), now)
        offset, latest = log.log_end_offset, log.epochs.latest_epoch or 0
        log.append_as_leader(encode_batch([Record(0, now, b"k", b"another history")]), latest + epoch, now)
        log.close(now)
        found = compare(reader(ours), reader(theirs))
        assert (found.our_damage, found.their_damage) == (None, None)
        if offset == reader(ours).log_end_offset:
            assert found.difference is None
            return
        assert found.difference is not None
        assert found.difference.offset == found.end == offset
        assert found.difference.theirs is not None
        assert found.difference.theirs.header.partition_leader_epoch == latest + epoch
        wanted = next(batch for batch in batches(ours) if batch.header.last_offset >= offset)
        assert found.difference.ours is not None
        assert found.difference.ours.header == wanted.header
        assert Path(found.difference.ours.path).read_bytes()[found.difference.ours.position :].startswith(wanted.data)
        mirrored = compare(reader(theirs), reader(ours)).difference
        assert mirrored is not None
        assert (mirrored.ours, mirrored.theirs) == (found.difference.theirs, found.difference.ours)


@settings(max_examples=15)
@given(seed=seeds, wait=st.sampled_from((0, 30 * STEP, 100_000_000)), both=st.booleans())
def test_compaction_is_no_difference(seed: int, wait: int, both: bool) -> None:
    with two_copies(seed) as (ours, theirs, now):
        end = compact(theirs, now + wait)
        if both:
            compact(ours, now)
            end = compact(theirs, now + 2 * wait + STEP, end)
        found = compare(reader(ours), reader(theirs), compacted_to=end)
        assert found.difference is None, (found, end)
        assert found.compacted == len(offsets_of(ours) ^ offsets_of(theirs))
        mirrored = compare(reader(theirs), reader(ours), compacted_to=end)
        assert (mirrored.difference, mirrored.compacted) == (None, found.compacted)
        if offsets_of(ours) != offsets_of(theirs):
            first = min(offsets_of(ours) ^ offsets_of(theirs))
            strict = compare(reader(ours), reader(theirs)).difference
            assert strict is not None
            assert strict.offset <= first
            if first:
                partly = compare(reader(ours), reader(theirs), compacted_to=first).difference
                assert partly is not None


@settings(max_examples=15)
@given(seed=seeds, which=st.floats(0, 0.999), where=st.floats(0, 0.999), compacts=st.booleans())
def test_damage_is_told_by_file_and_byte(seed: int, which: float, where: float, compacts: bool) -> None:
    with two_copies(seed) as (ours, theirs, _):
        log = reader(theirs)
        found = [(segment, position, header) for segment in log.segments for position, header in segment.headers(0)]
        segment, position, header = found[int(which * len(found))]
        data = bytearray(Path(segment.log_path).read_bytes())
        data[position + 17 + int(where * (header.size - 17))] ^= 0x55
        Path(segment.log_path).write_bytes(data)
        compacted_to = log.log_end_offset if compacts else 0
        damage = compare(reader(ours), reader(theirs), compacted_to).their_damage
        assert damage is not None
        assert (damage.path, damage.position) == (segment.log_path, position)
        assert damage.offset <= header.base_offset
        assert compare(reader(theirs), reader(ours), compacted_to).our_damage == damage
        assert verify(reader(theirs), 0) == damage


@settings(max_examples=20)
@given(seed=seeds, share=st.floats(0, 0.999))
def test_retention_is_no_difference(seed: int, share: float) -> None:
    with two_copies(seed) as (ours, theirs, _):
        segments = reader(theirs).segments
        kept = segments[int(share * len(segments))].base_offset
        for path in theirs.glob("*.log"):
            if int(path.stem) < kept:
                path.unlink()
        found = compare(reader(ours), reader(theirs))
        assert found == (kept, reader(ours).log_end_offset, None, None, None, 0)
        deleted = min(kept + 2, reader(ours).log_end_offset)
        assert compare(reader(ours, deleted), reader(theirs)).difference is None


def test_damage_below_what_the_other_has_is_found(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "1", tmp_path / "2"
    log = open_log(str(ours), DELETE)
    for number in range(3):
        log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"%d" % number)]), 0, NOW)
        log.roll(NOW)
    log.close(NOW)
    shutil.copytree(ours, theirs)
    (ours / f"{0:020d}.log").unlink()
    damaged = theirs / f"{0:020d}.log"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    damage = compare(reader(ours), reader(theirs)).their_damage
    assert damage is not None
    assert (damage.path, damage.position, damage.offset) == (str(damaged), 0, 0)


def test_the_newest_record_of_a_key_is_not_to_go(tmp_path: Path) -> None:
    """Below the cleaner's checkpoint, with every record that both have the same, and yet not compaction."""
    records = [Record(0, NOW, b"a", b"1"), Record(1, NOW, b"b", b"1"), Record(2, NOW, b"a", b"2")]
    for name, kept in (("whole", records), ("compacted", records[1:]), ("lossy", records[2:])):
        log = open_log(str(tmp_path / name), DELETE)
        log.append_as_follower(encode_batch(kept, BatchOptions(base_offset=0, last_offset_delta=2)), NOW)
        log.close(NOW)
    whole = reader(tmp_path / "whole")
    assert compare(whole, reader(tmp_path / "compacted"), 3).difference is None
    lost = compare(whole, reader(tmp_path / "lossy"), 3).difference
    assert lost is not None
    assert lost.offset == 1
    assert "newest record" in lost.reason


def test_a_record_that_compaction_could_not_change(tmp_path: Path) -> None:
    for name, value in (("1", b"x"), ("2", b"y")):
        log = open_log(str(tmp_path / name), DELETE)
        log.append_as_leader(encode_batch([Record(0, NOW, b"a", b"1"), Record(1, NOW, b"b", value)]), 0, NOW)
        log.close(NOW)
    found = compare(reader(tmp_path / "1"), reader(tmp_path / "2"), compacted_to=99).difference
    assert found is not None
    assert (found.offset, found.reason) == (1, "the records differ")


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\0\0\0\0\0\0\0\x09\0\0\x01\0xxxx\x02" + b"x" * 60, b"\0\0"])
def test_a_torn_write_is_the_end_of_the_log(tmp_path: Path, tail: bytes) -> None:
    ours, theirs = tmp_path / "1", tmp_path / "2"
    log = open_log(str(ours), DELETE)
    log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"v")]), 0, NOW)
    log.close(NOW)
    shutil.copytree(ours, theirs)
    with (theirs / f"{0:020d}.log").open("ab") as file:
        file.write(tail)
    assert compare(reader(ours), reader(theirs)) == (0, 1, None, None, None, 0)
    assert compare(reader(theirs), reader(theirs)) == (0, 1, None, None, None, 0)
    assert (torn_bytes(reader(ours)), torn_bytes(reader(theirs))) == (0, len(tail))


@pytest.mark.parametrize(
    "tail",
    [
        bytes.fromhex("57a1c3e90b4d6f22 00c0ffee") + b"x" * 5000,
        b"\0\0\0\0\0\0\0\0\0\0\x01\0xxxx\x02" + b"x" * 60,
        b"\0\0\0\0\0\0\0\x09\0\0\x01\0xxxx\x03" + b"x" * 60,
    ],
    ids=["random", "an offset that is taken", "no such magic"],
)
def test_what_no_broker_was_about_to_write_is_damage(tmp_path: Path, tail: bytes) -> None:
    """Though it has a size that goes beyond the end of the file, as a torn write has."""
    ours, theirs = tmp_path / "1", tmp_path / "2"
    log = open_log(str(ours), DELETE)
    log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"v")]), 0, NOW)
    log.close(NOW)
    shutil.copytree(ours, theirs)
    path = theirs / f"{0:020d}.log"
    good = path.stat().st_size
    with path.open("ab") as file:
        file.write(tail)
    damage = compare(reader(ours), reader(theirs)).their_damage
    assert damage == (1, str(path), good, "these bytes are no batch")
    assert verify(reader(theirs), 0) == damage
    assert torn_bytes(reader(theirs)) == 0


def one_segment(directory: Path, count: int) -> Path:
    """A log of some batches; its only file."""
    log = open_log(str(directory), DELETE)
    for number in range(count):
        log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"%d" % number)]), 0, NOW)
    log.close(NOW)
    return directory / f"{0:020d}.log"


def overwrite(path: Path, position: int, data: bytes) -> None:
    before = path.read_bytes()
    path.write_bytes(before[:position] + data + before[position + len(data) :])


TOO_LONG = "the batch has a size of 65548 bytes, the file ends after "


@pytest.mark.parametrize("followed", [False, True])
@pytest.mark.parametrize(
    ("position", "data", "reason"),
    [
        (0, b"\xff", "offset -72057594037927936 in a segment that begins with offset 0"),
        (8, b"\0\1\0\0", TOO_LONG),
        (8, b"\xff", "Found record size -"),
        (8, b"\0\0\0\x28", "Record is corrupt"),
        (16, b"\3", "magic 3"),
        (16, b"\1", "Record is corrupt"),
        (17, b"crc!", "Record is corrupt"),
        (0, bytes.fromhex("57a1c3e90b4d6f22 00c0ffee"), "these bytes are no batch"),
    ],
)
def test_the_first_batch_of_the_only_segment(
    tmp_path: Path, followed: bool, position: int, data: bytes, reason: str
) -> None:
    """Whatever is wrong with it: no other batch, and no other copy, is needed to see that."""
    path = one_segment(tmp_path, 3 if followed else 1)
    overwrite(path, position, data)
    damage = verify(reader(tmp_path), 0)
    assert damage is not None
    assert (damage.offset, damage.path, damage.position) == (0, str(path), 0)
    assert damage.reason.startswith(reason)
    assert torn_bytes(reader(tmp_path)) == 0


@pytest.mark.parametrize("which", [0, 1])
def test_offsets_that_are_not_in_order(tmp_path: Path, which: int) -> None:
    """No checksum covers the first offset of a batch. Of two in the wrong order the first one is told."""
    path = one_segment(tmp_path, 3)
    position = batches(tmp_path)[which].position
    overwrite(path, position + 6, b"\x0f")
    assert verify(reader(tmp_path), 0) == (
        which,
        str(path),
        position,
        f"offset {3840 + which} is followed by offset {which + 1}",
    )


def test_a_wrong_size_where_the_log_starts_inside_a_segment(tmp_path: Path) -> None:
    path = one_segment(tmp_path, 4)
    path.with_suffix(".index").unlink()
    position = batches(tmp_path)[1].position
    overwrite(path, position + 8, b"\0\1\0\0")
    damage = verify(reader(tmp_path, 3), 3)
    assert damage is not None
    assert (damage.path, damage.position) == (str(path), position)
    assert damage.reason.startswith(TOO_LONG)


def test_a_closed_segment_that_was_cut_is_damage(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "1", tmp_path / "2"
    log = open_log(str(ours), DELETE)
    for number in range(4):
        log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"%d" % number)]), 0, NOW)
        if number == 1:
            log.roll(NOW)
    log.close(NOW)
    shutil.copytree(ours, theirs)
    cut = theirs / f"{0:020d}.log"
    cut.write_bytes(cut.read_bytes()[:-5])
    damage = compare(reader(ours), reader(theirs)).their_damage
    assert damage is not None
    assert (damage.offset, damage.reason) == (1, "the last batch of a segment is cut off")


@settings(max_examples=20)
@given(seed=seeds, share=st.floats(0, 1), chunk=st.integers(1, 900), largest=st.integers(1, 5000))
def test_equal_bytes_are_skipped_up_to_a_batch(seed: int, share: float, chunk: int, largest: int) -> None:
    with two_copies(seed) as (ours, theirs, now):
        log = changed(theirs, now)
        log.truncate_to(boundary(ours, share), now)
        log.append_as_leader(encode_batch([Record(0, now, b"k", b"other")]), log.epochs.latest_epoch or 0, now)
        log.close(now)
        same = 0
        for mine, other in zip(batches(ours), batches(theirs), strict=False):
            if mine.data != other.data:
                break
            same += len(mine.data)
        with BatchCursor(reader(ours), 0) as one, BatchCursor(reader(theirs), 0) as two:
            assert skip_equal(one, two, chunk, largest) == same
            seen = {batch.data for batch in (one.batch(), two.batch()) if batch is not None}
            assert len(seen) == 2 or same == reader(ours).size


def chain(*pairs: tuple[int, int]) -> list[EpochEntry]:
    return [EpochEntry(*pair) for pair in pairs]


def test_where_epochs_part() -> None:
    ours = chain((0, 0), (2, 10), (3, 20))
    assert first_epoch_difference(ours, chain((0, 0), (2, 10)), 0, 20) is None, "one that is behind"
    assert first_epoch_difference(ours, chain((2, 15), (3, 20)), 15, 30) is None, "a later log start"
    assert first_epoch_difference(ours, chain((0, 0), (1, 10)), 0, 20) == EpochDifference(10, 2, 1)
    assert first_epoch_difference(ours, chain((0, 0), (2, 12), (3, 20)), 0, 30) == EpochDifference(10, 2, 0)
    assert first_epoch_difference(ours, [], 0, 30) == EpochDifference(0, 0, None)


@pytest.mark.parametrize(
    ("follower", "end", "offset"),
    [
        (chain((0, 0), (2, 10), (3, 20)), 30, 30),
        (chain((0, 0), (2, 10), (3, 20)), 50, 40),
        (chain((0, 0), (2, 10)), 25, 20),
        (chain((0, 0), (1, 10)), 15, 10),
        (chain((0, 0), (1, 8)), 15, 8),
        (chain((0, 0), (4, 20)), 30, None),
        ([], 30, None),
    ],
)
def test_where_a_follower_would_truncate(follower: list[EpochEntry], end: int, offset: int | None) -> None:
    assert truncation_offset(chain((0, 0), (2, 10), (3, 20)), 40, follower, end) == offset
