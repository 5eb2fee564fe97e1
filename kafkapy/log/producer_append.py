"""Whether a producer may append a batch, in Kafka's words where it may not.

A batch of a producer id must have the current epoch or a newer one, and the next sequence number; a new epoch starts
at 0. A marker ends the open transaction. Since transactions version 2 the marker's epoch is one above that of the
data; one that comes again after the transaction ended is let through. What is replicated from a leader was checked
there, so it is never refused.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import MAX_INT, NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, increment_sequence
from kafkapy.log.batch import read_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.log.topic_partition import TopicPartition

NO_OFFSET = -1
BATCHES_KEPT = 5
LAST_EPOCH = 32767
TV_UNKNOWN = -1  # what Kafka prints for data, whose version it does not look at


class Origin(Enum):
    """Who appends."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class KnownBatch(NamedTuple):
    """A batch of a producer."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        """Sequences wrap from 2^31 - 1 to 0."""
        return (self.last_sequence - self.offset_delta) % (MAX_INT + 1)

    @property
    def first_offset(self) -> int:
        """Where it begins."""
        return self.last_offset - self.offset_delta


class CompletedTxn(NamedTuple):
    """A transaction that a marker at ``last_offset`` ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class ProducerEntry(NamedTuple):
    """One producer's state; ``batches`` are the last five, oldest first."""

    producer_epoch: int = NO_PRODUCER_EPOCH
    batches: tuple[KnownBatch, ...] = ()
    last_timestamp: int = NO_TIMESTAMP
    coordinator_epoch: int = -1
    current_txn_first_offset: int = NO_OFFSET

    @property
    def has_open_txn(self) -> bool:
        """Whether a marker is awaited."""
        return self.current_txn_first_offset != NO_OFFSET

    @property
    def last_sequence(self) -> int:
        """Of the last batch, NO_SEQUENCE where none is known."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def is_expired(self, now: int, expiration_ms: int) -> bool:
        """Whether the producer may be forgotten."""
        return not self.has_open_txn and now - self.last_timestamp >= expiration_ms

    def find_duplicate(self, header: BatchHeader) -> KnownBatch | None:
        """The known batch with the sequence numbers of ``header``."""
        if header.producer_epoch != self.producer_epoch:
            return None
        last_sequence = header.last_sequence
        for batch in self.batches:
            if batch.last_sequence == last_sequence and batch.first_sequence == header.base_sequence:
                return batch
        return None


class ProducerAppend:
    """A producer's state while batches are checked: ``entry`` is what it will be."""

    def __init__(
        self,
        partition: TopicPartition,
        producer_id: int,
        current: ProducerEntry | None,
        origin: Origin,
        transaction_version: int,
    ) -> None:
        self._partition = partition
        self.producer_id = producer_id
        self._current = current or ProducerEntry()
        self._origin = origin
        self._transaction_version = transaction_version
        self.entry = self._current
        self.started_txns: list[int] = []
        self.completed_txns: list[CompletedTxn] = []

    def append(self, header: BatchHeader, data: Callable[[], bytes]) -> None:
        """Check a batch and take it into ``entry``; ``data`` gives its bytes, where it is a marker."""
        if not header.is_control:
            self._append_data(header)
            return
        # compaction leaves a marker without a record when nothing of its transaction is left
        record = next(iter(read_records(header, data())), None)
        if record is not None:
            self._append_marker(header, record.key, record.value or b"", record.timestamp)

    def _append_data(self, header: BatchHeader) -> None:
        offset = header.base_offset
        self._check_epoch(header.producer_epoch, offset, TV_UNKNOWN)
        if self._origin is Origin.CLIENT:
            self._check_sequence(header)
        entry = self.entry
        last_sequence = increment_sequence(header.base_sequence, header.last_offset_delta)
        known = KnownBatch(
            last_sequence, offset + header.last_offset_delta, header.last_offset_delta, header.max_timestamp
        )
        kept = entry.batches[1 - BATCHES_KEPT :] if entry.producer_epoch == header.producer_epoch else ()
        first_offset = entry.current_txn_first_offset
        if entry.has_open_txn and not header.is_transactional:
            raise KafkaError(
                "InvalidTxnStateException",
                f"Expected transactional write from producer {self.producer_id} at "
                f"offset (offset={offset}, segment=[-1:-1]) in partition {self._partition}",
            )
        if not entry.has_open_txn and header.is_transactional:
            first_offset = offset
            self.started_txns.append(offset)
        self.entry = ProducerEntry(
            header.producer_epoch, (*kept, known), header.max_timestamp, entry.coordinator_epoch, first_offset
        )

    def _append_marker(self, header: BatchHeader, key: bytes | None, value: bytes, timestamp: int) -> None:
        from kafkapy.formats.control_record import ControlRecordType, decode_marker, decode_type_id

        marker = decode_marker(ControlRecordType(decode_type_id(key)), value)
        offset, entry = header.base_offset, self.entry
        self._check_epoch(header.producer_epoch, offset, self._transaction_version)
        self._check_coordinator_epoch(marker.coordinator_epoch, offset)
        if entry.has_open_txn:
            aborted = marker.type is ControlRecordType.ABORT
            self.completed_txns.append(CompletedTxn(self.producer_id, entry.current_txn_first_offset, offset, aborted))
        batches = entry.batches if entry.producer_epoch == header.producer_epoch else ()
        self.entry = ProducerEntry(header.producer_epoch, batches, timestamp, marker.coordinator_epoch)

    def _check_epoch(self, epoch: int, offset: int, version: int) -> None:
        current = self.entry.producer_epoch
        if self._origin is Origin.REPLICATION or not (epoch <= current if version >= 2 else epoch < current):
            return
        if version >= 2 and epoch == current and (not self.entry.has_open_txn or epoch == LAST_EPOCH):
            return  # the marker of a transaction that has ended, written again
        raise KafkaError(
            "InvalidProducerEpochException",
            f"Epoch of producer {self.producer_id} at offset {offset} in {self._partition} is {epoch}, "
            f"which is {'<=' if version >= 2 else '<'} the last seen epoch {current} (TV{version})",
        )

    def _check_coordinator_epoch(self, epoch: int, offset: int) -> None:
        current = self.entry.coordinator_epoch
        if current > epoch and self._origin is not Origin.REPLICATION:
            raise KafkaError(
                "TransactionCoordinatorFencedException",
                f"Invalid coordinator epoch for producerId {self.producer_id} at offset {offset} in partition "
                f"{self._partition}: {epoch} (zombie), {current} (current)",
            )

    def _check_sequence(self, header: BatchHeader) -> None:
        first, entry = header.base_sequence, self.entry
        if header.is_transactional and self._transaction_version >= 2 and not entry.has_open_txn:
            self._check_first_of_txn(header)
        if header.producer_epoch != entry.producer_epoch:
            if first != 0 and entry.producer_epoch != NO_PRODUCER_EPOCH:
                raise KafkaError(
                    "OutOfOrderSequenceException",
                    f"Invalid sequence number for new epoch of producer {self.producer_id}at offset "
                    f"{header.base_offset} in partition {self._partition}: {header.producer_epoch} (request epoch), "
                    f"{first} (seq. number), {entry.producer_epoch} (current producer epoch)",
                )
        elif self._current.producer_epoch != NO_PRODUCER_EPOCH and first != (entry.last_sequence + 1) % (MAX_INT + 1):
            raise KafkaError(
                "OutOfOrderSequenceException",
                f"Out of order sequence number for producer {self.producer_id} at offset {header.base_offset} in "
                f"partition {self._partition}: {first} (incoming seq. number), {entry.last_sequence} "
                "(current end sequence number)",
            )

    def _check_first_of_txn(self, header: BatchHeader) -> None:
        if header.base_sequence != 0 and not self._current.batches:
            raise KafkaError(
                "OutOfOrderSequenceException",
                f"Invalid sequence number for producer {self.producer_id} at offset {header.base_offset} in partition "
                f"{self._partition}: {header.base_sequence} (incoming seq. number). Expected sequence 0 for "
                "transactions v2 idempotent producer with no existing state.",
            )
