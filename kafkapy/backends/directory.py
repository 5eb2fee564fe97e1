"""A cluster directory, read and written: kafkapy plays controller and brokers over Kafka's own files.

A change goes through the controller into the metadata log, then to the partition directories. A batch is appended to
the leader's log, which gives it offsets; with acks=all the in-sync replicas have fetched it when ``append`` returns,
else they do at the next ``flush``, ``sync`` or ``close``. What a command was told is done has been synced; ``close``
leaves every log dir as a broker's clean stop does.

Only brokers that run take part (cluster.yaml says which): those that were stopped or killed lead nothing, are in no ISR
and are not touched until they are started (failures.py).

Killed at any point, the metadata log says which state holds, and the next writer brings directories and replicas to it
(``recovered`` has what it did, and ``tell`` is told at once). A write that failed half way, on a full disk or by an
interrupt, leaves the same: nothing more is written, and ``close`` leaves no mark of a clean stop.

Two writers never meet: every log dir is locked, with the lock that a broker takes too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

from kafkapy.backends.broker_logs import BrokerLogs, Environment
from kafkapy.backends.cluster import Appended
from kafkapy.backends.cluster_file import FILE_NAME, ClusterFile, encode, file_version, read_cluster_file
from kafkapy.backends.log_configs import log_config
from kafkapy.backends.log_dir_identity import directory_id
from kafkapy.backends.log_dir_lock import lock_all
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.backends.replica_logs import ReplicaLogs
from kafkapy.backends.replicas import LogDirs
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AllocateProducerIds, Change, DeleteTopic, RemoveBroker
from kafkapy.metadata.config_checks import checker
from kafkapy.metadata.controller import Controller
from kafkapy.metadata.features import IBP_3_7_IV2, TRANSACTION_VERSION
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.placement import Placer, place
from kafkapy.replication.broker_state import BrokerState
from kafkapy.replication.leader import ACKS_ALL
from kafkapy.replication.partition import ReplicatedPartition

if TYPE_CHECKING:
    from kafkapy.backends.replica_control import ReplicaControl
    from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator

HIGH_WATERMARK = -1


class DirectoryCluster(LogDirsCluster):
    """A cluster directory that this process alone may write, until ``close``."""

    def __init__(
        self,
        directory: str,
        files: Files | None = None,
        now: int | None = None,
        seed: int | None = None,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        self._directory = directory
        self.recovered: list[str] = []
        self._tell = tell
        read, self.cluster_file = file_version(directory), read_cluster_file(directory)
        super().__init__(*self.every_log_dir)
        self._directory_ids = {
            path: directory_id(path, broker.id, self.cluster_file.cluster_id)
            for broker in self.cluster_file.brokers
            for path in self._log_dirs(broker.id)
        }
        self._files = files or Files()
        self._fixed_now = now
        self._random = Random(seed)
        self.placer: Placer = place
        self._broken_by: BaseException | None = None
        self._configs: dict[str, LogConfig] = {}
        self._locks = lock_all(self._dirs.paths)
        try:
            if file_version(directory) != read:  # by who held the locks just before
                self.cluster_file = read_cluster_file(directory)
            self.brokers = self.cluster_file.states
            self._metadata = MetadataWriter(
                [self._log_dirs(each.id)[0] for each in self.cluster_file.brokers], self._files
            )
            self._replicas = ReplicaLogs(self.brokers, self.image, self._time, self.apply, self.tell_recovered)
            self._dirs = LogDirs(self._alive_paths())
            for broker_id in self.brokers.alive:
                self._replicas.add_broker(broker_id, self.open_logs(broker_id))
            self.tell_recovered(self._metadata.recovered)
            self.recover()
            self._fence()
        except BaseException:
            self._release()
            raise

    @property
    def has_metadata(self) -> bool:
        """There is no cluster directory without."""
        return True

    @property
    def where(self) -> str:
        """What to call the place where the logs are looked for."""
        return "the log dirs of the brokers that run"

    @property
    def live_brokers(self) -> frozenset[int]:
        """The brokers that run."""
        return self.brokers.alive or self.brokers.known

    @property
    def now(self) -> int:
        """The time, in ms, as coordinators ask for it."""
        return self._time()

    def _time(self) -> int:
        """That of the clock, unless one was given; simulated time may be ahead of it."""
        now = int(time.time() * 1000) if self._fixed_now is None else self._fixed_now
        return now + self.cluster_file.clock_offset_ms

    def image(self) -> MetadataImage:
        """The metadata as this process has written it."""
        return self._metadata.image

    def apply(self, *changes: Change) -> None:
        """Make all changes or none: their records go into one batch."""
        image, records = self.image(), []
        for change in changes:
            controller = Controller(image, self._random, checker(image), live=self.brokers.alive, placer=self.placer)
            made = controller.apply(change)
            records += made
            if len(changes) > 1:
                from kafkapy.metadata.delta import replay

                image = replay(image, made)
        if not records:
            return
        before = self.image()
        with self._whole():
            try:
                self._metadata.append(records, self._time())
                self._configs.clear()
                self._replicas.follow(before)
            except OSError as error:
                raise KafkapyError(f"{_cause(error)}. {self._what_holds(before)}") from error
            self._dirs = LogDirs(self._alive_paths())
        if self.image().metadata_version >= IBP_3_7_IV2:
            self.apply(*self._replicas.unassigned())
        self._forget_offsets(before, [change.topic for change in changes if isinstance(change, DeleteTopic)])

    def _what_holds(self, before: MetadataImage) -> str:
        """What to say of a change that could not be finished."""
        if self.image() is before:
            return "Look whether the change was made before you make it again: the next command that writes decides it"
        return (
            "The change itself was made, so do not make it again: when this is put right, the next command that writes "
            "brings the log dirs to it"
        )

    def _forget_offsets(self, before: MetadataImage, deleted: list[str]) -> None:
        """Groups forget what they committed for topics that are gone, as their coordinators do when they hear of it."""
        if deleted and CONSUMER_OFFSETS in self.image().topics:
            self.groups().offset_manager.delete_topics({topic: before.topics[topic].id for topic in deleted})

    def append(self, partition: TopicPartition, batch: bytes, acks: int = ACKS_ALL) -> Appended:
        """Append to the leader and, with acks=all, to every replica in sync."""
        version = self.image().features.get(TRANSACTION_VERSION, 0)
        return self._append(partition, batch, acks, Origin.CLIENT, version)

    def append_as_coordinator(self, partition: TopicPartition, batch: bytes, transaction_version: int) -> Appended:
        """Append a coordinator's state, or a transaction marker."""
        return self._append(partition, batch, ACKS_ALL, Origin.COORDINATOR, transaction_version)

    def sync(self, partitions: Iterable[TopicPartition]) -> None:
        """Bring what was appended to these partitions to the in-sync replicas, and to disk."""
        wanted = list(partitions)
        with self._whole():
            self._replicas.settle(wanted)
            for partition in wanted:
                for replica in self._partition(partition).replicas.values():
                    replica.log.flush()

    def _append(
        self, partition: TopicPartition, batch: bytes, acks: int, origin: Origin, transaction_version: int
    ) -> Appended:
        with self._whole():
            replicated, now = self._replicas.partition(partition), self._time()
            info = replicated.append(batch, acks, now, origin, transaction_version)
            if acks == ACKS_ALL and not replicated.replicate(info.last_offset, now):
                raise KafkaError("TimeoutException", _timed_out(replicated))
        return Appended(info.first_offset, info.last_offset, info.duplicate)

    def new_producer_id(self) -> int:
        """The first id of a new block: the ids of a block that a process did not use are never used again."""
        first = max(self.image().producer_ids.next_producer_id, 0)
        self.apply(AllocateProducerIds(min(self.brokers.alive, default=min(self.brokers.known))))
        return first

    def transactions(self) -> TransactionCoordinator:
        """The coordinator of all transactional ids, which tells that of the groups how their offsets ended."""
        coordinator = super().transactions()
        coordinator.on_offsets_marker = self._end_offsets
        return coordinator

    def _end_offsets(self, partition: TopicPartition, producer_id: int, commit: bool) -> None:
        if self._group_coordinator is not None:
            self._group_coordinator.store.end_transaction(partition, producer_id, commit)

    def replica_control(self) -> ReplicaControl:
        """Who elects leaders and moves replicas."""
        from kafkapy.backends.directory_replica_control import DirectoryReplicaControl

        return DirectoryReplicaControl(self)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset, of the in-sync followers by what they fetch."""
        leader = self._partition(partition).led().replica
        target = leader.high_watermark if before == HIGH_WATERMARK else before
        if not 0 <= target <= leader.high_watermark:
            raise KafkaError(
                "OffsetOutOfRangeException",
                f"Cannot increment the log start offset to {target} of partition {partition} since it is larger than "
                f"the high watermark {leader.high_watermark}",
            )
        with self._whole():
            leader.log.increment_log_start_offset(target)
            self._replicas.settle([partition])
        return leader.log_start_offset

    @contextmanager
    def maintained(self, partition: TopicPartition) -> Iterator[list[tuple[int, BrokerLogs, PartitionLog]]]:
        """Every replica of a partition on a broker that is alive, to be worked on."""
        replicas = self._partition(partition).replicas
        held = self._replicas.replicas(partition, self._replicas.registration(partition))
        with self._whole():
            yield [(broker_id, logs, replicas[broker_id].log) for broker_id, logs in held]

    @contextmanager
    def replicating(self, partition: TopicPartition) -> Iterator[ReplicatedPartition]:
        """A partition whose replicas are about to fetch."""
        with self._whole():
            yield self._replicas.partition(partition)
            self._dirs = LogDirs(self._alive_paths())

    def logs_in(self, log_dir: str) -> BrokerLogs:
        """The logs of one log dir."""
        return self._replicas.in_log_dir(log_dir)

    def write_snapshot(self, snapshot_id: SnapshotId, data: bytes) -> None:
        """Put a snapshot of the metadata beside every metadata log."""
        with self._whole():
            self._metadata.write_snapshot(snapshot_id, data)

    def reader(self, partition: TopicPartition) -> PartitionReader | None:
        """The leader's log as far as this process has written it; where nobody leads, that which reaches farthest."""
        topic = self.image().topics.get(partition.topic)
        if topic is None or partition.partition not in topic.partitions:
            return None
        leader = self._partition(partition).leader
        if leader is None:
            return self._dirs.best_reader(partition, None)
        return PartitionReader(leader.replica.log.directory, partition, leader.replica.log_start_offset)

    def _required(self, partition: TopicPartition) -> PartitionReader:
        self._partition(partition).led()
        return super()._required(partition)

    def high_watermark(self, partition: TopicPartition, reader: PartitionReader) -> int:
        """The leader's, as it is known by now."""
        return self._partition(partition).led().replica.high_watermark

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """The logs of every replica of a broker that runs, the leader's first."""
        replicated = self._partition(partition)
        first = replicated.led().replica
        others = (replica for replica in replicated.replicas.values() if replica is not first)
        return (PartitionReader(each.log.directory, partition, each.log_start_offset) for each in (first, *others))

    def flush(self) -> None:
        """Bring what was appended to the in-sync replicas, and to disk."""
        with self._whole():
            self._replicas.settle()
            for logs in self._replicas.all_logs():
                logs.flush()

    def close(self) -> None:
        """Leave every log dir as a clean stop does, and let others write."""
        try:
            if self._broken_by is None:
                self._replicas.settle()
                self._replicas.close()
                for logs in self._replicas.all_logs():
                    logs.mark_clean()
        finally:
            self._release()

    # ---- which brokers run, for failures.py

    @property
    def replicas(self) -> ReplicaLogs:
        """The replicas on brokers that are alive."""
        return self._replicas

    @property
    def every_log_dir(self) -> tuple[str, ...]:
        """The log dirs of all brokers, also of those that do not run."""
        return tuple(path for broker in self.cluster_file.brokers for path in self._log_dirs(broker.id))

    def open_logs(self, broker_id: int) -> dict[str, BrokerLogs]:
        """The log dirs of a broker, opened to be written, by their directory ids."""
        environment = Environment(self._files, self._time(), self._config_of)
        return {
            self._directory_ids[path]: BrokerLogs(path, self._epoch_of(broker_id), environment)
            for path in self._log_dirs(broker_id)
        }

    def recover(self, logs: Sequence[BrokerLogs] | None = None) -> None:
        """Put right what a crash, or the loss of files, left; ``logs`` are those of a broker that starts, by default
        all."""
        from kafkapy.backends.lost_replicas import drop_lost
        from kafkapy.backends.misplaced_replicas import find_misplaced

        self.tell_recovered(self._replicas.recover_moves())
        self.tell_recovered(find_misplaced(self))
        self.tell_recovered(drop_lost(self, logs))
        self.tell_recovered(self._replicas.recover(logs))

    def tell_recovered(self, lines: Iterable[str]) -> None:
        """Keep and tell what was put right."""
        for line in lines:
            self.recovered.append(line)
            self._tell(line)

    def set_state(self, broker_id: int, state: str) -> None:
        """What a broker does from now on; written to cluster.yaml."""
        now = self._time()
        self._write_cluster_file(self.cluster_file.with_state(broker_id, BrokerState(state, now)))
        self.brokers.set(broker_id, state, now)
        self._dirs = LogDirs(self._alive_paths())

    def advance_clock(self, ms: int) -> None:
        """Simulated time passes; written to cluster.yaml."""
        self._write_cluster_file(self.cluster_file._replace(clock_offset_ms=self.cluster_file.clock_offset_ms + ms))

    def _write_cluster_file(self, cluster_file: ClusterFile) -> None:
        with self._whole():
            self._files.write_atomic(os.path.join(self._directory, FILE_NAME), encode(cluster_file))
        self.cluster_file = cluster_file

    def _fence(self) -> None:
        """Who does not run is in no ISR, also where a process was killed before it could write so."""
        for broker_id in sorted(self.brokers.known - self.brokers.alive):
            self.apply(RemoveBroker(broker_id))

    def _log_dirs(self, broker_id: int) -> list[str]:
        broker = self.cluster_file.broker(broker_id)
        return [os.path.join(self._directory, path) for path in broker.log_dirs] if broker is not None else []

    def _alive_paths(self) -> tuple[str, ...]:
        return tuple(
            path
            for broker in self.cluster_file.brokers
            if broker.id in self.brokers.alive
            for path in self._log_dirs(broker.id)
        )

    def _release(self) -> None:
        self._files.close()
        for lock in self._locks:
            lock.release()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """What fails inside, other than by being refused, leaves files that only recovery puts right."""
        if self._broken_by is not None:
            raise KafkapyError(
                f"an earlier write failed ({_cause(self._broken_by)}): nothing more is written until the next command "
                "has recovered"
            )
        try:
            yield
        except KafkaError:
            raise
        except BaseException as error:
            self._broken_by = error
            raise

    def _partition(self, partition: TopicPartition) -> ReplicatedPartition:
        """A partition, its in-sync followers where the leader is."""
        with self._whole():
            return self._replicas.partition(partition)

    def _epoch_of(self, broker_id: int) -> int:
        registration = self.image().brokers.get(broker_id)
        return -1 if registration is None else registration.epoch

    def _config_of(self, partition: TopicPartition) -> LogConfig:
        if partition.topic not in self._configs:
            self._configs[partition.topic] = log_config(self.image(), partition.topic)
        return self._configs[partition.topic]


def _cause(error: BaseException) -> str:
    """A failure in few words, with the file where it is known."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _timed_out(replicated: ReplicatedPartition) -> str:
    """What an acks=all waits for, and how that ends."""
    lag, waits_for = replicated.settings.replica_lag_time_max_ms, replicated.not_fetching()
    if not waits_for:
        return "The request timed out."
    starts = " and ".join(f"'kafkapy cluster start-broker {broker_id}'" for broker_id in waits_for)
    return (
        f"The request timed out: {replicated.partition} has it appended on its leader, broker "
        f"{replicated.led().broker_id}, but broker {','.join(map(str, waits_for))}, in its ISR, lags and does not "
        f"fetch. Let it fetch with {starts}, or leave the ISR with 'kafkapy cluster advance --ms {lag + 1}'."
    )
