"""A cluster directory, read and written: kafkapy plays controller and brokers over Kafka's own files.

A change goes through the controller into the metadata log, then to the partition directories. A batch is appended to
the leader's log, which gives it offsets, and as it stands to the logs of the other replicas. What a command was told is
done has been synced; ``close`` leaves every log dir as a broker's clean stop does.

Killed at any point, the metadata log says which state holds, and the next writer brings directories and replicas to it
(``recovered`` tells what it did). A write that failed half way, on a full disk or by an interrupt, leaves the same:
nothing more is written, and ``close`` leaves no mark of a clean stop.

Two writers never meet: every log dir is locked, with the lock that a broker takes too.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

from kafkapy.backends.broker_logs import BrokerLogs, Environment
from kafkapy.backends.cluster import Appended
from kafkapy.backends.cluster_file import FILE_NAME, ClusterFile, decode
from kafkapy.backends.log_configs import log_config
from kafkapy.backends.log_dir_lock import LogDirLock
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.backends.replica_logs import Led, ReplicaLogs
from kafkapy.backends.replicas import LogDirs
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.errors import FormatError, KafkaError, KafkapyError
from kafkapy.formats import meta_properties
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AllocateProducerIds, Change, DeleteTopic
from kafkapy.metadata.config_checks import checker
from kafkapy.metadata.controller import Controller
from kafkapy.metadata.features import TRANSACTION_VERSION
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.placement import Placer, place

if TYPE_CHECKING:
    from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator

HIGH_WATERMARK = -1


def read_cluster_file(directory: str) -> ClusterFile:
    """What a cluster directory is made of."""
    path = os.path.join(directory, FILE_NAME)
    with open(path, "rb") as file:
        return decode(file.read(), path)


class DirectoryCluster(LogDirsCluster):
    """A cluster directory that this process alone may write, until ``close``."""

    def __init__(
        self, directory: str, files: Files | None = None, now: int | None = None, seed: int | None = None
    ) -> None:
        cluster = read_cluster_file(directory)
        dirs = [(broker.id, os.path.join(directory, path)) for broker in cluster.brokers for path in broker.log_dirs]
        super().__init__(*(path for _, path in dirs))
        directory_ids = {path: _directory_id(path, broker_id, cluster.cluster_id) for broker_id, path in dirs}
        self._by_broker: dict[int, list[str]] = defaultdict(list)
        for broker_id, path in dirs:
            self._by_broker[broker_id].append(directory_ids[path])
        self._files = files or Files()
        self._fixed_now = now
        self._random = Random(seed)
        self.placer: Placer = place
        self._is_broken = False
        self._configs: dict[str, LogConfig] = {}
        self._locks = _lock(self._dirs.paths)
        try:
            self._metadata = MetadataWriter(
                [os.path.join(directory, b.log_dirs[0]) for b in cluster.brokers], self._files
            )
            environment = Environment(self._files, self._time(), self._config_of)
            self._logs = {
                directory_ids[path]: BrokerLogs(path, self._epoch_of(broker_id), environment)
                for broker_id, path in dirs
            }
            self._replicas = ReplicaLogs(self._logs, self._by_broker, self.image, self._time)
            self.recovered = [*self._metadata.recovered, *self._replicas.recover()]
        except (KafkapyError, OSError):
            self._release()
            raise

    @property
    def has_metadata(self) -> bool:
        """There is no cluster directory without."""
        return True

    @property
    def now(self) -> int:
        """The time, in ms, as coordinators ask for it."""
        return self._time()

    def _time(self) -> int:
        """That of the clock, unless one was given."""
        return int(time.time() * 1000) if self._fixed_now is None else self._fixed_now

    def image(self) -> MetadataImage:
        """The metadata as this process has written it."""
        return self._metadata.image

    def apply(self, *changes: Change) -> None:
        """Make all changes or none: their records go into one batch."""
        image, records = self.image(), []
        for change in changes:
            controller = Controller(image, self._random, checker(image), live=set(self._by_broker), placer=self.placer)
            made = controller.apply(change)
            records += made
            if len(changes) > 1:
                from kafkapy.metadata.delta import replay

                image = replay(image, made)
        if not records:
            return
        before = self.image()
        with self._whole():
            self._metadata.append(records, self._time())
            self._replicas.forget()
            self._configs.clear()
            self._replicas.follow(before)
            self._dirs = LogDirs(self._dirs.paths)
        self._forget_offsets(before, [change.topic for change in changes if isinstance(change, DeleteTopic)])

    def _forget_offsets(self, before: MetadataImage, deleted: list[str]) -> None:
        """Groups forget what they committed for topics that are gone, as their coordinators do when they hear of it."""
        if deleted and CONSUMER_OFFSETS in self.image().topics:
            self.groups().offset_manager.delete_topics({topic: before.topics[topic].id for topic in deleted})

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        """Append to the leader and to every replica in sync."""
        version = self.image().features.get(TRANSACTION_VERSION, 0)
        return self._append(partition, batch, Origin.CLIENT, version)

    def append_as_coordinator(self, partition: TopicPartition, batch: bytes, transaction_version: int) -> Appended:
        """Append a coordinator's state, or a transaction marker."""
        return self._append(partition, batch, Origin.COORDINATOR, transaction_version)

    def sync(self, partitions: Iterable[TopicPartition]) -> None:
        """Bring what was appended to these partitions to disk."""
        for partition in partitions:
            leader, followers = self._replica_logs(partition)
            with self._whole():
                for log in (leader, *followers):
                    log.flush()

    def _append(self, partition: TopicPartition, batch: bytes, origin: Origin, transaction_version: int) -> Appended:
        registration = self._replicas.registration(partition)
        leader, followers = self._replica_logs(partition)
        with self._whole():
            info = leader.append_as_leader(batch, registration.leader_epoch, self._time(), origin, transaction_version)
            if not info.duplicate:
                for follower in followers:
                    follower.append_as_follower(info.data, self._time())
        return Appended(info.first_offset, info.last_offset, info.duplicate)

    def new_producer_id(self) -> int:
        """The first id of a new block: the ids of a block that a process did not use are never used again."""
        first = max(self.image().producer_ids.next_producer_id, 0)
        self.apply(AllocateProducerIds(min(self._by_broker)))
        return first

    def transactions(self) -> TransactionCoordinator:
        """The coordinator of all transactional ids, which tells that of the groups how their offsets ended."""
        coordinator = super().transactions()
        coordinator.on_offsets_marker = self._end_offsets
        return coordinator

    def _end_offsets(self, partition: TopicPartition, producer_id: int, commit: bool) -> None:
        if self._group_coordinator is not None:
            self._group_coordinator.store.end_transaction(partition, producer_id, commit)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset of every replica."""
        leader, followers = self._replica_logs(partition)
        target = leader.log_end_offset if before == HIGH_WATERMARK else before
        if not 0 <= target <= leader.log_end_offset:
            raise KafkaError(
                "OffsetOutOfRangeException",
                f"Cannot increment the log start offset to {target} of partition {partition} since it is larger than "
                f"the high watermark {leader.log_end_offset}",
            )
        with self._whole():
            for log in (leader, *followers):
                log.increment_log_start_offset(target)
        return leader.log_start_offset

    @contextmanager
    def maintained(self, partition: TopicPartition) -> Iterator[list[tuple[int, BrokerLogs, PartitionLog]]]:
        """Every replica of a partition, all brought to the same end, to be worked on."""
        self._replica_logs(partition)
        topic_id = self.image().topics[partition.topic].id
        replicas = self._replicas.replicas(partition, self._replicas.registration(partition))
        with self._whole():
            yield [(broker_id, logs, logs.log(partition, topic_id)) for broker_id, logs in replicas]

    def logs_in(self, log_dir: str) -> BrokerLogs:
        """The logs of one log dir."""
        return self._replicas.in_log_dir(log_dir)

    def write_snapshot(self, snapshot_id: SnapshotId, data: bytes) -> None:
        """Put a snapshot of the metadata beside every metadata log."""
        with self._whole():
            self._metadata.write_snapshot(snapshot_id, data)

    def reader(self, partition: TopicPartition) -> PartitionReader | None:
        """The leader's log, as far as this process has written it."""
        topic = self.image().topics.get(partition.topic)
        if topic is None or partition.partition not in topic.partitions:
            return None
        leader, _ = self._replica_logs(partition)
        return PartitionReader(leader.directory, partition, leader.log_start_offset)

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """The logs of every replica, the leader's first."""
        leader, followers = self._replica_logs(partition)
        return (PartitionReader(log.directory, partition, log.log_start_offset) for log in (leader, *followers))

    def flush(self) -> None:
        """Bring what was appended to disk."""
        with self._whole():
            for logs in self._logs.values():
                logs.flush()

    def close(self) -> None:
        """Leave every log dir as a clean stop does, and let others write."""
        try:
            if not self._is_broken:
                for logs in self._logs.values():
                    logs.close()
                for logs in self._logs.values():
                    logs.mark_clean()
        finally:
            self._release()

    def _release(self) -> None:
        self._files.close()
        for lock in self._locks:
            lock.release()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """What fails inside, other than by being refused, leaves files that only recovery puts right."""
        if self._is_broken:
            raise KafkapyError("an earlier write failed: nothing more is written until the next command has recovered")
        try:
            yield
        except KafkaError:
            raise
        except BaseException:
            self._is_broken = True
            raise

    def _replica_logs(self, partition: TopicPartition) -> Led:
        """The leader's log, and those of the followers, which end where it does."""
        with self._whole():
            return self._replicas.led(partition)

    def _epoch_of(self, broker_id: int) -> int:
        registration = self.image().brokers.get(broker_id)
        return -1 if registration is None else registration.epoch

    def _config_of(self, partition: TopicPartition) -> LogConfig:
        if partition.topic not in self._configs:
            self._configs[partition.topic] = log_config(self.image(), partition.topic)
        return self._configs[partition.topic]


def _lock(log_dirs: tuple[str, ...]) -> list[LogDirLock]:
    locks: list[LogDirLock] = []
    try:
        for log_dir in log_dirs:
            locks.append(LogDirLock(log_dir))
    except (KafkapyError, OSError):
        for lock in locks:
            lock.release()
        raise
    return locks


def _directory_id(log_dir: str, broker_id: int, cluster_id: str) -> str:
    """The id of a log dir, which must be the one that cluster.yaml means."""
    path = os.path.join(log_dir, meta_properties.FILE_NAME)
    try:
        with open(path, "rb") as file:
            meta = meta_properties.decode(file.read())
    except FormatError as error:
        raise KafkapyError(f"{path}: {error}") from None
    if (meta.node_id, meta.cluster_id) != (broker_id, cluster_id):
        raise KafkapyError(
            f"{path}: belongs to broker {meta.node_id} of cluster {meta.cluster_id}, not to broker {broker_id} of "
            f"cluster {cluster_id} as {FILE_NAME} says"
        )
    if meta.directory_id is None:
        raise KafkapyError(f"{path}: has no directory.id")
    return meta.directory_id
