"""``partitions``: a row for each partition, with what the metadata says of it and what its log amounts to.

The log is that of the copy that is read: the leader's where it is here, or the given broker's; ``path`` is where it
lies. A partition of which no copy is here has nulls in its place, and without a metadata log nobody knows leaders and
replicas. Offsets are as a broker would have them after its recovery: a torn write at the end of a log is no part of it.
Where a log lost its end for certain, which is damage, its end is not known: nobody may take for read what is gone.
``high_watermark`` is the end of the log, but for cluster directories, which keep one. ``last_stable_offset`` takes the
producers' state, which damage in the log can hide.

Of a scan, topics, partitions and broker choose the rows; offsets and timestamps mean nothing here. Who reads a split
opens the cluster again: it is all metadata, and the ends of logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.errors import DamagedFileError
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER
from kafkapy.tables.arrow_rows import row_batches
from kafkapy.tables.damage_rows import DamageRows
from kafkapy.tables.opening import absent, chosen_logs, open_paths
from kafkapy.tables.scan import Mode, Scan
from kafkapy.tables.segment_parts import lost_records, names_partitions
from kafkapy.tables.table import Split, Table, Tell, read_schema, unheard

SPLIT_PARTITIONS = 500
END_COLUMNS = {"high_watermark", "last_stable_offset", "log_end_offset"}
LOG_COLUMNS = {"log_start_offset", *END_COLUMNS, "size", "segments", "path"}

Row = dict[str, Any]


class PartitionsTable:
    """The table."""

    name = "partitions"
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("topic_id", pa.string()),
            ("leader", pa.int32()),
            ("leader_epoch", pa.int32()),
            ("replicas", pa.list_(pa.int32())),
            ("isr", pa.list_(pa.int32())),
            ("log_start_offset", pa.int64()),
            ("high_watermark", pa.int64()),
            ("last_stable_offset", pa.int64()),
            ("log_end_offset", pa.int64()),
            ("size", pa.int64()),
            ("segments", pa.int32()),
            ("path", pa.string()),
        ]
    )

    def splits(self, scan: Scan) -> list[Split]:
        """Some hundred partitions each."""
        wanted = _partitions(open_paths(scan.paths), scan)
        groups = (wanted[start : start + SPLIT_PARTITIONS] for start in range(0, len(wanted), SPLIT_PARTITIONS))
        return [Split(some[0].topic, some[0].partition, 0, some) for some in groups]

    def read(self, scan: Scan, split: Split, tell: Tell = unheard) -> Iterator[pa.RecordBatch]:
        """The rows of these partitions, then those for damage."""
        schema = read_schema(self, scan)
        cluster = open_paths(scan.paths)
        logs = {} if LOG_COLUMNS.isdisjoint(schema.names) else _logs(cluster, scan, split.part)
        losses = _losses(cluster, scan, schema.names, logs)
        rows: list[dict[str, Any]] = []
        told: list[pa.RecordBatch] = []
        for partition in split.part:
            damages = DamageRows(self, scan, Split(partition.topic, partition.partition, 0, None), tell)
            row = _metadata(cluster, partition)
            try:
                if partition in logs:
                    row |= _log(cluster, logs[partition], "last_stable_offset" in schema.names)
            except DamagedFileError as error:
                damages.found(error)
            if partition in losses:
                damages.note(losses[partition], None)
                row |= dict.fromkeys(END_COLUMNS)
            rows.append(row)
            told += damages.batches()
        yield from row_batches(schema, rows)
        yield from told


def _partitions(cluster: LogDirsCluster, scan: Scan) -> list[TopicPartition]:
    """Those of the metadata, and those of which there is a directory; with a broker, those that it has."""
    if scan.broker is not None:
        return [log.partition for log in chosen_logs(cluster, scan)]
    topics = cluster.image().topics
    known = {TopicPartition(name, number) for name, topic in topics.items() for number in topic.partitions}
    return [
        each
        for each in sorted(known | set(cluster.dirs.replicas))
        if (scan.partitions is None or each.partition in scan.partitions)
        and (each.topic != METADATA_TOPIC if scan.topics is None else each.topic in scan.topics)
    ]


def _metadata(cluster: LogDirsCluster, partition: TopicPartition) -> Row:
    row: Row = partition._asdict()
    topic = cluster.image().topics.get(partition.topic)
    if topic is None or partition.partition not in topic.partitions:
        return row
    row["topic_id"] = None if topic.id == ZERO_UUID else topic.id
    if not cluster.has_metadata:
        return row
    found = topic.partitions[partition.partition]
    return row | {
        "leader": None if found.leader == NO_LEADER else found.leader,
        "leader_epoch": found.leader_epoch,
        "replicas": found.replicas,
        "isr": found.isr,
    }


def _logs(
    cluster: LogDirsCluster, scan: Scan, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, PartitionReader]:
    topics, numbers = zip(*partitions, strict=True)
    some = scan._replace(topics=frozenset(topics), partitions=frozenset(numbers))
    return {log.partition: log for log in chosen_logs(cluster, some)}


def _losses(
    cluster: LogDirsCluster, scan: Scan, columns: Sequence[str], logs: dict[TopicPartition, PartitionReader]
) -> dict[TopicPartition, str]:
    """The logs that lost their ends, with failfast an error, and for permissive those that are not here."""
    found = {}
    if not END_COLUMNS.isdisjoint(columns):
        found = {partition: log.loss for partition, log in logs.items() if log.loss is not None}
        if scan.mode is Mode.FAILFAST and found:
            raise lost_records(list(found.values()))
    if scan.mode is Mode.PERMISSIVE and not LOG_COLUMNS.isdisjoint(columns):
        missing = absent(cluster, scan)
        found |= {partition: missing.problem(partition) for partition in missing.missed(names_partitions(scan))}
    return found


def _log(cluster: LogDirsCluster, log: PartitionReader, is_stable_wanted: bool) -> Row:
    high_watermark = cluster.high_watermark(log.partition, log)
    return {
        "log_start_offset": log.log_start_offset,
        "high_watermark": high_watermark,
        "last_stable_offset": log.last_stable_offset(high_watermark) if is_stable_wanted else None,
        "log_end_offset": log.log_end_offset,
        "size": log.size,
        "segments": len(log.segments),
        "path": log.directory,
    }


TABLE: Table = PartitionsTable()
