"""What the background threads of all brokers of a cluster would do now: planned, or done once.

All replicas of a partition are maintained alike, each by its own files and checkpoints. A plan only reads, so it can be
made of real brokers' log dirs too, for any time and with assumed configs. Doing opens only the logs for which there is
something to do; the checkpoints are written when the cluster is closed.

Nothing beyond a high watermark is touched. Of a cluster directory a plan knows where those will be; those of real
brokers are taken to have come to the ends of the logs.

Killed at any point, what was done of compaction and retention stands, and the rest is found due again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kafkapy.backends import coordinator_maintenance
from kafkapy.backends.coordinator_maintenance import CoordinatorTask
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.expected_high_watermarks import expected_high_watermarks
from kafkapy.backends.log_configs import Assumptions, log_config
from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.backends.metadata_snapshots import DueSnapshot, due_snapshot
from kafkapy.backends.replica_maintenance import (
    REMOVE_FILE,
    WRITE_SNAPSHOT,
    Maintenance,
    Situation,
    Task,
    due_files,
    is_due,
    planned,
)
from kafkapy.backends.replicas import Replica
from kafkapy.errors import KafkapyError
from kafkapy.formats import offset_checkpoint
from kafkapy.log.checkpoints import read_checkpoint
from kafkapy.log.config import LogConfig
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topic_selection import select_topics


class Wanted(NamedTuple):
    """What is asked for; without ``topic`` coordinators and the metadata log are maintained too,
    a snapshot is taken at any rate if asked. ``directory`` is the cluster directory; real brokers have none."""

    now: int
    topic: str | None = None
    snapshot: bool = False
    assumed: Assumptions | None = None
    directory: str | None = None


class Action(NamedTuple):
    """A task, and the brokers whose replicas it is the same for; -1 stands for one that is not known."""

    partition: TopicPartition
    brokers: tuple[int, ...]
    task: Task


def plan(cluster: LogDirsCluster, wanted: Wanted) -> Iterator[Action]:
    """What would be done; nothing is written."""
    _check(cluster)
    if wanted.topic is None:
        yield from _coordinator_actions(cluster, coordinator_maintenance.planned(cluster, wanted.now, wanted.directory))
    for partition, config in _partitions(cluster, wanted):
        tasks: dict[Task, list[int]] = {}
        known = expected_high_watermarks(cluster, partition) if isinstance(cluster, DirectoryReader) else {}
        for replica in _copies(cluster, partition):
            situation = _situation(replica, config, wanted, known.get(_broker(cluster, replica)))
            for task in (*due_files(replica.path, situation), *planned(cluster.dirs.reader(replica), situation)):
                tasks.setdefault(task, []).append(_broker(cluster, replica))
        yield from _actions(partition, tasks)
    snapshot = _due_snapshot(cluster, wanted)
    if snapshot is not None:
        yield _snapshot_action(cluster, snapshot)


def run(cluster: DirectoryCluster, wanted: Wanted) -> Iterator[Action]:
    """Do what is due, and tell what was done. An open transaction holds compaction back, so coordinators come first."""
    _check(cluster)
    if wanted.topic is None:
        yield from _coordinator_actions(cluster, coordinator_maintenance.done(cluster, wanted.now, wanted.directory))
    for partition, config in _partitions(cluster, wanted):
        tasks: dict[Task, list[int]] = {}
        for replica in _copies(cluster, partition):
            _remove_due_files(cluster, replica, _situation(replica, config, wanted), tasks)
        if _is_due(cluster, partition, config, wanted):
            with cluster.maintained(partition) as replicas:
                for broker_id, logs, log in replicas:
                    known = cluster.replicas.partition(partition).replicas[broker_id].high_watermark
                    maintenance = Maintenance(log, Situation(config, logs.cleaned_to(partition), wanted.now, known))
                    for task in maintenance.done():
                        tasks.setdefault(task, []).append(broker_id)
                    if maintenance.cleaned_to is not None:
                        logs.set_cleaned_to(partition, maintenance.cleaned_to)
        yield from _actions(partition, tasks)
    snapshot = _due_snapshot(cluster, wanted)
    if snapshot is not None:
        cluster.write_snapshot(snapshot.snapshot_id, snapshot.data)
        yield _snapshot_action(cluster, snapshot)


def _check(cluster: LogDirsCluster) -> None:
    if not cluster.has_metadata:
        raise KafkapyError("without a metadata log, the configs by which logs are maintained are unknown")


def _partitions(cluster: LogDirsCluster, wanted: Wanted) -> Iterator[tuple[TopicPartition, LogConfig]]:
    image = cluster.image()
    for topic in select_topics(image, wanted.topic):
        config = log_config(image, topic.name, (wanted.assumed or {}).get(topic.name))
        for number in sorted(topic.partitions):
            yield TopicPartition(topic.name, number), config


def _copies(cluster: LogDirsCluster, partition: TopicPartition) -> list[Replica]:
    """Of a cluster directory those on brokers that run, and none where none does."""
    if isinstance(cluster, DirectoryReader) and not cluster.brokers.alive:
        return []
    return [replica for replica in cluster.dirs.replicas.get(partition, ()) if not replica.is_future]


def _broker(cluster: LogDirsCluster, replica: Replica) -> int:
    broker_id = cluster.dirs.broker_ids[replica.log_dir]
    return -1 if broker_id is None else broker_id


def _situation(replica: Replica, config: LogConfig, wanted: Wanted, high_watermark: int | None = None) -> Situation:
    offsets = read_checkpoint(replica.log_dir, offset_checkpoint.CLEANER_OFFSET_FILE) if config.compact else {}
    cleaned_to = offsets.get((replica.partition.topic, replica.partition.partition))
    return Situation(config, cleaned_to, wanted.now, high_watermark)


def _is_due(cluster: DirectoryCluster, partition: TopicPartition, config: LogConfig, wanted: Wanted) -> bool:
    return any(
        is_due(cluster.dirs.reader(replica), _situation(replica, config, wanted))
        for replica in _copies(cluster, partition)
    )


def _remove_due_files(
    cluster: DirectoryCluster, replica: Replica, situation: Situation, tasks: dict[Task, list[int]]
) -> None:
    due = due_files(replica.path, situation)
    cluster.logs_in(replica.log_dir).remove(replica.partition, (task.name for task in due))
    for task in due:
        tasks.setdefault(task, []).append(_broker(cluster, replica))


def _actions(partition: TopicPartition, tasks: Mapping[Task, list[int]]) -> Iterator[Action]:
    ordered = sorted(tasks.items(), key=lambda item: item[0].kind != REMOVE_FILE)
    return (Action(partition, tuple(sorted(brokers)), task) for task, brokers in ordered)


def _coordinator_actions(cluster: LogDirsCluster, tasks: Iterable[CoordinatorTask]) -> Iterator[Action]:
    for partition, task in tasks:
        brokers = {_broker(cluster, replica) for replica in _copies(cluster, partition)}
        yield Action(partition, tuple(sorted(brokers)), task)


def _due_snapshot(cluster: LogDirsCluster, wanted: Wanted) -> DueSnapshot | None:
    if wanted.topic is not None and not wanted.snapshot:
        return None
    return due_snapshot(cluster.every_log_dir, wanted.now, wanted.snapshot)


def _snapshot_action(cluster: LogDirsCluster, snapshot: DueSnapshot) -> Action:
    task = Task(WRITE_SNAPSHOT, snapshot.snapshot_id.file_name(), 0, len(snapshot.data), snapshot.reason)
    brokers = {broker_id for broker_id in cluster.dirs.broker_ids.values() if broker_id is not None}
    return Action(TopicPartition(METADATA_TOPIC, 0), tuple(sorted(brokers)), task)
