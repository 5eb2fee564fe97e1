"""All groups and offsets of a cluster, kept in ``__consumer_offsets``.

A group belongs to one partition, found by its hash. A partition is read when one of its groups is first asked for, and
from then on is known by what was written: a cluster has one writer, and that one coordinator.

What cannot be read of a partition is a problem, told with the file and the byte; where another copy has it all, that
one is read (see ``log_copies``).

Invariant: what ``append`` returned for is on disk. The records of one call are one batch, so after a crash all of them
are there or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.coordinator.group_log import GroupLog, Offsets, load
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, creation, partition_for
from kafkapy.coordinator.log_copies import Folded, Read, fold_copies
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import NO_PRODUCER_ID, BatchOptions, Record, encode_batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.features import TRANSACTION_VERSION

if TYPE_CHECKING:
    from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
    from kafkapy.coordinator.group import Group
    from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
    from kafkapy.metadata.topics_image import PartitionRegistration


class GroupStore:
    """Finds and writes groups and offsets. ``problems`` tells what could not be read, as far as partitions were asked
    for."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster = cluster
        self._loaded: dict[int, GroupLog] = {}
        self.problems: list[str] = []

    def group(self, group_id: str) -> Group | None:
        """A group; None for one that is not known. One that only committed offsets is a classic one without a type."""
        return self._log_of(group_id).groups.get(group_id) if self._partitions else None

    def groups(self) -> dict[str, Group]:
        """Every group, sorted by id."""
        found: dict[str, Group | None] = {}
        for number in self._partitions:
            groups = self._log(number).groups
            found.update((group_id, groups.get(group_id)) for group_id in groups.ids())
        return {group_id: group for group_id, group in sorted(found.items()) if group is not None}

    def offsets(self, group_id: str) -> Offsets:
        """What a group has committed, sorted by partition; what open transactions hold is not in it."""
        return dict(self._log_of(group_id).offsets(group_id)) if self._partitions else {}

    def pending_offsets(self, group_id: str) -> dict[int, Offsets]:
        """What a group has committed in open transactions, by producer id."""
        return self._log_of(group_id).pending_offsets(group_id) if self._partitions else {}

    def partition(self, group_id: str) -> TopicPartition:
        """Where a group is kept."""
        partitions = self._partitions
        if not partitions:
            raise KafkaError("UnknownTopicOrPartitionException", f"there is no topic {CONSUMER_OFFSETS}")
        # without metadata only those partitions are known that have a directory
        return TopicPartition(CONSUMER_OFFSETS, partition_for(group_id, max(partitions) + 1))

    def append(
        self, group_id: str, records: Sequence[CoordinatorRecord], producer: ProducerIdAndEpoch | None = None
    ) -> None:
        """Write records of a group; the topic is made with the first. Those of a producer wait for its marker."""
        if not records:
            return
        if not self._partitions:
            self._cluster.apply(creation(CONSUMER_OFFSETS, len(self._cluster.image().brokers)))
        partition = self.partition(group_id)
        log = self._log(partition.partition)
        pairs = [encode_record(GROUP, record) for record in records]
        version = self._cluster.image().features.get(TRANSACTION_VERSION, 0)
        self._cluster.append_as_coordinator(partition, self._batch(pairs, producer), version)
        self._cluster.sync([partition])
        for key, value in pairs:
            log.replay_record(key, value, NO_PRODUCER_ID if producer is None else producer.producer_id)

    def end_transaction(self, partition: TopicPartition, producer_id: int, commit: bool) -> None:
        """A marker was written into a partition of ``__consumer_offsets``."""
        if partition.topic == CONSUMER_OFFSETS and partition.partition in self._loaded:
            self._loaded[partition.partition].end_transaction(producer_id, commit)

    def _batch(self, pairs: Iterable[tuple[bytes, bytes | None]], producer: ProducerIdAndEpoch | None) -> bytes:
        now = self._cluster.now
        records = (Record(number, now, key, value) for number, (key, value) in enumerate(pairs))
        # Kafka's coordinators number the records of every batch from 0, also where no producer is named
        options = BatchOptions(base_sequence=0)
        if producer is not None:
            options = options._replace(
                transactional=True, producer_id=producer.producer_id, producer_epoch=producer.epoch
            )
        return encode_batch(records, options)

    @property
    def _partitions(self) -> Mapping[int, PartitionRegistration]:
        topic = self._cluster.image().topics.get(CONSUMER_OFFSETS)
        return {} if topic is None else topic.partitions

    def _log_of(self, group_id: str) -> GroupLog:
        return self._log(self.partition(group_id).partition)

    def _log(self, number: int) -> GroupLog:
        if number not in self._loaded:
            partition = TopicPartition(CONSUMER_OFFSETS, number)
            self._loaded[number], problems = fold_copies(self._cluster, partition, lambda read: _fold(partition, read))
            self.problems += problems
        return self._loaded[number]


def _fold(partition: TopicPartition, read: Read) -> Folded[GroupLog]:
    log = load(read)
    return Folded(log, [f"{partition}{problem}" for problem in log.problems])
