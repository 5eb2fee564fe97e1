"""A cluster directory, read and written: kafkapy plays controller and brokers over Kafka's own files.

A change goes through the controller into the metadata log, then to the partition directories (replica_directories.py).
Batches go to the leader and to those in sync (partition_writes.py). What a command was told is done has been synced;
``close`` leaves every log dir as a broker's clean stop does.

Only brokers that run take part (directory_state.py says which): those that were stopped or killed lead nothing, are in
no ISR and are not touched until they are started (failures.py).

Killed at any point, the metadata log says which state holds, and the next writer brings directories and replicas to it
(directory_recovery.py; ``recovered`` has what it did, and ``tell`` is told at once). A write that failed half way
leaves the same (write_guard.py).

Two writers never meet: every log dir is locked, with the lock that a broker takes too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

from kafkapy.backends.broker_logs import BrokerLogs, Environment
from kafkapy.backends.cluster import Appended
from kafkapy.backends.cluster_file import ClusterFile
from kafkapy.backends.directory_recovery import recover
from kafkapy.backends.directory_state import DirectoryState
from kafkapy.backends.log_configs import log_config
from kafkapy.backends.log_dir_lock import lock_all
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.backends.partition_writes import PartitionWrites
from kafkapy.backends.replica_directories import ReplicaDirectories
from kafkapy.backends.replica_logs import ReplicaLogs
from kafkapy.backends.replica_places import ReplicaPlaces
from kafkapy.backends.replicas import LogDirs
from kafkapy.backends.replication import hinting_none_runs
from kafkapy.backends.write_guard import WriteGuard, cause
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.metadata_record import MetadataRecord
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
from kafkapy.metadata.image import TOPIC, MetadataImage
from kafkapy.metadata.placement import Placer, place
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.leader import ACKS_ALL
from kafkapy.replication.partition import ReplicatedPartition
from kafkapy.signals import HeldSignals

if TYPE_CHECKING:
    from kafkapy.backends.replica_control import ReplicaControl
    from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator


class DirectoryCluster(LogDirsCluster):
    """A cluster directory that this process alone may write, until ``close``.

    ``places`` are the log dirs of the brokers that are alive, ``directories`` the replicas' directories in them, and
    ``replicas`` what leads and follows.
    """

    def __init__(
        self,
        directory: str,
        files: Files | None = None,
        now: int | None = None,
        seed: int | None = None,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.directory = directory
        self.recovered: list[str] = []
        self._tell = tell
        self._files = files or Files()
        self._guard = WriteGuard()
        self._state = DirectoryState(directory, self._files, self._guard, now)
        super().__init__(*self._state.every_log_dir)
        self._directory_ids = self._state.directory_ids()
        self._random = Random(seed)
        self.placer: Placer = place
        self._configs: dict[tuple[tuple[str, str], ...], LogConfig] = {}  # by what a topic has of its own
        self._locks = lock_all(self._dirs.paths)
        try:
            self._state.look_again()
            self._metadata = MetadataWriter(
                [self._state.log_dirs(each.id)[0] for each in self.cluster_file.brokers], self._files
            )
            self.places = ReplicaPlaces(self.image)
            self.directories = ReplicaDirectories(self.places, self.image)
            self.replicas = ReplicaLogs(
                self.places, self.brokers, self.image, self._time, self.apply, self.tell_recovered
            )
            self._writes = PartitionWrites(self.replicas, self._guard, self._time)
            self._dirs = LogDirs(self._state.alive_log_dirs)
            for broker_id in self.brokers.alive:
                self.open_broker(broker_id)
            self.tell_recovered(self._metadata.recovered)
            recover(self)
            self._fence()
        except BaseException:
            self._release()
            raise

    def _fence(self) -> None:
        """Who does not run is in no ISR, also where a process was killed before it could write so."""
        for broker_id in sorted(self.brokers.known - self.brokers.alive):
            self.apply(RemoveBroker(broker_id))

    def close(self) -> None:
        """Leave every log dir as a clean stop does, and let others write."""
        try:
            if not self._guard.is_broken:
                self.replicas.settle()
                self.replicas.close()
        finally:
            self._release()

    def _release(self) -> None:
        self._files.close()
        for lock in self._locks:
            lock.release()

    def tell_recovered(self, lines: Iterable[str]) -> None:
        """Keep and tell what was put right."""
        for line in lines:
            self.recovered.append(line)
            self._tell(line)

    # ---- the surroundings

    @property
    def cluster_file(self) -> ClusterFile:
        """What cluster.yaml says."""
        return self._state.cluster_file

    @property
    def brokers(self) -> BrokerStates:
        """Which brokers run."""
        return self._state.brokers

    @property
    def _unfenced(self) -> frozenset[int]:
        return self.brokers.alive

    @property
    def every_log_dir(self) -> tuple[str, ...]:
        """The log dirs of all brokers, also of those that do not run."""
        return self._state.every_log_dir

    @property
    def has_metadata(self) -> bool:
        """There is no cluster directory without."""
        return True

    @property
    def where(self) -> str:
        """What to call the place where the logs are looked for."""
        return "the log dirs of the brokers that run"

    @property
    def now(self) -> int:
        """The time, in ms, as coordinators ask for it."""
        return self._time()

    def _time(self) -> int:
        return self._state.now()

    def set_state(self, broker_id: int, state: str) -> None:
        """What a broker does from now on."""
        self._state.set_state(broker_id, state)
        self._dirs = LogDirs(self._state.alive_log_dirs)

    @contextmanager
    def undivided(self) -> Iterator[None]:
        """What belongs together of a broker that goes or comes. Where it fails, nothing more is written: with half of
        it, followers would fetch from who lost its end."""
        with self._guard.short():
            yield

    def advance_clock(self, ms: int) -> None:
        """Simulated time passes."""
        self._state.advance_clock(ms)

    def open_broker(self, broker_id: int) -> list[BrokerLogs]:
        """The log dirs of a broker, opened to be written."""
        environment = Environment(self._files, self._time(), self._config_of)
        registration = self.image().brokers.get(broker_id)
        epoch = -1 if registration is None else registration.epoch
        opened = {
            self._directory_ids[path]: BrokerLogs(path, epoch, environment) for path in self._state.log_dirs(broker_id)
        }
        self.places.add_broker(broker_id, opened)
        return list(opened.values())

    def _config_of(self, partition: TopicPartition) -> LogConfig:
        own = tuple(sorted(self.image().config(TOPIC, partition.topic).items()))
        if own not in self._configs:
            self._configs[own] = log_config(self.image(), partition.topic)
        return self._configs[own]

    # ---- the metadata

    def image(self) -> MetadataImage:
        """The metadata as this process has written it."""
        return self._metadata.image

    def apply(self, *changes: Change) -> None:
        """Make all changes or none: their records go into one batch."""
        image, records = self.image(), []
        for change in changes:
            controller = Controller(image, self._random, checker(image), live=self.brokers.alive, placer=self.placer)
            try:
                made = controller.apply(change)
            except KafkaError as error:
                raise hinting_none_runs(error, self.brokers) from None
            records += made
            if len(changes) > 1:
                from kafkapy.metadata.delta import replay

                image = replay(image, made)
        if not records:
            return
        before = self.image()
        with HeldSignals():
            self._write(records, before)
            if self.image().metadata_version >= IBP_3_7_IV2:
                self.apply(*self.places.unassigned())
            self._forget_offsets(before, [change.topic for change in changes if isinstance(change, DeleteTopic)])

    def _write(self, records: list[MetadataRecord], before: MetadataImage) -> None:
        """A batch of the metadata log, and all that follows it here."""
        with self._guard.whole():
            try:
                self._metadata.append(records, self._time())
                self._configs.clear()
                self.directories.follow(before)
                self.replicas.follow(before)
            except OSError as error:
                raise KafkapyError(f"{cause(error)}. {self._what_holds(before)}") from error
            self._dirs = LogDirs(self._state.alive_log_dirs)

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

    def new_producer_id(self) -> int:
        """The first id of a new block: the ids of a block that a process did not use are never used again."""
        first = max(self.image().producer_ids.next_producer_id, 0)
        self.apply(AllocateProducerIds(min(self.brokers.alive, default=min(self.brokers.known))))
        return first

    def write_snapshot(self, snapshot_id: SnapshotId, data: bytes) -> None:
        """Put a snapshot of the metadata beside every metadata log."""
        with self._guard.short():
            self._metadata.write_snapshot(snapshot_id, data)

    # ---- coordinators

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

    # ---- partitions, written

    def append(self, partition: TopicPartition, batch: bytes, acks: int = ACKS_ALL) -> Appended:
        """Append to the leader and, with acks=all, to every replica in sync."""
        version = self.image().features.get(TRANSACTION_VERSION, 0)
        return self._writes.append(partition, batch, acks, Origin.CLIENT, version)

    def append_as_coordinator(self, partition: TopicPartition, batch: bytes, transaction_version: int) -> Appended:
        """Append a coordinator's state, or a transaction marker."""
        return self._writes.append(partition, batch, ACKS_ALL, Origin.COORDINATOR, transaction_version)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset, of the in-sync followers by what they fetch."""
        return self._writes.delete_records(partition, before)

    def sync(self, partitions: Iterable[TopicPartition]) -> None:
        """Bring what was appended to these partitions to the in-sync replicas, and to disk."""
        self._writes.sync(partitions)

    def flush(self) -> None:
        """Bring what was appended to the in-sync replicas, and to disk."""
        self._writes.flush()

    @contextmanager
    def maintained(self, partition: TopicPartition) -> Iterator[list[tuple[int, BrokerLogs, PartitionLog]]]:
        """Every replica of a partition on a broker that is alive, to be worked on."""
        replicas = self._writes.partition(partition).replicas
        with self._guard.whole():
            yield [(broker_id, logs, replicas[broker_id].log) for broker_id, logs in self.places.of(partition)]

    @contextmanager
    def replicating(self, partition: TopicPartition) -> Iterator[ReplicatedPartition]:
        """A partition whose replicas are about to fetch."""
        with self._guard.whole():
            yield self.replicas.partition(partition)
            self._dirs = LogDirs(self._state.alive_log_dirs)

    def logs_in(self, log_dir: str) -> BrokerLogs:
        """The logs of one log dir."""
        return self.places.in_log_dir(log_dir)

    # ---- partitions, read

    def reader(self, partition: TopicPartition) -> PartitionReader | None:
        """The leader's log as far as this process has written it; where nobody leads, that which reaches farthest."""
        topic = self.image().topics.get(partition.topic)
        if topic is None or partition.partition not in topic.partitions:
            return None
        leader = self._writes.partition(partition).leader
        if leader is None:
            return self._dirs.best_reader(partition, None)
        return PartitionReader(leader.replica.log.directory, partition, leader.replica.log_start_offset)

    def _required(self, partition: TopicPartition) -> PartitionReader:
        self._writes.partition(partition).led()
        return super()._required(partition)

    def high_watermark(self, partition: TopicPartition, reader: PartitionReader) -> int:
        """The leader's, as it is known by now."""
        return self._writes.partition(partition).led().replica.high_watermark

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """The logs of every replica of a broker that runs, the leader's first."""
        replicated = self._writes.partition(partition)
        first = replicated.led().replica
        others = (replica for replica in replicated.replicas.values() if replica is not first)
        return (PartitionReader(each.log.directory, partition, each.log_start_offset) for each in (first, *others))
