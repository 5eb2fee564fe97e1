from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.retention import Bounds, apply, deletions, due_files
from kafkapy.log.topic_partition import TopicPartition

NOW = 1_700_000_000_000
PARTITION = TopicPartition("t", 0)
FOREVER = LogConfig(retention_ms=-1)


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    """Four segments of one batch each, offsets 0 to 3, an hour apart; the last is active."""
    config = LogConfig(segment_bytes=100)
    opened = PartitionLog.open(str(tmp_path), PARTITION, config, files=Files(sync=False), now=NOW, clean_shutdown=True)
    for n in range(4):
        opened.append_as_leader(encode_batch([Record(0, NOW + n * 3_600_000, b"k", b"v" * 20)]), 0, NOW + n * 3_600_000)
    assert len(opened.segments) == 4
    return opened


def gone(log: PartitionLog, config: LogConfig, now: int = NOW, start: int = 0, high_watermark: int = 4) -> list[int]:
    found = deletions(log.segments, config, Bounds(start, log.log_end_offset, high_watermark), now)
    return [deletion.base_offset for deletion in found]


def test_by_time_when_the_latest_record_is_old(log: PartitionLog) -> None:
    config = LogConfig(retention_ms=1000)
    assert gone(log, config, NOW + 1000) == []
    assert gone(log, config, NOW + 1001) == [0]
    assert gone(log, config, NOW + 10**9) == [0, 1, 2, 3]
    assert gone(log, FOREVER, NOW + 10**12) == []


def test_by_size_while_enough_is_left(log: PartitionLog) -> None:
    size = log.segments[0].size
    assert gone(log, FOREVER._replace(retention_bytes=4 * size)) == []
    assert gone(log, FOREVER._replace(retention_bytes=3 * size + 1)) == []
    assert gone(log, FOREVER._replace(retention_bytes=3 * size)) == [0]
    assert gone(log, FOREVER._replace(retention_bytes=0)) == [0, 1, 2, 3]


def test_by_log_start_also_on_compacted_topics(log: PartitionLog) -> None:
    for policy in (("delete",), ("compact",), ()):
        config = LogConfig(cleanup_policy=policy, retention_ms=-1)
        assert gone(log, config, start=2) == [0, 1]
        assert gone(log, config, start=4) == [0, 1, 2]
    assert gone(log, LogConfig(cleanup_policy=("compact",), retention_ms=1, retention_bytes=0), NOW + 10**12) == []


def test_sizes_count_what_the_log_start_left(log: PartitionLog) -> None:
    size = log.segments[0].size
    assert gone(log, FOREVER._replace(retention_bytes=3 * size), start=1) == [0]
    assert gone(log, FOREVER._replace(retention_bytes=2 * size), start=1) == [0, 1]


def test_nothing_at_or_past_the_high_watermark(log: PartitionLog) -> None:
    assert gone(log, LogConfig(retention_ms=0), NOW + 10**9, high_watermark=2) == [0, 1]
    assert gone(log, LogConfig(retention_ms=0), NOW + 10**9, high_watermark=3) == [0, 1, 2]


def test_the_reason_is_told(log: PartitionLog) -> None:
    found = deletions(log.segments, LogConfig(retention_ms=5), Bounds(0, 4, 4), NOW + 7)
    assert [deletion.reason for deletion in found] == ["its latest record is 7 ms old, retention.ms=5"]


def test_applying_renames_and_moves_the_start(log: PartitionLog, tmp_path: Path) -> None:
    found = deletions(log.segments, LogConfig(retention_ms=1000), Bounds(0, 4, 4), NOW + 3_600_000 + 1001)
    apply(log, found, NOW)
    assert [segment.base_offset for segment in log.segments] == [2, 3]
    assert log.log_start_offset == 2
    marked = sorted(path.name for path in tmp_path.glob("*.deleted"))
    assert f"{0:020d}.log.deleted" in marked
    assert f"{1:020d}.snapshot.deleted" in marked
    assert not (tmp_path / f"{1:020d}.index").exists()
    log.close(NOW)
    reader = PartitionReader(str(tmp_path), PARTITION)
    assert [batch.header.base_offset for batch in reader.read(reader.log_start_offset)] == [2, 3]


def test_the_active_segment_goes_after_a_roll(log: PartitionLog, tmp_path: Path) -> None:
    far = NOW + 10**9
    apply(log, deletions(log.segments, LogConfig(retention_ms=0), Bounds(0, 4, 4), far), far)
    assert [segment.base_offset for segment in log.segments] == [4]
    assert (log.log_start_offset, log.log_end_offset) == (4, 4)
    assert gone(log, LogConfig(retention_ms=0), far) == []
    assert log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"v")]), 0, NOW).first_offset == 4


def test_deleted_files_stay_for_a_while(log: PartitionLog, tmp_path: Path) -> None:
    path = tmp_path / f"{0:020d}.log.deleted"
    path.write_bytes(b"")
    renamed = int(path.stat().st_ctime * 1000)
    assert due_files(str(tmp_path), LogConfig(), renamed + 59_000) == []
    assert due_files(str(tmp_path), LogConfig(), renamed + 60_001) == [str(path)]
