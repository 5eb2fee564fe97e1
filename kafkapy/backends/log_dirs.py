"""Real brokers' data directories as a cluster: read only, also after a crash, also without a metadata log."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Appended,
    LogDir,
    LogDirReplica,
)
from kafkapy.backends.file_access import FileAccess
from kafkapy.backends.replicas import NO_OWNERS, LogDirs, Replica, whole_copy
from kafkapy.errors import DamagedFileError, KafkaError, KafkapyError, Unsupported
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.log.batch import Batch
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import Change
from kafkapy.metadata.image import EMPTY, GROUP, MetadataImage
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_log import salvage_metadata
from kafkapy.metadata.metadata_replay import LoadedMetadata
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration, TopicImage
from kafkapy.near_misses import partition_hint

if TYPE_CHECKING:
    from kafkapy.backends.administration import Administration
    from kafkapy.backends.producers import Producers
    from kafkapy.backends.replica_control import ReplicaControl
    from kafkapy.backends.replica_diff import ReplicaDiff
    from kafkapy.coordinator.group_coordinator import GroupCoordinator
    from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator
    from kafkapy.metadata.config_entries import Entries

METADATA_TOPIC = "__cluster_metadata"


class LogDirsCluster(FileAccess):
    """A cluster that is there only as files."""

    def __init__(self, *paths: str, owners: Mapping[str, int] = NO_OWNERS) -> None:
        self._dirs = LogDirs(paths, owners)
        self._last_read: PartitionReader | None = None
        self._group_coordinator: GroupCoordinator | None = None
        self._transaction_coordinator: TransactionCoordinator | None = None

    @cached_property
    def _salvaged(self) -> LoadedMetadata | None:
        found = salvage_metadata(*self._dirs.paths)
        if found is None or found.damage is None:
            return found
        return salvage_metadata(*self.every_log_dir)  # a node that does not run may have it whole

    @property
    def _loaded(self) -> MetadataImage | None:
        loaded = self._salvaged
        if loaded is None or (loaded.damage is not None and loaded.end_offset == 0):
            return None  # where nothing is left, the names of directories tell more
        return loaded.image

    @property
    def metadata_damage(self) -> DamagedFileError | None:
        """Why the image is not all of the metadata; None if it is, or there is none."""
        return None if self._salvaged is None else self._salvaged.damage

    @property
    def has_metadata_records(self) -> bool:
        """Whether the metadata tells of anything, as far as it can be read."""
        return self._salvaged is not None and self._salvaged.has_records

    @property
    def dirs(self) -> LogDirs:
        """The log dirs, and every copy of a partition in them."""
        return self._dirs

    @property
    def has_metadata(self) -> bool:
        """Whether one of the log dirs has a metadata log."""
        return self._loaded is not None

    @property
    def where(self) -> str:
        """What to call the place where the logs are looked for."""
        return "the given log dirs"

    @property
    def live_brokers(self) -> frozenset[int]:
        """The brokers that are not fenced; those of a cluster that was stopped are all fenced, and all told."""
        return self._unfenced or frozenset(self.image().brokers)

    @property
    def _unfenced(self) -> frozenset[int]:
        return frozenset(each.id for each in self._image.brokers.values() if not each.fenced)

    def image(self) -> MetadataImage:
        """The metadata log's image; without one, the topics that the names of directories tell."""
        return self._image

    @cached_property
    def _image(self) -> MetadataImage:
        return self._loaded if self._loaded is not None else self._image_of_names()

    def _image_of_names(self) -> MetadataImage:
        partitions: dict[str, dict[int, PartitionRegistration]] = defaultdict(dict)
        for partition in self._dirs.replicas:
            if partition.topic != METADATA_TOPIC:
                partitions[partition.topic][partition.partition] = PartitionRegistration((), (), ())
        topics = {
            name: TopicImage(name, self._topic_id(name, found), dict(sorted(found.items())))
            for name, found in sorted(partitions.items())
        }
        return EMPTY._replace(topics=topics)

    def _topic_id(self, topic: str, partitions: dict[int, PartitionRegistration]) -> str:
        reader = self.reader(TopicPartition(topic, min(partitions)))
        return (reader.topic_id if reader is not None else None) or ZERO_UUID

    def reader(self, partition: TopicPartition) -> PartitionReader | None:
        """The log of a partition; None where no copy of it is here, or only one that is to be made yet."""
        found = self._dirs.best_reader(partition, self._leader(partition))
        return None if found is None or self._is_to_be_made(found) else found

    def _is_to_be_made(self, copy: PartitionReader) -> bool:
        """Whether a replica that a reassignment adds has fetched nothing yet: that it is empty says nothing."""
        registration = self._registration(copy.partition)
        if registration is None or not registration.adding_replicas:
            return False
        replica = next(each for each in self._dirs.replicas[copy.partition] if each.path == copy.directory)
        is_behind = self._dirs.broker_ids[replica.log_dir] in {*registration.adding_replicas} - {*registration.isr}
        return is_behind and not copy.log_end_offset

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """Every copy of a partition's log, the leader's first; an error where none is here."""
        if partition not in self._dirs.replicas:
            raise self.not_here(partition)
        return self._dirs.copies(partition, self._leader(partition))

    def _registration(self, partition: TopicPartition) -> PartitionRegistration | None:
        topic = self._loaded.topics.get(partition.topic) if self._loaded is not None else None
        return None if topic is None else topic.partitions.get(partition.partition)

    def _leader(self, partition: TopicPartition) -> int | None:
        registration = self._registration(partition)
        return registration.leader if registration is not None and registration.leader != NO_LEADER else None

    def high_watermark(self, partition: TopicPartition, reader: PartitionReader) -> int:
        """Where consumers stop. Brokers that crashed checkpointed theirs up to 5 s before, so it is the log's end."""
        return reader.log_end_offset

    def read(self, partition: TopicPartition, start: int, committed: bool = False) -> Iterator[Batch]:
        """Whole batches from the one that has ``start`` on; committed ones only as far as every transaction ended."""
        reader = self._required(partition)
        high_watermark = self.high_watermark(partition, reader)
        upper_bound = reader.last_stable_offset(high_watermark) if committed else high_watermark
        batches = reader.read(max(start, reader.log_start_offset), upper_bound=upper_bound)
        if not committed:
            return batches
        from kafkapy.backends.committed import without_aborted

        return without_aborted(batches, reader.aborted_transactions(start, upper_bound))

    def salvage(self, partition: TopicPartition, tell: Callable[[str], object]) -> Iterator[Batch]:
        """All good batches of the leader's copy, unless its end is damaged and another is whole."""
        copies = list(self.copies(partition))
        chosen = whole_copy(copies) or copies[0]
        if chosen is not copies[0]:
            tell(f"{copies[0].damage} ({chosen.directory} is read instead)")
        return chosen.salvage(tell)

    def damage(self, partition: TopicPartition) -> str | None:
        """Where and why the log ends before its file does, as it was when it was last read; somebody may have been
        writing just then, so damage is looked at twice."""
        return None if self._just_read(partition).damage is None else self._required(partition).damage

    def loss(self, partition: TopicPartition) -> str | None:
        """The damage that has cost records for certain; looked at twice, too."""
        return None if self._just_read(partition).loss is None else self._required(partition).loss

    def _just_read(self, partition: TopicPartition) -> PartitionReader:
        last = self._last_read
        return last if last is not None and last.partition == partition else self._required(partition)

    def offset(self, partition: TopicPartition, spec: int) -> int | None:
        """An offset by name or time; nothing is tiered in log dirs."""
        reader = self._required(partition)
        if spec == LATEST:
            return self.high_watermark(partition, reader)
        if spec in (EARLIEST, EARLIEST_LOCAL):
            return reader.log_start_offset
        if spec in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return None
        found = reader.max_timestamp_offset() if spec == MAX_TIMESTAMP else reader.offset_for_timestamp(spec)
        return None if found is None else found.offset

    def log_dir_brokers(self) -> list[int]:
        """The brokers whose log dirs are here."""
        return sorted({broker_id for broker_id in self._dirs.broker_ids.values() if broker_id is not None})

    def offsets(self, asked: Iterable[tuple[TopicPartition, int]]) -> Iterator[int | KafkapyError | None]:
        """Many offsets, one after the other: a log is looked at when its turn comes."""
        for partition, spec in asked:
            try:
                yield self.offset(partition, spec)
            except KafkapyError as error:
                yield error
            except OSError as error:
                yield KafkapyError(str(error))

    def config_entries(self, resource_type: int, names: Sequence[str], synonyms: bool = False) -> Entries:
        """Every config of resources, as far as the metadata tells."""
        from kafkapy.metadata.config_entries import config_entries

        return config_entries(self.image(), resource_type, names)

    def config_resources(self, resource_type: int) -> list[str]:
        """The resources of a type; all groups, whether they have configs or not."""
        from kafkapy.metadata.config_entries import config_resources

        names = config_resources(self.image(), resource_type)
        return (
            sorted({*names, *(group.group_id for group in self.groups().list())}) if resource_type == GROUP else names
        )

    def log_dirs(self, brokers: Collection[int] | None = None) -> list[LogDir]:
        """Every log dir, with how far each copy is behind the one that is read."""
        return [
            LogDir(broker_id, path, tuple(self._described(path)))
            for path, broker_id in self._dirs.broker_ids.items()
            if brokers is None or broker_id in brokers
        ]

    def replica_places(self) -> list[tuple[int | None, Replica]]:
        """Every directory of a partition, and whose it is."""
        return [
            (self._dirs.broker_ids[each.log_dir], each)
            for partition, found in self._dirs.replicas.items()
            for each in found
            if str(partition) != DIRECTORY_NAME
        ]

    def _described(self, path: str) -> Iterator[LogDirReplica]:
        for partition, replicas in sorted(self._dirs.replicas.items()):
            if str(partition) == DIRECTORY_NAME:
                continue
            for replica in replicas:
                if replica.log_dir == path:
                    own, read = self._dirs.reader(replica), self.reader(partition)
                    lag = 0 if read is None else max(0, read.log_end_offset - own.log_end_offset)
                    yield LogDirReplica(partition, own.size, lag, replica.is_future)

    def apply(self, *changes: Change) -> None:
        """Never: the directories belong to their brokers."""
        raise self._read_only("changing metadata")

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        """Never."""
        raise self._read_only("producing")

    def new_producer_id(self) -> int:
        """Never."""
        raise self._read_only("producing")

    def append_as_coordinator(self, partition: TopicPartition, batch: bytes, transaction_version: int) -> Appended:
        """Never."""
        raise self._read_only("writing as a coordinator")

    def sync(self, partitions: Iterable[TopicPartition]) -> None:
        """Nothing was written."""

    @property
    def now(self) -> int:
        """The time, in ms, as coordinators ask for it."""
        return int(time.time() * 1000)

    def groups(self) -> GroupCoordinator:
        """The coordinator of all groups; one for as long as the cluster is open."""
        if self._group_coordinator is None:
            from kafkapy.coordinator.group_coordinator import GroupCoordinator

            self._group_coordinator = GroupCoordinator(self)
        return self._group_coordinator

    def transactions(self) -> TransactionCoordinator:
        """The coordinator of all transactional ids; one for as long as the cluster is open."""
        if self._transaction_coordinator is None:
            from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator

            self._transaction_coordinator = TransactionCoordinator(self)
        return self._transaction_coordinator

    @property
    def every_log_dir(self) -> tuple[str, ...]:
        """The log dirs of all nodes, also of those that do not run."""
        return tuple(self._dirs.paths)

    def everywhere(self) -> LogDirsCluster:
        """The same with the log dirs of all nodes."""
        return self

    def administration(self) -> Administration:
        """What the files tell of the cluster as a whole."""
        from kafkapy.backends.file_administration import FileAdministration

        return FileAdministration(self.every_log_dir, self.image, lambda: self._salvaged, lambda: self._unfenced)

    def replica_control(self) -> ReplicaControl:
        """What the files tell of replicas that move."""
        from kafkapy.backends.file_replica_control import FileReplicaControl

        return FileReplicaControl(self)

    def replica_diff(self) -> ReplicaDiff:
        """Who compares the copies in the log dirs."""
        from kafkapy.backends.file_replica_diff import FileReplicaDiff

        return FileReplicaDiff(self)

    def producers(self, partitions: Sequence[TopicPartition], broker_id: int | None = None) -> Producers:
        """The producers that the logs of partitions know: the leader's, or those of one broker."""
        from kafkapy.backends.producer_listing import list_producers

        return list_producers(self, partitions, broker_id)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Never."""
        raise self._read_only("deleting records")

    def delete_records_of(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | KafkapyError]:
        """The same of many partitions, with an error in the place of each that was left alone."""
        results: dict[TopicPartition, int | KafkapyError] = {}
        for partition, before in offsets.items():
            try:
                results[partition] = self.delete_records(partition, before)
            except KafkaError as error:
                results[partition] = error
        return results

    def flush(self) -> None:
        """Nothing was written."""

    def close(self) -> None:
        """Nothing was written. Whoever was shown the metadata is told if it was not all of it."""
        salvaged = self.__dict__.get("_salvaged")  # nobody asked where it was not read
        if salvaged is not None and salvaged.damage is not None:
            damage = salvaged.damage
            reason = f"{damage.reason}; what changed after that is unknown here: kafkapy doctor explains what to do"
            raise DamagedFileError(damage.path, damage.position, reason)

    @staticmethod
    def _read_only(operation: str) -> Unsupported:
        return Unsupported(operation, "--log-dirs", "these directories are only read; use --cluster for one to write")

    def _required(self, partition: TopicPartition) -> PartitionReader:
        reader = self.reader(partition)
        if reader is None:
            raise self.not_here(partition)
        self._last_read = reader
        return reader

    def not_here(self, partition: TopicPartition) -> KafkaError:
        """That no copy of a partition is here, and what was probably meant."""
        error = KafkaError("UnknownTopicOrPartitionException", f"no copy of {partition} is in {self.where}")
        if self.has_metadata:
            error.hint = partition_hint(*partition, self.image().topics)
        return error
