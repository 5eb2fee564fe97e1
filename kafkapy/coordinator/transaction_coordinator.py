"""The transaction coordinator: transactions as a broker's writes them, in a cluster without brokers.

A transaction ends in three steps, each on disk before the next: the decision into ``__transaction_state``, a marker
into every partition, and into ``__transaction_state`` that all have it. The records of the transaction are on disk
before the decision is.

Killed in between, the decision stands or was never made. Where it stands, whoever uses the transactional id next
finishes it first (``recover`` does so for all): the markers are written again, also where they are already, which ends
nothing twice. Where it does not, the transaction is open; the next producer with the id aborts it.

A transaction that is open for longer than its timeout is aborted by ``abort_timed_out``, an id that was not used for
long is forgotten by ``expire``: what a broker does in the background. A marker that goes among the offsets of groups is
told to ``on_offsets_marker``, because whoever keeps the groups may have these offsets loaded.

The version of transactions is the level of the cluster's feature transaction.version, as for a client that knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
from kafkapy.coordinator.end_transaction import check_producer, is_ended_already
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, creation, partition_for
from kafkapy.coordinator.transaction_errors import id_not_found, refusal
from kafkapy.coordinator.transaction_listing import ListFilter, TransactionDescription, compile_id_pattern
from kafkapy.coordinator.transaction_marker import ADMIN_TRANSACTION_VERSION, AbortTransactionSpec, encode_end_marker
from kafkapy.coordinator.transaction_state import (
    EPOCH_BUMP_VERSION,
    MAX_EPOCH,
    ProducerIdAndEpoch,
    TransactionMetadata,
    TransactionState,
)
from kafkapy.coordinator.transaction_state_manager import TransactionStateManager
from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import NO_PRODUCER_ID
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER

DEFAULT_TIMEOUT_MS = 60_000
MAX_TIMEOUT_MS = 15 * 60 * 1000
ADMIN_TIMEOUT_MS = 30_000  # request.timeout.ms of admin clients, which they also give as the timeout of transactions

OffsetsMarker = Callable[[TopicPartition, int, bool], None]
"""Told the partition of a marker, the producer id, and whether the transaction is committed."""
_TOO_FEW_BROKERS = ("LeaderNotAvailableException", "NotEnoughReplicasException", "TimeoutException")


class TransactionCoordinator:
    """The coordinator of every transactional id of a cluster."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster = cluster
        self._states = TransactionStateManager(cluster)
        self.on_offsets_marker: OffsetsMarker | None = None

    @property
    def problems(self) -> list[str]:
        """What was stepped over while states were read so far: the partition, the offset, and why."""
        return self._states.problems

    def transactions(self) -> dict[str, TransactionMetadata]:
        """Every transactional id and its state, as they stand."""
        return self._states.all()

    def list_transactions(self, duration_ms: int = -1, id_pattern: str = "") -> list[TransactionDescription]:
        """The transactional ids that ListFilter accepts, by coordinator and id."""
        wanted = ListFilter(self._cluster.now, duration_ms, compile_id_pattern(id_pattern))
        found = [self._described(state) for state in self._states.all().values() if wanted.accepts(state)]
        return sorted(found, key=lambda each: NO_LEADER if each.coordinator is None else each.coordinator)

    def describe(self, transactional_id: str) -> TransactionDescription:
        """What is known of an id."""
        found = self._states.find(transactional_id)
        if found is None or found.state is TransactionState.DEAD:
            raise id_not_found("DescribeTransactions", transactional_id)
        return self._described(found)

    def of_producers(self, producer_ids: Collection[int]) -> dict[int, TransactionMetadata]:
        """What is known of producers, by their ids."""
        return {state.producer_id: state for state in self._states.all().values() if state.producer_id in producer_ids}

    def ends_by_itself(self, state: TransactionMetadata) -> bool:
        """While a transaction is within its timeout, which of one whose end is decided counts from the decision."""
        if state.state.is_prepared:
            return state.last_update_timestamp + state.timeout_ms >= self._cluster.now
        return not state.is_timed_out(self._cluster.now)

    def timed_out(self, now: int) -> list[TransactionMetadata]:
        """The transactions that are open for longer than their timeout."""
        return [state for state in self._states.all().values() if state.is_timed_out(now)]

    def abort_timed_out(self, now: int | None = None) -> list[str]:
        """Abort those, and fence their producers; the transactional ids."""
        due = self.timed_out(self._cluster.now if now is None else now)
        return [self._end(self._fenced(state), commit=False).transactional_id for state in due]

    def expired(self, now: int) -> list[str]:
        """The ids that were not used for so long that they may be forgotten."""
        from kafkapy.coordinator.broker_config import broker_config

        expiration_ms = broker_config(self._cluster.image(), "transactional.id.expiration.ms")
        return [name for name, state in self._states.all().items() if state.is_expired(now, expiration_ms)]

    def expire(self, now: int | None = None) -> list[str]:
        """Forget those; the transactional ids."""
        due = self.expired(self._cluster.now if now is None else now)
        self._states.forget(due)
        return due

    def recover(self) -> list[str]:
        """Finish what was decided and not finished; the transactional ids. Where too few brokers run for a marker, it
        is left for the next time."""
        finished = []
        for state in self._states.all().values():
            if state.state.is_prepared:
                try:
                    finished.append(self._finish(state).transactional_id)
                except KafkaError as error:
                    if error.name not in _TOO_FEW_BROKERS:
                        raise
        return finished

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

    def add_offsets(self, transactional_id: str, producer_id: int, epoch: int, group_id: str) -> TopicPartition:
        """Let the transaction grow by the partition that has a group's offsets, before any go there; the partition."""
        check_producer(self._required(transactional_id), producer_id, epoch)
        if CONSUMER_OFFSETS not in self._cluster.image().topics:
            self._cluster.apply(creation(CONSUMER_OFFSETS, len(self._cluster.image().brokers)))
        count = len(self._cluster.image().topics[CONSUMER_OFFSETS].partitions)
        partition = TopicPartition(CONSUMER_OFFSETS, partition_for(group_id, count))
        self.add_partitions(transactional_id, producer_id, epoch, [partition])
        return partition

    def end(self, transactional_id: str, producer_id: int, epoch: int, commit: bool) -> ProducerIdAndEpoch:
        """Commit or abort; who the producer is from now on."""
        current = self._required(transactional_id)
        if not is_ended_already(current, producer_id, epoch, commit, self._states.transaction_version):
            current = self._end(current, commit)
        return current.identity

    def force_terminate(self, transactional_id: str) -> ProducerIdAndEpoch:
        """Fence whoever uses an id, and abort what is open. An id that is not known is refused; Kafka would make it."""
        if self._find(transactional_id) is None:
            raise id_not_found("InitProducerId", transactional_id)
        return self.init_producer_id(transactional_id, ADMIN_TIMEOUT_MS)

    def abort(self, spec: AbortTransactionSpec) -> None:
        """Write an abort marker into one partition, whatever the state of a transactional id is."""
        producer = ProducerIdAndEpoch(spec.producer_id, spec.producer_epoch)
        try:
            self._write_marker(spec.partition, producer, False, spec.coordinator_epoch, ADMIN_TRANSACTION_VERSION)
        except KafkaError as error:
            raise spec.refused(error) from None
        self._cluster.sync([spec.partition])

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
        commit, version = prepared.state is TransactionState.PREPARE_COMMIT, prepared.client_transaction_version
        for partition in partitions:
            self._write_marker(partition, prepared.identity, commit, epoch, version)
        self._cluster.sync(partitions)
        return self._states.put(completed)

    def _write_marker(
        self,
        partition: TopicPartition,
        producer: ProducerIdAndEpoch,
        commit: bool,
        coordinator_epoch: int,
        version: int,
    ) -> None:
        marker = encode_end_marker(producer, commit, coordinator_epoch, self._cluster.now)
        self._cluster.append_as_coordinator(partition, marker, version)
        if partition.topic == CONSUMER_OFFSETS and self.on_offsets_marker is not None:
            self.on_offsets_marker(partition, producer.producer_id, commit)

    def _described(self, state: TransactionMetadata) -> TransactionDescription:
        leader = self._states.leader(state.transactional_id)
        return TransactionDescription(None if leader == NO_LEADER else leader, state)

    def _present(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Those that are there: a topic may be deleted while a transaction is open in it."""
        topics = self._cluster.image().topics
        return sorted(p for p in partitions if p.topic in topics and p.partition in topics[p.topic].partitions)
