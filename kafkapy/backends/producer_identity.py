"""Who a producer is: the id and epoch in its batches, and whether they belong to a transaction.

A plain producer may have no id at all; an idempotent one has an id and epoch 0 for as long as it lives. A transactional
one gets both from the coordinator, which gives a higher epoch at the end of every transaction, and must be told of each
partition before the first batch of a transaction goes there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.coordinator.transactions import Transactions


class ProducerIdentity(Protocol):
    """What a batch sender asks before each batch."""

    @property
    def producer_id(self) -> int:
        """The id, -1 for none."""
        ...

    @property
    def epoch(self) -> int:
        """The epoch, -1 for none."""
        ...

    @property
    def transactional(self) -> bool:
        """Whether batches belong to a transaction."""
        ...

    @property
    def transactional_id(self) -> str | None:
        """The id under which it is a transactional producer."""
        ...

    def renew(self, producer_id: int) -> None:
        """Go on under another id."""
        ...

    def joins(self, partition: TopicPartition) -> None:
        """A batch is about to go to a partition."""
        ...


class PlainIdentity:
    """A producer outside transactions."""

    transactional = False
    transactional_id = None

    def __init__(self, producer_id: int = NO_PRODUCER_ID) -> None:
        self.renew(producer_id)

    def renew(self, producer_id: int) -> None:
        """Go on under another id."""
        self.producer_id = producer_id
        self.epoch = NO_PRODUCER_EPOCH if producer_id == NO_PRODUCER_ID else 0

    def joins(self, partition: TopicPartition) -> None:
        """Nobody needs to know."""


class TransactionalIdentity:
    """A producer whose batches belong to the transaction that is open."""

    transactional = True

    def __init__(self, coordinator: Transactions, transactional_id: str, timeout_ms: int) -> None:
        """The coordinator aborts a transaction that is open for longer than ``timeout_ms``."""
        self._coordinator = coordinator
        self.transactional_id = transactional_id
        self.producer_id, self.epoch = coordinator.init_producer_id(transactional_id, timeout_ms)
        self._partitions: set[TopicPartition] = set()

    def renew(self, producer_id: int) -> None:
        """Only the coordinator gives ids."""
        raise KafkaError("OutOfOrderSequenceException", "The broker received an out of order sequence number.")

    def joins(self, partition: TopicPartition) -> None:
        """Tell the coordinator of a partition that is new in this transaction."""
        if partition not in self._partitions:
            self._coordinator.add_partitions(self.transactional_id, self.producer_id, self.epoch, [partition])
            self._partitions.add(partition)

    def end(self, commit: bool) -> None:
        """End the transaction, if anything was sent in it; the next batch opens another."""
        if self._partitions:
            self._partitions.clear()
            ended = self._coordinator.end(self.transactional_id, self.producer_id, self.epoch, commit)
            self.producer_id, self.epoch = ended
