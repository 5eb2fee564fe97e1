"""The cluster that a scan reads: one cluster directory, or log dirs. Whoever plans opens it; whoever reads a split
opens only that split's files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from kafkapy.backends.absent_partitions import AbsentPartitions, absent_partitions
from kafkapy.backends.cluster_file import FILE_NAME
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean
from kafkapy.tables.registry import TABLES_OF_TOPICS
from kafkapy.tables.scan import Scan


def open_paths(paths: tuple[str, ...]) -> LogDirsCluster:
    """A cluster directory, where the only path is one; else log dirs."""
    if len(paths) == 1 and os.path.exists(os.path.join(paths[0], FILE_NAME)):
        return DirectoryReader(paths[0])
    return LogDirsCluster(*paths)


def topics_of(cluster: LogDirsCluster) -> frozenset[str]:
    """Every topic that is there."""
    return frozenset(partition.topic for partition in cluster.dirs.replicas) | cluster.image().topics.keys()


def check_topics(table: str, asked: Iterable[str], cluster: LogDirsCluster, paths: Iterable[str]) -> None:
    """An error for a topic that somebody asked for and that is not there. What internal topics tell of may be gone."""
    if table not in TABLES_OF_TOPICS or not (
        names := set(asked).difference(each.topic for each in cluster.dirs.replicas)
    ):
        return
    there = topics_of(cluster)
    for name in sorted(names - there):
        where = ", ".join(paths)
        raise KafkapyError(f"there is no topic '{name}' in {where}{did_you_mean(name, there, VERY_SIMILAR)}")


def chosen_logs(cluster: LogDirsCluster, scan: Scan) -> Iterator[PartitionReader]:
    """One log for each partition that is to be read, in order; the metadata log only where it is named."""
    for partition in sorted(cluster.dirs.replicas):
        if _is_wanted(partition, scan) and (log := _log(cluster, partition, scan)) is not None:
            yield log


def losses(missing: AbsentPartitions, scan: Scan, logs: Iterable[PartitionReader], is_named: bool) -> list[str]:
    """What a scan asks for and files that should be here do not have: whole partitions, and the ends of logs."""
    found = [log.loss for log in logs if scan.offsets.end is None or scan.offsets.end > log.log_end_offset]
    return [*missing.problems(is_named), *(each for each in found if each is not None)]


def absent(cluster: LogDirsCluster, scan: Scan) -> AbsentPartitions:
    """The partitions that a scan asks for and that are not here."""
    return absent_partitions(cluster, lambda partition: _is_wanted(partition, scan), scan.broker)


def _is_wanted(partition: TopicPartition, scan: Scan) -> bool:
    if scan.partitions is not None and partition.partition not in scan.partitions:
        return False
    return partition.topic != METADATA_TOPIC if scan.topics is None else partition.topic in scan.topics


def _log(cluster: LogDirsCluster, partition: TopicPartition, scan: Scan) -> PartitionReader | None:
    if scan.broker is None:
        return cluster.reader(partition)
    brokers = cluster.dirs.broker_ids
    if scan.broker not in brokers.values():
        known = ", ".join(str(each) for each in sorted({each for each in brokers.values() if each is not None}))
        raise UsageError(
            f"none of the log dirs belongs to broker {scan.broker}: they belong to {known or 'brokers unknown'}"
        )
    copies = cluster.dirs.replicas[partition]
    own = (each for each in copies if brokers[each.log_dir] == scan.broker and not each.is_future)
    replica = next(own, None)
    return None if replica is None else cluster.dirs.reader(replica)
