"""The state of a transactional id, and how it may change.

    Empty            a producer has its id and epoch, and no transaction yet
    Ongoing          partitions were added
    PrepareCommit    decided; from here on the transaction can only be committed
    PrepareAbort     decided; from here on it can only be aborted
    CompleteCommit   every partition has its marker
    CompleteAbort

Invariant: a change is a new value whose state may follow the old one (``VALID_PREVIOUS_STATES``), and nothing acts on
it before it is in the log. With transactions version 2 each end of a transaction raises the epoch: the decision and the
markers carry the raised one, so nothing that was sent late can get into the next transaction. When the epochs of a
producer id run out, the id that follows is taken with the decision and used from Complete on.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TIMESTAMP
from kafkapy.log.topic_partition import TopicPartition

MAX_EPOCH = 32767
NO_TIMEOUT_MS = (1 << 31) - 1  # the timeout of two-phase commits, whose end another system decides
LAST_USABLE_EPOCH = MAX_EPOCH - 1  # one is left, so that who has this one can still be fenced
EPOCH_BUMP_VERSION = 2


class TransactionState(IntEnum):
    """The numbers that the log has."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """Kafka's name, e.g. ``CompleteCommit``."""
        return self.name.title().replace("_", "")

    @property
    def is_prepared(self) -> bool:
        """Whether the end is decided, and markers are to be written."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)


_AT_REST = (TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)

VALID_PREVIOUS_STATES: dict[TransactionState, tuple[TransactionState, ...]] = {
    TransactionState.EMPTY: _AT_REST,
    TransactionState.ONGOING: (TransactionState.ONGOING, *_AT_REST),
    TransactionState.PREPARE_COMMIT: (TransactionState.ONGOING,),
    TransactionState.PREPARE_ABORT: (TransactionState.ONGOING, TransactionState.PREPARE_EPOCH_FENCE, *_AT_REST),
    TransactionState.COMPLETE_COMMIT: (TransactionState.PREPARE_COMMIT,),
    TransactionState.COMPLETE_ABORT: (TransactionState.PREPARE_ABORT,),
    TransactionState.DEAD: _AT_REST,
    TransactionState.PREPARE_EPOCH_FENCE: (TransactionState.ONGOING,),
}


class ProducerIdAndEpoch(NamedTuple):
    """Who a producer is."""

    producer_id: int
    epoch: int


class TransactionMetadata(NamedTuple):
    """What is known of a transactional id. Made new, it has no epoch yet: ``increment_epoch`` gives it 0."""

    transactional_id: str
    producer_id: int
    timeout_ms: int
    last_update_timestamp: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_timestamp: int = NO_TIMESTAMP
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    client_transaction_version: int = 0

    @property
    def identity(self) -> ProducerIdAndEpoch:
        """The producer that may go on."""
        return ProducerIdAndEpoch(self.producer_id, self.producer_epoch)

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether no producer may be given another epoch of this producer id."""
        return self.producer_epoch >= LAST_USABLE_EPOCH

    def is_timed_out(self, now: int) -> bool:
        """Whether the coordinator would abort the transaction rather than wait for its producer."""
        return (
            self.state is TransactionState.ONGOING
            and self.timeout_ms != NO_TIMEOUT_MS
            and self.start_timestamp + self.timeout_ms < now
        )

    def is_expired(self, now: int, expiration_ms: int) -> bool:
        """Whether the id was not used for so long that it may be forgotten."""
        return self.state in _AT_REST and self.last_update_timestamp <= now - expiration_ms

    def increment_epoch(self, timeout_ms: int, now: int) -> TransactionMetadata:
        """A producer begins, and fences the one before it."""
        return self._begin(self.producer_id, self.producer_epoch + 1, timeout_ms, now)

    def rotate_producer_id(self, producer_id: int, timeout_ms: int, now: int) -> TransactionMetadata:
        """A producer begins, where the epochs of the old id have run out."""
        return self._begin(producer_id, 0, timeout_ms, now)

    def add_partitions(self, added: Iterable[TopicPartition], now: int, version: int) -> TransactionMetadata:
        """The transaction begins, or grows; ``version`` is that of transactions."""
        begun = self.start_timestamp if self.state is TransactionState.ONGOING else now
        return self._to(TransactionState.ONGOING, now)._replace(
            partitions=self.partitions.union(added), start_timestamp=begun, client_transaction_version=version
        )

    def prepare(self, commit: bool, now: int, version: int, next_producer_id: int) -> TransactionMetadata:
        """How the transaction ends is decided. With version 2 an abort may come where nothing was begun."""
        target = TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT
        bump = 1 if version >= EPOCH_BUMP_VERSION else 0
        return self._to(target, now)._replace(
            producer_epoch=min(self.producer_epoch + bump, MAX_EPOCH),
            start_timestamp=self.start_timestamp if self.state is TransactionState.ONGOING else now,
            next_producer_id=next_producer_id,
            client_transaction_version=version,
        )

    def complete(self, now: int) -> TransactionMetadata:
        """Every partition has its marker."""
        committed = self.state is TransactionState.PREPARE_COMMIT
        target = TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT
        done = self._to(target, now)._replace(partitions=frozenset(), next_producer_id=NO_PRODUCER_ID)
        if self.client_transaction_version < EPOCH_BUMP_VERSION or self.next_producer_id == NO_PRODUCER_ID:
            return done
        return done._replace(producer_id=self.next_producer_id, producer_epoch=0)

    def _begin(self, producer_id: int, epoch: int, timeout_ms: int, now: int) -> TransactionMetadata:
        return self._to(TransactionState.EMPTY, now)._replace(
            producer_id=producer_id,
            producer_epoch=epoch,
            timeout_ms=timeout_ms,
            partitions=frozenset(),
            start_timestamp=NO_TIMESTAMP,
        )

    def _to(self, target: TransactionState, now: int) -> TransactionMetadata:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise KafkaError(
                "IllegalStateException",
                f"Preparing transaction state transition to {target.name} failed since the target state {target.name} "
                f"is not a valid previous state of the current state {self.state.name}",
            )
        # Kafka notes the id before the change with every change, also where it stays the same
        return self._replace(state=target, last_update_timestamp=now, previous_producer_id=self.producer_id)
