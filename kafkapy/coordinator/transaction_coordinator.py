"""The transaction coordinator: transactions as a broker's writes them, in a cluster without brokers.

A transaction ends in three steps, each on disk before the next: the decision into ``__transaction_state``, a marker
into every partition, and into ``__transaction_state`` that all have it. The records of the transaction are on disk
before the decision is.

Killed in between, the decision stands or was never made. Where it stands, whoever uses the transactional id next
finishes it first (``recover`` does so for all): the markers are written again, also where they are already, which ends
nothing twice. Where it does not, the transaction is open; the next producer with the id aborts it.

The version of transactions is the level of the cluster's feature transaction.version, as for a client that knows it.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
from kafkapy.coordinator.end_transaction import check_producer, is_ended_already
from kafkapy.coordinator.transaction_errors import refusal
from kafkapy.coordinator.transaction_marker import encode_end_marker
from kafkapy.coordinator.transaction_state import (
    EPOCH_BUMP_VERSION,
    MAX_EPOCH,
    ProducerIdAndEpoch,
    TransactionMetadata,
    TransactionState,
)
from kafkapy.coordinator.transaction_state_manager import TransactionStateManager
from kafkapy.formats.record_batch import NO_PRODUCER_ID
from kafkapy.log.topic_partition import TopicPartition

DEFAULT_TIMEOUT_MS = 60_000
MAX_TIMEOUT_MS = 15 * 60 * 1000


class TransactionCoordinator:
    """The coordinator of every transactional id of a cluster."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster = cluster
        self._states = TransactionStateManager(cluster)

    def transactions(self) -> dict[str, TransactionMetadata]:
        """Every transactional id and its state, as they stand."""
        return self._states.all()

    def recover(self) -> list[str]:
        """Finish what was decided and not finished; the transactional ids."""
        found = [state for state in self._states.all().values() if state.state.is_prepared]
        return [self._finish(state).transactional_id for state in found]

    def init_producer_id(self, transactional_id: str, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> ProducerIdAndEpoch:
        """Begin as the one producer of a transactional id: those before are fenced, and what they left open aborted."""
        if not transactional_id:
            raise refusal("InvalidRequestException")
        if not 0 < timeout_ms <= MAX_TIMEOUT_MS:
            raise refusal("InvalidTxnTimeoutException")
        current = self._find(transactional_id)
        if current is not None and current.state is TransactionState.ONGOING:
            current = self._end(self._fenced(current), commit=False)
        now = self._cluster.now
        if current is None:
            current = TransactionMetadata(transactional_id, self._cluster.new_producer_id(), timeout_ms, now)
        if current.is_epoch_exhausted:
            begun = current.rotate_producer_id(self._cluster.new_producer_id(), timeout_ms, now)
        else:
            begun = current.increment_epoch(timeout_ms, now)
        return self._states.put(begun).identity

    def add_partitions(
        self, transactional_id: str, producer_id: int, epoch: int, partitions: Iterable[TopicPartition]
    ) -> None:
        """Begin a transaction or let it grow, before the first batch goes to a partition."""
        added = frozenset(partitions)
        current = self._required(transactional_id)
        check_producer(current, producer_id, epoch)
        if self._present(added) != sorted(added):
            raise refusal("UnknownTopicOrPartitionException")
        if current.state is not TransactionState.ONGOING or not added <= current.partitions:
            self._states.put(current.add_partitions(added, self._cluster.now, self._client_version))

    def end(self, transactional_id: str, producer_id: int, epoch: int, commit: bool) -> ProducerIdAndEpoch:
        """Commit or abort; who the producer is from now on."""
        current = self._required(transactional_id)
        if not is_ended_already(current, producer_id, epoch, commit, self._states.transaction_version):
            current = self._end(current, commit)
        return current.identity

    @property
    def _client_version(self) -> int:
        """Clients speak version 2 or, in records, 0."""
        version = self._states.transaction_version
        return version if version >= EPOCH_BUMP_VERSION else 0

    def _find(self, transactional_id: str) -> TransactionMetadata | None:
        found = self._states.find(transactional_id)
        return self._finish(found) if found is not None and found.state.is_prepared else found

    def _required(self, transactional_id: str) -> TransactionMetadata:
        found = self._find(transactional_id)
        if found is None:
            raise refusal("InvalidPidMappingException")
        return found

    def _fenced(self, current: TransactionMetadata) -> TransactionMetadata:
        """Before version 2 an abort does not raise the epoch, so fencing has to."""
        if self._client_version >= EPOCH_BUMP_VERSION:
            return current
        return current._replace(producer_epoch=min(current.producer_epoch + 1, MAX_EPOCH))

    def _end(self, current: TransactionMetadata, commit: bool) -> TransactionMetadata:
        version, next_producer_id = self._client_version, NO_PRODUCER_ID
        if version >= EPOCH_BUMP_VERSION and current.is_epoch_exhausted:
            next_producer_id = self._cluster.new_producer_id()
        self._cluster.sync(self._present(current.partitions))
        return self._finish(self._states.put(current.prepare(commit, self._cluster.now, version, next_producer_id)))

    def _finish(self, prepared: TransactionMetadata) -> TransactionMetadata:
        completed = prepared.complete(self._cluster.now)
        partitions = self._present(prepared.partitions)
        epoch = self._states.coordinator_epoch(prepared.transactional_id)
        for partition in partitions:
            marker = encode_end_marker(prepared, epoch, self._cluster.now)
            self._cluster.append_as_coordinator(partition, marker, prepared.client_transaction_version)
        self._cluster.sync(partitions)
        return self._states.put(completed)

    def _present(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Those that are there: a topic may be deleted while a transaction is open in it."""
        topics = self._cluster.image().topics
        return sorted(p for p in partitions if p.topic in topics and p.partition in topics[p.topic].partitions)
