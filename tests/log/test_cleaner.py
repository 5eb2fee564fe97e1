from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.backends.committed import without_aborted
from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import HEADER_SIZE, BatchOptions, Record, encode_batch
from kafkapy.log.cleaner import clean
from kafkapy.log.cleaner_plan import LogToClean, log_to_clean
from kafkapy.log.cleaning_round import CleanedGroup, CleaningRound, estimate
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.producer_append import Origin
from tests.compaction_logs import CONFIG, NOW, PARTITION, STEP, marker, open_log, write_random_log
from tests.faults import FaultyFiles, Killed
from tests.golden_set import unpack

WIDE = CONFIG._replace(segment_bytes=1 << 20)


def committed(log: PartitionLog | PartitionReader) -> list[Record]:
    """What a read_committed consumer gets, and what is behind the last stable offset."""
    start, end = log.log_start_offset, log.log_end_offset
    batches = without_aborted(log.read(start), log.aborted_transactions(start, end))
    return [record for batch in batches if not batch.header.is_control for record in batch.records()]


def newest(records: list[Record]) -> dict[bytes, Record]:
    """The last record of each key, tombstones left out: they may be there or gone."""
    latest = {record.key: record for record in records if record.key is not None}
    return {key: record for key, record in latest.items() if record.value is not None}


def to_clean(log: PartitionLog, checkpoint: int | None = None, now: int = NOW) -> LogToClean:
    return log_to_clean(log, log.config, checkpoint, log.last_stable_offset(log.log_end_offset), now)


def run(log: PartitionLog, checkpoint: int | None = None, now: int = NOW, capacity: int = 1000) -> list[CleanedGroup]:
    found = to_clean(log, checkpoint, now)
    return clean(log, CleaningRound(log, log.config, found, log.producers, now, capacity))


def append(log: PartitionLog, *pairs: tuple[bytes | None, bytes | None], roll: bool = True, time: int = NOW) -> None:
    records = [Record(number, time, key, value) for number, (key, value) in enumerate(pairs)]
    log.append_as_leader(encode_batch(records), 0, time)
    if roll:
        log.roll(time)


def contents(log: PartitionLog | PartitionReader) -> list[tuple[int, bytes | None, bytes | None]]:
    found = [record for batch in log.read(0) if not batch.header.is_control for record in batch.records()]
    return [(record.offset, record.key, record.value) for record in found]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    waits=st.lists(st.sampled_from((0, 30 * STEP, 100_000_000)), min_size=1, max_size=4),
    forgotten=st.sets(st.integers(0, 3)),
    capacity=st.sampled_from((3, 1000)),
)
def test_the_newest_of_each_key_stays_where_it_was(
    seed: int, waits: list[int], forgotten: set[int], capacity: int
) -> None:
    """Round after round, also where a checkpoint was lost in between."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "t-0")
        now = write_random_log(path, Random(seed), codecs=tuple(Codec))
        log = open_log(str(path), now=now)
        before, end = committed(log), log.log_end_offset
        first_uncleanable = to_clean(log).first_uncleanable_offset
        untouched = {
            segment.base_offset: Path(segment.log_path).read_bytes()
            for segment in log.segments
            if segment.base_offset >= first_uncleanable
        }
        checkpoint: int | None = None
        for number, wait in enumerate(waits):
            now += wait
            found = to_clean(log, None if number in forgotten else checkpoint, now)
            if found.cleanable_bytes:
                cleaning = CleaningRound(log, CONFIG, found, log.producers, now, capacity)
                clean(log, cleaning)
                checkpoint = cleaning.end_offset
        after = committed(log)
        assert newest(after) == newest(before)
        assert {(each.offset, each.key, each.value, each.headers) for each in after} <= {
            (each.offset, each.key, each.value, each.headers) for each in before
        }
        for base_offset, data in untouched.items():
            assert Path(path, f"{base_offset:020d}.log").read_bytes() == data
        log.close(now)
        reader = PartitionReader(str(path), PARTITION)
        assert (reader.log_end_offset, newest(committed(reader))) == (end, newest(before))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_an_estimate_is_what_becomes_of_it(seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "t-0")
        now = write_random_log(path, Random(seed))
        reader = PartitionReader(str(path), PARTITION)
        found = log_to_clean(reader, CONFIG, None, reader.last_stable_offset(), now)
        estimated = estimate(CleaningRound(reader, CONFIG, found, reader.producers, now))
        log = open_log(str(path), now=now)
        assert run(log, now=now) == estimated
        assert [(each.base_offset, each.size) for each in estimated] == [
            (segment.base_offset, segment.size) for segment in log.segments[: len(estimated)]
        ]


@pytest.mark.parametrize("seed", range(3))
def test_killed_anywhere_it_reads_the_same_and_can_be_done_again(tmp_path: Path, seed: int) -> None:
    original = tmp_path / "original" / "t-0"
    rng = Random(seed)
    now = write_random_log(original, rng, steps=15)
    expected = newest(committed(PartitionReader(str(original), PARTITION)))
    end = PartitionReader(str(original), PARTITION).log_end_offset
    kill_at, is_killed = 0, True
    while is_killed:
        path = tmp_path / str(kill_at) / "t-0"
        shutil.copytree(original, path)
        files = FaultyFiles(rng=rng)
        log = open_log(str(path), files=files, now=now)
        files.kill_after(kill_at)
        try:
            run(log, now=now)
            is_killed = False
        except Killed:
            files.lose_unsynced()
        files.close()
        again = PartitionLog.open(
            str(path), PARTITION, CONFIG, files=Files(sync=False), now=now, clean_shutdown=False, recovery_point=end
        )
        assert (newest(committed(again)), again.log_end_offset) == (expected, end), kill_at
        run(again, now=now)
        assert (newest(committed(again)), again.log_end_offset) == (expected, end), kill_at
        again.close(now)
        assert not [name for name in os.listdir(path) if name.endswith((".cleaned", ".swap"))]
        shutil.rmtree(path)
        kill_at += 1
    assert kill_at > 20


def test_older_records_and_those_without_a_key_go(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), WIDE._replace(cleanup_policy=("delete",)))
    append(log, (b"a", b"1"), (b"b", b"1"), (None, b"x"))
    append(log, (b"a", b"2"), (b"c", b"1"))
    append(log, (b"b", b"2"), roll=False)
    (done,) = run(log)
    assert contents(log) == [(1, b"b", b"1"), (3, b"a", b"2"), (4, b"c", b"1"), (5, b"b", b"2")]
    assert (done.base_offset, done.source_count) == (0, 2)
    assert [segment.base_offset for segment in log.segments] == [0, 5]
    headers = [header for _, header in log.segments[0].headers(0)]
    assert [(header.base_offset, header.last_offset, header.record_count) for header in headers] == [
        (0, 2, 1),
        (3, 4, 2),
    ]


def test_a_tombstone_stays_until_its_horizon(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), WIDE)
    append(log, (b"a", b"1"))
    append(log, (b"a", None), (b"b", b"1"))
    run(log)
    assert contents(log) == [(1, b"a", None), (2, b"b", b"1")]
    (_, header), *_ = log.segments[0].headers(1)
    assert header.delete_horizon_ms == NOW + WIDE.delete_retention_ms
    assert [record.timestamp for record in next(log.read(1)).records()] == [NOW, NOW]
    run(log, now=NOW + WIDE.delete_retention_ms - 1)
    assert [offset for offset, _, _ in contents(log)] == [1, 2]
    run(log, now=NOW + WIDE.delete_retention_ms)
    assert contents(log) == [(2, b"b", b"1")]


def test_the_end_of_the_round_stays_as_a_header(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), WIDE._replace(cleanup_policy=("delete",)))
    append(log, (b"a", b"1"))
    append(log, (None, b"1"), (None, b"2"))
    run(log)
    assert contents(log) == [(0, b"a", b"1")]
    (_, last), *_ = log.segments[0].headers(1)
    assert (last.base_offset, last.last_offset, last.record_count, last.size) == (1, 2, 0, HEADER_SIZE)


def test_the_last_batch_of_a_producer_stays_as_a_header_while_it_is_known(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), WIDE)
    options = BatchOptions(producer_id=5, producer_epoch=1, base_sequence=0)
    log.append_as_leader(encode_batch([Record(0, NOW, b"a", b"1"), Record(1, NOW, b"a", b"2")], options), 0, NOW)
    append(log, (b"a", b"3"))
    run(log)
    (_, header), *_ = log.segments[0].headers(0)
    assert (header.producer_id, header.producer_epoch, header.last_sequence, header.record_count) == (5, 1, 1, 0)
    run(log, now=NOW + 90_000_000)
    assert [header.producer_id for _, header in log.segments[0].headers(0)] == [-1]


def test_aborted_data_goes_before_its_marker(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), WIDE)
    append(log, (b"a", b"1"), roll=False)
    options = BatchOptions(producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    log.append_as_leader(encode_batch([Record(0, NOW, b"a", b"aborted")], options), 0, NOW)
    log.append_as_leader(marker(False, 5, 1, NOW), 0, NOW, Origin.COORDINATOR)
    append(log, (b"b", b"1"))

    def seen() -> list[tuple[int, bool, int | None]]:
        found = [header for _, header in log.segments[0].headers(0)]
        return [(header.base_offset, header.is_control, header.delete_horizon_ms) for header in found]

    run(log)
    assert contents(log) == [(0, b"a", b"1"), (3, b"b", b"1")]
    assert seen() == [(0, False, None), (2, True, None), (3, False, None)]
    assert [txn.last_offset for txn in log.segments[0].transaction_index.all_aborted_txns()] == [2]
    later = NOW + 90_000_000
    run(log, now=later)
    horizon = later + WIDE.delete_retention_ms
    assert seen() == [(0, False, None), (2, True, horizon), (3, False, None)]
    assert log.segments[0].transaction_index.all_aborted_txns() == []
    run(log, now=horizon)
    assert [base_offset for base_offset, _, _ in seen()] == [0, 3]


def test_what_is_not_to_be_touched(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), CONFIG._replace(min_compaction_lag_ms=2 * STEP))
    for number in range(4):
        append(log, (b"a", b"%d" % number), time=NOW + number * STEP)
    assert to_clean(log, now=NOW + 3 * STEP)[:2] == (0, 2)
    assert to_clean(log, now=NOW + 9 * STEP)[:2] == (0, 4)
    options = BatchOptions(producer_id=5, producer_epoch=0, base_sequence=0, transactional=True)
    log.append_as_leader(encode_batch([Record(0, NOW, b"t", b"open")], options), 0, NOW)
    log.roll(NOW)
    append(log, (b"a", b"5"))
    assert to_clean(log, now=NOW + 99 * STEP)[:2] == (0, 4), "the open transaction is at offset 4"


def test_when_a_log_is_due(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), CONFIG)
    for number in range(4):
        append(log, (b"a", b"%d" % number))
    half = CONFIG._replace(min_cleanable_dirty_ratio=0.5)
    assert to_clean(log, 2).cleanable_ratio == 0.5
    assert to_clean(log, 2).reason(half) is None
    assert to_clean(log, 1).reason(half) == "75.0% of it is dirty, min.cleanable.dirty.ratio=0.5"
    assert to_clean(log, 4).reason(half._replace(min_cleanable_dirty_ratio=0.0)) is None
    assert to_clean(log, 77) == to_clean(log, None)
    hasty = half._replace(max_compaction_lag_ms=100)
    found = log_to_clean(log, hasty, 2, 4, NOW + 150)
    assert found.reason(hasty) == "50 ms past max.compaction.lag.ms=100"
    assert log_to_clean(log, hasty, 2, 4, NOW + 100).reason(hasty) is None


def test_a_new_segment_is_as_old_as_its_last_source(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), WIDE)
    for number in range(3):
        append(log, (b"a", b"%d" % number))
        os.utime(log.segments[number].log_path, (1000 + number, 1000 + number))
    run(log)
    assert {path.stat().st_mtime for path in tmp_path.glob(f"{0:020d}.*") if path.suffix != ".deleted"} == {1002}
    assert sorted(path.name for path in tmp_path.glob("*.log.deleted")) == [
        f"{number:020d}.log.deleted" for number in range(3)
    ]


def test_a_round_over_what_kafka_cleaned_changes_nothing(tmp_path: Path) -> None:
    source = unpack("golden") / "clean" / "broker-1" / "compacted-0"
    path = tmp_path / "compacted-0"
    shutil.copytree(source, path)
    config = LogConfig(cleanup_policy=("compact",))
    reader = PartitionReader(str(path), PARTITION)
    written = max(segment.largest_timestamp for segment in reader.segments)
    log = PartitionLog.open(str(path), PARTITION, config, files=Files(sync=False), now=written, clean_shutdown=True)
    assert log_to_clean(log, config, 120, 160, written).reason(config) is None
    run(log, now=written)
    for segment in reader.segments:
        kafkas = source / f"{segment.base_offset:020d}.log"
        assert Path(segment.log_path).read_bytes() == kafkas.read_bytes()
        assert Path(segment.log_path).with_suffix(".timeindex").read_bytes() == (
            kafkas.with_suffix(".timeindex").read_bytes()
        )
