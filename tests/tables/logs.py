"""A log dir with one partition, made for tests of tables, and what a broker's reader finds in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from struct import pack
from typing import Any

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Scan

NOW = 1_700_000_000_000
PARTITION = TopicPartition("orders", 0)
NEW: dict[str, Any] = {"clean_shutdown": True, "recovery_point": 0}
SMALL = LogConfig(segment_bytes=4000, index_interval_bytes=150)

Row = dict[str, Any]


def make_log(log_dir: Path, seed: int = 0, batches: int = 60, config: LogConfig = SMALL) -> str:
    """Batches of every codec, with headers, nulls and times that are not in order; some in transactions that are
    committed, aborted or left open."""
    rng = Random(seed)
    directory = log_dir / str(PARTITION)
    directory.mkdir(parents=True)
    log = PartitionLog.open(str(directory), PARTITION, config, files=Files(sync=False), now=NOW, **NEW)
    sequences = {1: 0, 2: 0, 3: 0}
    for number in range(batches):
        producer = rng.choice((-1, -1, 1, 2, 3))
        records = [_record(rng, n, number) for n in range(rng.randrange(1, 9))]
        if producer < 0:
            options = BatchOptions(codec=rng.choice(list(Codec)))
        else:
            sequence = sequences[producer]
            options = BatchOptions(producer_id=producer, producer_epoch=0, base_sequence=sequence, transactional=True)
            sequences[producer] += len(records)
        log.append_as_leader(encode_batch(records, options), number // 20, NOW)
        if producer in (1, 2) and rng.randrange(2):
            log.append_as_leader(_marker(producer, producer == 1), number // 20, NOW, Origin.COORDINATOR, 1)
    log.close(NOW)
    return str(log_dir)


def _record(rng: Random, delta: int, number: int) -> Record:
    headers = tuple(
        Header(rng.choice(("trace", "é")), rng.choice((None, b"", b"v"))) for _ in range(rng.choice((0, 0, 1, 3)))
    )
    time = NOW + 1000 * number + rng.randrange(-2500, 2500)
    value = rng.choice((None, b"", rng.randbytes(rng.randrange(60))))
    return Record(delta, time, rng.choice((None, b"key-%d" % rng.randrange(9))), value, headers)


def _marker(producer: int, commit: bool) -> bytes:
    record = Record(0, NOW, pack(">hh", 0, int(commit)), pack(">hi", 0, 0))
    options = BatchOptions(transactional=True, control=True, producer_id=producer, producer_epoch=0)
    return encode_batch([record], options)


def rows(scan: Scan, table: str = "records") -> list[Row]:
    """All rows of a table, checked to be well-formed."""
    return list(_rows(scan, table))


def _rows(scan: Scan, table: str) -> Iterator[Row]:
    found = find_table(table)
    for split in found.splits(scan):
        for batch in found.read(scan, split):
            batch.validate(full=True)
            yield from batch.to_pylist()


def read_rows(paths: tuple[str, ...], committed: bool = False) -> list[Row]:
    """The same out of what consumers are given, for the columns that these have."""
    cluster = LogDirsCluster(*paths)
    found = []
    for partition in sorted(cluster.dirs.replicas):
        reader = cluster.reader(partition)
        if partition.topic == "__cluster_metadata" or reader is None or not reader.segments:
            continue
        for batch in cluster.read(partition, reader.log_start_offset, committed):
            for record in batch.records():
                if reader.log_start_offset <= record.offset:
                    found.append(_row_of(partition, batch, record))
    return found


def _row_of(partition: TopicPartition, batch: Any, record: Record) -> Row:
    header = batch.header
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "offset": record.offset,
        "milliseconds": record.timestamp,
        "timestamp_type": header.timestamp_type,
        "key": record.key,
        "value": record.value,
        "headers": [{"key": each.key, "value": each.value} for each in record.headers],
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "sequence": record.sequence,
        "leader_epoch": header.partition_leader_epoch,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "batch_position": batch.position,
    }


def in_milliseconds(found: list[Row]) -> list[Row]:
    """Rows of the table with the time as consumers are given it."""
    return [_plain(row) for row in found]


def _plain(row: Row) -> Row:
    plain = dict(row)
    time = plain.pop("timestamp")
    plain["milliseconds"] = -1 if time is None else round(time.timestamp() * 1000)
    return plain
