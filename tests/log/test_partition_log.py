from __future__ import annotations

import os
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from random import Random
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.names import parse_partition_dir
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from tests.faults import FaultyFiles, Killed

NOW = 1_700_000_000_000
PARTITION = TopicPartition("t", 0)
SMALL = LogConfig(segment_bytes=600, index_interval_bytes=100)
TOPIC_ID = "x1FvxV5tS-CzvP5OVrXOIw"


def open_log(
    directory: str, files: Files | None = None, clean: bool = True, recovery_point: int = 0, config: LogConfig = SMALL
) -> PartitionLog:
    return PartitionLog.open(
        directory,
        PARTITION,
        config,
        files=files or Files(sync=False),
        now=NOW,
        clean_shutdown=clean,
        recovery_point=recovery_point,
    )


def batch(
    *values: bytes, time: int = NOW, pid: int = -1, epoch: int = -1, sequence: int = -1, txn: bool = False
) -> bytes:
    records = [Record(n, time, b"k", value) for n, value in enumerate(values)]
    options = BatchOptions(producer_id=pid, producer_epoch=epoch, base_sequence=sequence, transactional=txn)
    return encode_batch(records, options)


def marker(commit: bool, pid: int, epoch: int) -> bytes:
    record = Record(0, NOW, pack(">hh", 0, int(commit)), pack(">hi", 0, 0))
    return encode_batch([record], BatchOptions(transactional=True, control=True, producer_id=pid, producer_epoch=epoch))


def contents(log: PartitionLog | PartitionReader) -> list[tuple[int, bytes | None]]:
    found = [record for batch in log.read(log.log_start_offset) for record in batch.records()]
    return [(record.offset, record.value) for record in found if record.offset >= log.log_start_offset]


def files_of(directory: str | Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}


def test_a_new_log_has_a_brokers_files(tmp_path: Path) -> None:
    directory = str(tmp_path / "t-0")
    log = PartitionLog.open(
        directory, PARTITION, SMALL, files=Files(sync=False), now=NOW, clean_shutdown=True, topic_id=TOPIC_ID
    )
    assert log.recovered == []
    log.close(NOW)
    assert files_of(directory) == {
        "00000000000000000000.index": b"",
        "00000000000000000000.log": b"",
        "00000000000000000000.timeindex": b"",
        "leader-epoch-checkpoint": b"",
        "partition.metadata": f"version: 0\ntopic_id: {TOPIC_ID}".encode(),
    }
    assert open_log(directory).topic_id == TOPIC_ID


def test_offsets_go_on_and_segments_roll(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    infos = [log.append_as_leader(batch(b"%d" % n, b"x" * 50), 0, NOW) for n in range(20)]
    assert [(info.first_offset, info.last_offset) for info in infos] == [(2 * n, 2 * n + 1) for n in range(20)]
    assert len(log.segments) > 3
    assert all(segment.size <= 600 for segment in log.segments)
    assert log.size == sum(len(info.data) for info in infos)
    assert [value for _, value in contents(log)][::2] == [b"%d" % n for n in range(20)]
    bases = {segment.base_offset for segment in log.segments[1:]}
    assert {int(path.stem) for path in tmp_path.glob("*.snapshot")} == bases


def test_a_follower_ends_up_with_the_same_files(tmp_path: Path) -> None:
    leader, follower = open_log(str(tmp_path / "a")), open_log(str(tmp_path / "b"))
    for n in range(30):
        data = batch(b"v" * (n % 7), pid=5, epoch=0, sequence=n, txn=n % 4 < 2)
        if n % 4 == 2:
            data = marker(n % 8 == 2, 5, 0)
            info = leader.append_as_leader(data, n // 10, NOW + n, Origin.COORDINATOR, 1)
        else:
            known = leader.producers.producers.get(5)
            sequence = known.last_sequence + 1 if known else 0
            data = batch(b"v" * (n % 7), pid=5, epoch=0, sequence=sequence, txn=n % 4 < 2)
            info = leader.append_as_leader(data, n // 10, NOW + n)
        follower.append_as_follower(info.data, NOW + n)
    leader.close(NOW)
    follower.close(NOW)
    assert any(name.endswith(".txnindex") for name in files_of(tmp_path / "a"))
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert (tmp_path / "a" / "leader-epoch-checkpoint").read_bytes() == b"0\n3\n0 0\n1 10\n2 20\n"


def test_a_follower_takes_many_batches_at_once(tmp_path: Path) -> None:
    leader = open_log(str(tmp_path / "a"), config=LogConfig(index_interval_bytes=100))
    follower = open_log(str(tmp_path / "b"), config=LogConfig(index_interval_bytes=100))
    data = b"".join(leader.append_as_leader(batch(b"v" * n), 0, NOW + n).data for n in range(10))
    info = follower.append_as_follower(data, NOW)
    assert info is not None
    assert (info.first_offset, info.last_offset) == (0, 9)
    assert follower.append_as_follower(b"", NOW) is None
    with pytest.raises(KafkaError, match="First offset 0 is less than the next offset 10") as error:
        follower.append_as_follower(data, NOW)
    assert error.value.name == "UnexpectedAppendOffsetException"
    leader.close(NOW)
    follower.close(NOW)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_a_retry_is_answered_with_the_first_offsets(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    first = log.append_as_leader(batch(b"a", b"b", pid=1, epoch=0, sequence=0), 0, NOW)
    log.append_as_leader(batch(b"c", pid=1, epoch=0, sequence=2), 0, NOW)
    again = log.append_as_leader(batch(b"a", b"b", pid=1, epoch=0, sequence=0), 0, NOW)
    assert again.duplicate
    assert (again.first_offset, again.last_offset) == (first.first_offset, first.last_offset) == (0, 1)
    assert log.log_end_offset == 3
    log.close(NOW)
    assert open_log(str(tmp_path)).append_as_leader(batch(b"c", pid=1, epoch=0, sequence=2), 0, NOW).duplicate


def test_a_refused_batch_changes_nothing(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    log.append_as_leader(batch(b"a", pid=1, epoch=0, sequence=0), 0, NOW)
    log.flush()
    before = files_of(tmp_path)
    for data in (batch(b"b", pid=1, epoch=0, sequence=5), batch(b"x" * 700), batch(b"b", time=NOW + 10**8)):
        with pytest.raises(KafkaError):
            log.append_as_leader(data, 3, NOW)
    log.flush()
    assert files_of(tmp_path) == before


def test_transactions_bound_the_last_stable_offset(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    log.append_as_leader(batch(b"a"), 0, NOW)
    log.append_as_leader(batch(b"b", pid=1, epoch=0, sequence=0, txn=True), 0, NOW)
    log.append_as_leader(batch(b"c", pid=2, epoch=0, sequence=0, txn=True), 0, NOW)
    assert log.last_stable_offset(3) == 1
    log.append_as_leader(marker(False, 1, 1), 0, NOW, Origin.COORDINATOR)
    assert log.last_stable_offset(3) == 1
    assert log.last_stable_offset(4) == 2
    log.append_as_leader(marker(True, 2, 1), 0, NOW, Origin.COORDINATOR)
    assert log.last_stable_offset(5) == 5
    assert [txn[:4] for txn in log.aborted_transactions(0, 5)] == [(1, 1, 3, 2)]
    assert log.aborted_transactions(4, 5) == []


def test_the_log_start_moves_forward_only(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    for n in range(5):
        log.append_as_leader(batch(b"%d" % n), n // 2, NOW)
    assert log.increment_log_start_offset(3)
    assert not log.increment_log_start_offset(2)
    with pytest.raises(KafkaError, match="since it is larger than the high watermark 5"):
        log.increment_log_start_offset(6)
    assert contents(log) == [(3, b"3"), (4, b"4")]
    assert log.epochs.entries == [(1, 3), (2, 4)]
    assert log.offset_for_timestamp(0) == (NOW, 3)


def test_finding_by_time(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    for n in range(12):
        log.append_as_leader(batch(b"x" * 60, b"y", time=NOW + 10 * n), 0, NOW + 1000)
    assert len(log.segments) > 2
    assert log.offset_for_timestamp(NOW + 41) == (NOW + 50, 10)
    assert log.offset_for_timestamp(NOW + 111) is None
    assert log.max_timestamp_offset() == (NOW + 110, 22)


def test_records_are_packed_for_the_caller(tmp_path: Path) -> None:
    log = open_log(str(tmp_path), config=LogConfig(compression_type="lz4"))
    info = log.append_as_leader([Record(77, NOW, b"k", b"v"), Record(78, NOW, b"k", b"w")], 0, NOW)
    assert (info.first_offset, info.last_offset) == (0, 1)
    assert contents(log) == [(0, b"v"), (1, b"w")]
    assert next(log.read(0)).header.codec.label == "lz4"


def test_jitter_rolls_earlier(tmp_path: Path) -> None:
    config = LogConfig(segment_ms=1000, segment_jitter_ms=900)
    log = PartitionLog.open(
        str(tmp_path), PARTITION, config, files=Files(sync=False), now=NOW, clean_shutdown=True, random=Random(1)
    )
    log.append_as_leader(batch(b"a"), 0, NOW)
    log.append_as_leader(batch(b"b", time=NOW + 1000), 0, NOW + 1000)
    assert len(log.segments) == 2


def test_opening_finishes_what_compaction_began(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    for n in range(12):
        log.append_as_leader(batch(b"x" * 60, b"%d" % n), 0, NOW)
    log.close(NOW)
    bases = [segment.base_offset for segment in log.segments]
    swapped = b"".join(Path(log.segments[n].log_path).read_bytes() for n in (0, 1))
    expected = contents(log)
    (tmp_path / f"{0:020d}.log.swap").write_bytes(swapped)
    (tmp_path / f"{0:020d}.index.swap").write_bytes(b"")
    (tmp_path / f"{0:020d}.timeindex.swap").write_bytes(b"")
    (tmp_path / f"{bases[2]:020d}.log.cleaned").write_bytes(b"half")
    (tmp_path / f"{bases[1]:020d}.log.deleted").write_bytes(b"old")
    (tmp_path / f"{99:020d}.index").write_bytes(b"")
    again = open_log(str(tmp_path))
    assert [segment.base_offset for segment in again.segments] == [0, *bases[2:]]
    assert contents(again) == expected
    left = {path.suffix for path in tmp_path.iterdir()}
    assert left.isdisjoint({".swap", ".cleaned", ".deleted"})
    assert f"removed {bases[2]:020d}.log.cleaned" in again.recovered
    assert f"renamed {0:020d}.log.swap to {0:020d}.log" in again.recovered
    assert f"removed {99:020d}.index, which has no log" in again.recovered
    assert open_log(str(tmp_path)).recovered == []


def test_a_torn_tail_is_cut_and_what_follows_goes(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    for n in range(12):
        log.append_as_leader(batch(b"x" * 60, b"%d" % n), n // 6, NOW)
    log.close(NOW)
    second, expected = log.segments[1], contents(log)
    os.truncate(second.log_path, second.size - 3)
    again = open_log(str(tmp_path), clean=False)
    assert len(again.segments) == 2
    assert second.base_offset < again.log_end_offset < log.segments[2].base_offset
    assert [line for line in again.recovered if line.startswith("cut ")]
    assert contents(again) == expected[: again.log_end_offset]
    end = again.log_end_offset
    assert again.append_as_leader(batch(b"new"), 5, NOW).first_offset == end


def test_recovery_begins_at_the_recovery_point(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    for n in range(12):
        log.append_as_leader(batch(b"x" * 60, b"%d" % n), 0, NOW)
    log.close(NOW)
    first = Path(log.segments[0].log_path)
    data = bytearray(first.read_bytes())
    data[80] ^= 1
    first.write_bytes(data)
    untouched = open_log(str(tmp_path), clean=False, recovery_point=log.segments[1].base_offset)
    assert untouched.log_end_offset == 24
    assert open_log(str(tmp_path), clean=False).log_end_offset == 0


def test_a_log_that_lost_its_segments_starts_at_the_checkpoint(tmp_path: Path) -> None:
    log = open_log(str(tmp_path))
    log.append_as_leader(batch(b"a"), 0, NOW)
    log.close(NOW)
    again = PartitionLog.open(
        str(tmp_path), PARTITION, SMALL, files=Files(sync=False), now=NOW, clean_shutdown=True, log_start_offset=50
    )
    assert (again.log_start_offset, again.log_end_offset) == (50, 50)
    assert again.append_as_leader(batch(b"b"), 0, NOW).first_offset == 50


@pytest.mark.parametrize("clean", [True, False])
def test_a_real_brokers_directory_is_opened_and_written(clean: bool, golden: Path, tmp_path: Path) -> None:
    for source in sorted((golden / ("clean" if clean else "crashed") / "broker-1").glob("*-*")):
        if not source.is_dir() or source.name == "__cluster_metadata-0":
            continue
        target = tmp_path / source.name
        shutil.copytree(source, target)
        parsed = parse_partition_dir(source.name)
        reader = PartitionReader(str(source), TopicPartition(parsed.topic, parsed.partition))
        log = open_log(str(target), clean=clean, config=LogConfig())
        assert (log.log_start_offset, log.log_end_offset) == (reader.log_start_offset, reader.log_end_offset)
        assert log.topic_id == reader.topic_id
        assert contents(log) == contents(reader)
        end = reader.log_end_offset
        assert log.last_stable_offset(end) == reader.last_stable_offset()
        assert log.append_as_leader(batch(b"more"), 99, NOW).first_offset == end
        log.close(NOW)
        again = PartitionReader(str(target), reader.partition)
        assert contents(again) == [*contents(reader), (end, b"more")]


def test_recovering_a_crashed_directory_makes_the_indexes_of_the_broker(golden: Path, tmp_path: Path) -> None:
    """clean/ is what the brokers made of crashed/ when they recovered."""
    compared = 0
    for source in sorted((golden / "crashed" / "broker-2").glob("*-*")):
        clean = golden / "clean" / "broker-2" / source.name
        if not source.is_dir() or not clean.exists() or "compacted" in source.name:
            continue
        target = tmp_path / source.name
        shutil.copytree(source, target)
        open_log(str(target), clean=False, config=LogConfig()).close(NOW)
        for log in sorted(clean.glob("*.log")):
            if (target / log.name).read_bytes() != log.read_bytes():
                continue
            for suffix in (".index", ".timeindex"):
                assert (target / log.name).with_suffix(suffix).read_bytes() == log.with_suffix(suffix).read_bytes()
                compared += 1
            txns = log.with_suffix(".txnindex")
            assert not txns.exists() or (target / txns.name).read_bytes() == txns.read_bytes()
    assert compared > 20


def test_a_full_disk_leaves_no_half_batch(tmp_path: Path) -> None:
    class FullDisk(Files):
        full = False

        @staticmethod
        def _write_all(descriptor: int, data: memoryview) -> None:
            raise OSError(28, "No space left on device")

        def append(self, path: str, data: bytes | bytearray | memoryview) -> None:
            if self.full and data:
                self._append_rest(self._descriptor(path), memoryview(data), os.write(self._descriptor(path), data[:9]))
            else:
                super().append(path, data)

        def write_atomic(self, path: str, data: bytes) -> None:
            Files(sync=False).write_atomic(path, data)

    files = FullDisk(sync=False)
    log = open_log(str(tmp_path), files)
    log.append_as_leader(batch(b"a"), 0, NOW)
    files.full = True
    with pytest.raises(OSError, match="No space left"):
        log.append_as_leader(batch(b"b"), 0, NOW)
    files.full = False
    assert log.append_as_leader(batch(b"c"), 0, NOW).first_offset == 1
    assert contents(log) == [(0, b"a"), (1, b"c")]


class Script:
    """A fixed life of a log: what was appended, and up to where it was acknowledged."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.appended: list[bytes] = []
        self.recovery_point = 0

    def run(self, files: Files) -> None:
        log = open_log(self.directory, files)
        for n in range(18):
            self._append(log, n)
            if n % 5 == 4:
                log.flush()
                self.recovery_point = log.recovery_point
            if n == 9:
                log.close(NOW)
                log = open_log(self.directory, files)
        log.close(NOW)
        self.recovery_point = log.log_end_offset

    def _append(self, log: PartitionLog, n: int) -> None:
        epoch = n // 3
        if n % 3 == 2:
            data, origin = marker(n % 2 == 0, 1, epoch + 1), Origin.COORDINATOR
        else:
            data, origin = batch(b"%d" % n * 40, pid=1, epoch=epoch, sequence=n % 3, txn=True), Origin.CLIENT
        self.appended.append(data[16:])
        log.append_as_leader(data, n // 7, NOW, origin)


def operations() -> int:
    with tempfile.TemporaryDirectory() as directory:
        files = FaultyFiles()
        Script(directory).run(files)
        files.close()
        return files.operations


@pytest.mark.parametrize("power_cut", [False, True])
def test_killed_at_every_operation_nothing_flushed_is_lost(power_cut: bool, tmp_path: Path) -> None:
    for kill_at in range(operations()):
        directory = str(tmp_path / str(kill_at))
        script, files = Script(directory), FaultyFiles(kill_at, Random(kill_at))
        with pytest.raises(Killed):
            script.run(files)
        files.close()
        if power_cut:
            files.lose_unsynced()
        check_recovered(script)


def check_recovered(script: Script) -> None:
    log = open_log(script.directory, clean=False, recovery_point=script.recovery_point)
    assert log.log_end_offset >= script.recovery_point
    found = [each.data[16:] for each in log.read(0)]
    assert found == script.appended[: len(found)]
    assert len(found) == log.log_end_offset
    replayed = PartitionReader(script.directory, PARTITION)
    assert log.producers.entries() == replayed.producers.entries()
    assert log.aborted_transactions(0, len(found)) == replayed.aborted_transactions(0, len(found))
    assert len(log.aborted_transactions(0, len(found))) == sum(n % 3 == 2 and n % 2 == 1 for n in range(len(found)))
    log.close(NOW)
    again = open_log(script.directory)
    assert [each.data[16:] for each in again.read(0)] == found
    assert again.recovered == []
    assert again.producers.entries() == log.producers.entries()


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_killed_while_recovering(seed: int) -> None:
    rng = Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        script, files = Script(directory), FaultyFiles(rng.randrange(20, 60), rng)
        with pytest.raises(Killed):
            script.run(files)
        files.close()
        files.lose_unsynced()
        for _ in range(5):
            files = FaultyFiles(rng.randrange(30), rng)
            try:
                open_log(directory, files, clean=False, recovery_point=script.recovery_point)
            except Killed:
                files.close()
                files.lose_unsynced()
        check_recovered(script)


@pytest.mark.parametrize("is_clean", [True, False])
def test_killed_while_it_reads_lost_leader_epochs_anew(tmp_path: Path, is_clean: bool) -> None:
    whole = tmp_path / "whole"
    log = open_log(str(whole))
    for n in range(30):
        log.append_as_leader(batch(b"v" * 50), n // 10, NOW)
    end, segments = log.log_end_offset, len(log.segments)
    log.close(NOW)
    epochs = whole / "leader-epoch-checkpoint"
    before = epochs.read_text()
    assert (before, segments > 3) == ("0\n3\n0 0\n1 10\n2 20\n", True)
    epochs.unlink()
    for kill_at in range(20):
        directory = shutil.copytree(whole, tmp_path / str(kill_at))
        files = FaultyFiles(kill_at)
        files.sync = False
        try:
            open_log(str(directory), files, is_clean, end)
        except Killed:
            files.close()
            open_log(str(directory), clean=False, recovery_point=end)
        assert (directory / epochs.name).read_text() == before
    assert files.operations < kill_at, "it came to an end"


class LogMachine(RuleBasedStateMachine):
    """A log against a list of its records."""

    @initialize()
    def start(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.log = open_log(self.directory)
        self.model: list[tuple[int, int, bytes]] = []
        self.start_offset = self.sequence = self.epoch = 0

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            shutil.rmtree(self.directory)

    @property
    def end(self) -> int:
        return self.log.log_end_offset

    @rule(values=st.lists(st.binary(max_size=90), min_size=1, max_size=4), shift=st.integers(-50, 50))
    def append(self, values: list[bytes], shift: int) -> None:
        expected = self.end
        info = self.log.append_as_leader(batch(*values, time=NOW + shift), self.epoch, NOW)
        assert info.first_offset == expected
        self.model += [(expected + n, NOW + shift, value) for n, value in enumerate(values)]

    @rule(retry=st.booleans())
    def append_idempotent(self, retry: bool) -> None:
        data = batch(b"i", pid=3, epoch=0, sequence=self.sequence)
        expected = self.end
        known = self.log.producers.producers.get(3)
        assert self.log.append_as_leader(data, self.epoch, NOW).first_offset == expected or known is None
        self.model.append((expected, NOW, b"i"))
        self.sequence += 1
        if retry:
            again = self.log.append_as_leader(data, self.epoch, NOW)
            assert (again.duplicate, again.first_offset) == (True, expected)

    @rule()
    def new_epoch(self) -> None:
        self.epoch += 1

    @rule()
    def roll(self) -> None:
        self.log.roll(NOW)

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        # an offset inside a batch takes the whole batch with it, but the next offset is the one asked for
        offset = max(self.start_offset, self.end - back)
        first = next((each.header.base_offset for each in self.log.read(offset)), offset)
        self.log.truncate_to(first, NOW)
        self.start_offset = min(first, self.start_offset)
        self.model = [row for row in self.model if row[0] < first]
        entry = self.log.producers.producers.get(3)
        self.sequence = 0 if entry is None else entry.last_sequence + 1

    @rule(forward=st.integers(0, 5))
    def delete_records(self, forward: int) -> None:
        self.start_offset = min(self.end, self.start_offset + forward)
        self.log.increment_log_start_offset(self.start_offset)

    @rule(clean=st.booleans())
    def reopen(self, clean: bool) -> None:
        if clean:
            self.log.close(NOW)
        else:
            self.log.flush()
        before = self.log.producers.entries()
        self.log = PartitionLog.open(
            self.directory,
            PARTITION,
            SMALL,
            files=Files(sync=False),
            now=NOW,
            clean_shutdown=clean,
            recovery_point=0,
            log_start_offset=self.start_offset,
        )
        after = {entry.producer_id: entry for entry in self.log.producers.entries()}
        assert set(after.values()) <= set(before)  # records before the log start may be forgotten
        if 3 not in after:
            self.sequence = 0

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "log"):
            return
        rows = [row for row in self.model if row[0] >= self.start_offset]
        assert contents(self.log) == [(offset, value) for offset, _, value in rows]
        assert self.end == (self.model[-1][0] + 1 if self.model else self.end)
        expected = next(((time, offset) for offset, time, _ in rows if time >= NOW), None)
        assert self.log.offset_for_timestamp(NOW) == expected
        entries = self.log.epochs.entries
        assert all(left < right for left, right in pairwise(entries))


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=60, stateful_step_count=25)
