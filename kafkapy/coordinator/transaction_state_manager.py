"""The state of every transactional id of a cluster, kept in ``__transaction_state``.

A transactional id belongs to one partition, found by its hash. A partition is read when one of its ids is first asked
for, and from then on is known by what was written: a cluster has one writer, and that one coordinator.

Invariant: what ``put`` returned for is on disk, so whatever is done because of a state finds that state again.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE, creation, partition_for
from kafkapy.coordinator.log_copies import fold_copies
from kafkapy.coordinator.transaction_log import encode_state, encode_tombstones, fold
from kafkapy.coordinator.transaction_state import TransactionMetadata
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.features import TRANSACTION_VERSION
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

TOMBSTONES_IN_A_BATCH = 1000


class TransactionStateManager:
    """Finds and writes states; ``problems`` tells what could not be read so far."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster = cluster
        self._loaded: dict[int, dict[str, TransactionMetadata]] = {}
        self.problems: list[str] = []

    @property
    def transaction_version(self) -> int:
        """The cluster's level of the feature transaction.version."""
        return self._cluster.image().features.get(TRANSACTION_VERSION, 0)

    def find(self, transactional_id: str) -> TransactionMetadata | None:
        """The state of an id; None for one that is not known."""
        count = len(self._partitions)
        return self._states(partition_for(transactional_id, count)).get(transactional_id) if count else None

    def all(self) -> dict[str, TransactionMetadata]:
        """Every id, sorted."""
        found = {}
        for partition in self._partitions:
            found.update(self._states(partition))
        return dict(sorted(found.items()))

    def put(self, metadata: TransactionMetadata) -> TransactionMetadata:
        """Make ``metadata`` the state of its id; the topic is made with the first."""
        if not self._partitions:
            self._cluster.apply(creation(TRANSACTION_STATE, len(self._cluster.image().brokers)))
            self._loaded = {partition: {} for partition in self._partitions}
        partition = self._partition(metadata.transactional_id)
        states = self._states(partition.partition)
        batch = encode_state(metadata, self.transaction_version)
        self._cluster.append_as_coordinator(partition, batch, self.transaction_version)
        self._cluster.sync([partition])
        states[metadata.transactional_id] = metadata
        return metadata

    def forget(self, transactional_ids: Iterable[str]) -> None:
        """Write a tombstone for each id."""
        by_partition: dict[TopicPartition, list[str]] = {}
        for transactional_id in transactional_ids:
            by_partition.setdefault(self._partition(transactional_id), []).append(transactional_id)
        for partition, gone in by_partition.items():
            for start in range(0, len(gone), TOMBSTONES_IN_A_BATCH):
                batch = encode_tombstones(gone[start : start + TOMBSTONES_IN_A_BATCH], self._cluster.now)
                self._cluster.append_as_coordinator(partition, batch, self.transaction_version)
            self._cluster.sync([partition])
            for transactional_id in gone:
                del self._states(partition.partition)[transactional_id]

    def leader(self, transactional_id: str) -> int:
        """The broker that coordinates an id; NO_LEADER where none does."""
        registration = self._partitions.get(self._partition(transactional_id).partition)
        return NO_LEADER if registration is None else registration.leader

    def coordinator_epoch(self, transactional_id: str) -> int:
        """The leader epoch of the partition that an id belongs to, by which markers of old coordinators are known."""
        return self._partitions[self._partition(transactional_id).partition].leader_epoch

    @property
    def _partitions(self) -> dict[int, PartitionRegistration]:
        topic = self._cluster.image().topics.get(TRANSACTION_STATE)
        return {} if topic is None else dict(topic.partitions)

    def _partition(self, transactional_id: str) -> TopicPartition:
        return TopicPartition(TRANSACTION_STATE, partition_for(transactional_id, len(self._partitions)))

    def _states(self, partition: int) -> dict[str, TransactionMetadata]:
        if partition not in self._loaded:
            where = TopicPartition(TRANSACTION_STATE, partition)
            self._loaded[partition], problems = fold_copies(self._cluster, where, lambda read: fold(where, read))
            self.problems += problems
        return self._loaded[partition]
