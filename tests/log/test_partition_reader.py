from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkapy.errors import KafkaError
from kafkapy.formats import offset_checkpoint
from kafkapy.log.names import PartitionDir, partition_dirs
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition

WRITTEN_LATER = {"__consumer_offsets", "__transaction_state", "tx"}  # between the tool's run and the crash


def readers(broker: Path) -> dict[TopicPartition, PartitionReader]:
    checkpoint = broker / offset_checkpoint.LOG_START_OFFSET_FILE
    starts = offset_checkpoint.decode(checkpoint.read_bytes(), str(checkpoint))

    def reader(parsed: PartitionDir, path: str) -> tuple[TopicPartition, PartitionReader]:
        partition = TopicPartition(parsed.topic, parsed.partition)
        return partition, PartitionReader(path, partition, starts.get(tuple(partition)))

    return dict(reader(parsed, path) for parsed, path in partition_dirs(broker) if not parsed.mark)


def told(path: Path) -> dict[TopicPartition, int]:
    rows = (line.rsplit(":", 2) for line in path.read_text().splitlines())
    return {TopicPartition(topic, int(partition)): int(offset) for topic, partition, offset in rows}


@pytest.fixture(params=["clean", "crashed"])
def cluster(request: pytest.FixtureRequest, golden: Path) -> Path:
    return golden / str(request.param)


def all_readers(cluster: Path) -> list[tuple[TopicPartition, PartitionReader]]:
    return [item for broker in sorted(cluster.iterdir()) for item in readers(broker).items()]


def compare(cluster: Path, expected: dict[TopicPartition, int], offset_of: object) -> None:
    assert callable(offset_of)
    compared = 0
    for partition, reader in all_readers(cluster):
        if partition.topic not in WRITTEN_LATER and partition.topic != "__cluster_metadata":
            assert offset_of(reader) == expected.get(partition), partition
            compared += 1
    assert compared >= 35


def test_the_end_is_what_kafka_says(cluster: Path, golden: Path) -> None:
    compare(cluster, told(golden / "tools/get-offsets-latest.out"), lambda reader: reader.log_end_offset)


def test_the_start_is_what_kafka_says(cluster: Path, golden: Path) -> None:
    compare(cluster, told(golden / "tools/get-offsets-earliest.out"), lambda reader: reader.log_start_offset)


def test_the_largest_timestamp_is_what_kafka_says(cluster: Path, golden: Path) -> None:
    def offset(reader: PartitionReader) -> int | None:
        found = reader.max_timestamp_offset()
        return None if found is None else found.offset

    compare(cluster, told(golden / "tools/get-offsets-max-timestamp.out"), offset)


@pytest.mark.parametrize("time", [1500000000000, 4000000000000])
def test_an_offset_by_time_is_what_kafka_says(time: int, cluster: Path, golden: Path) -> None:
    def offset(reader: PartitionReader) -> int | None:
        found = reader.offset_for_timestamp(time)
        return None if found is None else found.offset

    compare(cluster, told(golden / f"tools/get-offsets-{time}.out"), offset)


def test_the_recovered_cluster_is_what_kafka_says(golden: Path) -> None:
    expected = told(golden / "tools/recovered-get-offsets.out")
    for partition, reader in all_readers(golden / "clean"):
        if partition in expected and not partition.topic.startswith("__"):
            assert reader.log_end_offset == expected[partition] or partition.topic == "tx"


def test_an_open_transaction_holds_the_last_stable_offset(cluster: Path) -> None:
    found = [reader for partition, reader in all_readers(cluster) if partition.topic == "tx"]
    assert found
    for reader in found:
        assert (reader.log_end_offset, reader.last_stable_offset()) == (45, 39)
        assert list(reader.producers.open_txns) == [39]
        aborted = reader.aborted_transactions(0, 45)
        assert [txn.first_offset for txn in aborted] == sorted(txn.first_offset for txn in aborted)
        assert len(aborted) == 3


def test_aborted_transactions_are_found_without_their_index(golden: Path, tmp_path: Path) -> None:
    import shutil

    source = next(path for path in golden.glob("crashed/*/tx-0"))
    shutil.copytree(source, tmp_path / "tx-0")
    for path in (tmp_path / "tx-0").iterdir():
        if path.suffix in (".txnindex", ".snapshot", ".index", ".timeindex"):
            path.unlink()
    partition = TopicPartition("tx", 0)
    bare, whole = PartitionReader(str(tmp_path / "tx-0"), partition), PartitionReader(str(source), partition)
    assert bare.aborted_transactions(0, 45) == whole.aborted_transactions(0, 45)
    assert bare.last_stable_offset() == 39
    assert bare.log_end_offset == 45
    assert bare.max_timestamp_offset() == whole.max_timestamp_offset()


def test_reading_starts_anywhere_and_gives_everything(cluster: Path) -> None:
    for _, reader in all_readers(cluster):
        offsets = [record.offset for batch in reader.read(reader.log_start_offset) for record in batch.records()]
        assert offsets == sorted(set(offsets))
        for start in (reader.log_start_offset, (reader.log_start_offset + reader.log_end_offset) // 2):
            found = [record.offset for batch in reader.read(start) for record in batch.records()]
            assert [offset for offset in found if offset >= start] == [o for o in offsets if o >= start]
        assert list(reader.read(reader.log_end_offset)) == []


def test_a_read_can_be_bounded(golden: Path) -> None:
    path = next(golden.glob("clean/*/rolled-0"))
    reader = PartitionReader(str(path), TopicPartition("rolled", 0))
    first, second, *_ = reader.read(0)
    assert [batch.header for batch in reader.read(0, max_bytes=1)] == [first.header]
    assert [batch.header for batch in reader.read(0, len(first.data) + len(second.data))] == [
        first.header,
        second.header,
    ]
    bounded = list(reader.read(0, upper_bound=4001))
    assert bounded[-1].header.base_offset <= 4000 <= bounded[-1].header.last_offset
    with pytest.raises(KafkaError, match="we only have log segments upto 9000"):
        next(reader.read(9001))


def test_a_log_start_from_the_checkpoint(golden: Path) -> None:
    path = next(golden.glob("clean/*/trimmed-0"))
    reader = PartitionReader(str(path), TopicPartition("trimmed", 0), 345)
    assert (reader.log_start_offset, reader.log_end_offset) == (345, 900)
    with pytest.raises(KafkaError, match="but we only have log segments starting from offset: 345") as error:
        next(reader.read(344))
    assert error.value.name == "OffsetOutOfRangeException"
    found = reader.offset_for_timestamp(0)
    assert found is not None
    assert found.offset == 345


def test_nothing_is_touched(cluster: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        files = sorted(path for path in cluster.rglob("*") if path.is_file())
        return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]

    before = state()
    for _, reader in all_readers(cluster):
        list(reader.read(reader.log_start_offset))
        reader.last_stable_offset()
        reader.max_timestamp_offset()
    assert state() == before


@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_are_read_too(magic: int, golden: Path) -> None:
    for path in sorted(golden.glob(f"legacy/v{magic}-*-0")):
        reader = PartitionReader(str(path), TopicPartition(path.name[:-2], 0))
        records = [record for batch in reader.read(0) for record in batch.records()]
        assert [record.offset for record in records] == list(range(reader.log_end_offset))
        assert len(records) > 1
    plain = PartitionReader(str(golden / f"legacy/v{magic}-none-0"), TopicPartition("plain", 0))
    latest = plain.max_timestamp_offset()
    assert latest == (None if magic == 0 else (1500000019000, 19))


def test_the_high_watermark_that_a_stop_leaves_is_the_end(golden: Path, zk_era: Path) -> None:
    compared = 0
    for broker in [*sorted((golden / "clean").iterdir()), *sorted((zk_era / "clean").iterdir())]:
        path = broker / offset_checkpoint.HIGH_WATERMARK_FILE
        ends = offset_checkpoint.decode(path.read_bytes(), str(path))
        for partition, reader in readers(broker).items():
            if tuple(partition) in ends and not partition.topic.startswith("__"):
                assert reader.log_end_offset == ends[partition], partition
                compared += 1
    assert compared > 40


def test_opening_reads_only_the_tail(golden: Path, tmp_path: Path) -> None:
    """A closed segment whose beginning is unreadable still tells its end."""
    import shutil

    source = next(golden.glob("clean/*/rolled-0"))
    shutil.copytree(source, tmp_path / "rolled-0")
    logs = sorted((tmp_path / "rolled-0").glob("*.log"))
    for path in logs[:-1]:
        os.truncate(path, 0)
    assert PartitionReader(str(tmp_path / "rolled-0"), TopicPartition("rolled", 0)).log_end_offset == 9000
