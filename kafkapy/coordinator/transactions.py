"""What commands ask about transactions, whoever keeps them.

``TransactionCoordinator`` keeps those of files; those of a running cluster are kept by its brokers, who are asked
(backends/live/live_transactions.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from kafkapy.coordinator.transaction_listing import TransactionDescription
from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
from kafkapy.coordinator.transaction_state import TransactionMetadata
from kafkapy.log.topic_partition import TopicPartition

ProducerIdentity = tuple[int, int]
"""A producer's id and epoch."""


class Transactions(Protocol):
    """The transactions of a cluster."""

    @property
    def problems(self) -> list[str]:
        """What was stepped over while states were read so far."""
        ...

    def list_transactions(self, duration_ms: int = -1, id_pattern: str = "") -> list[TransactionDescription]:
        """The transactional ids, by coordinator and id: those that run for longer, and whose ids match."""
        ...

    def describe(self, transactional_id: str) -> TransactionDescription:
        """What is known of an id; an error where it is not known."""
        ...

    def of_producers(self, producer_ids: Collection[int]) -> Mapping[int, TransactionMetadata]:
        """What coordinators know of producers, by their ids; of those that they know."""
        ...

    def ends_by_itself(self, state: TransactionMetadata) -> bool:
        """Whether a coordinator is going to end a transaction that it knows."""
        ...

    def init_producer_id(self, transactional_id: str, timeout_ms: int = ...) -> ProducerIdentity:
        """Begin as the one producer of a transactional id."""
        ...

    def add_partitions(
        self, transactional_id: str, producer_id: int, epoch: int, partitions: Iterable[TopicPartition]
    ) -> None:
        """Begin a transaction or let it grow, before the first batch goes to a partition."""
        ...

    def end(self, transactional_id: str, producer_id: int, epoch: int, commit: bool) -> ProducerIdentity:
        """Commit or abort; who the producer is from now on."""
        ...

    def abort(self, spec: AbortTransactionSpec) -> None:
        """Write an abort marker into one partition, whatever the state of a transactional id is."""
        ...

    def force_terminate(self, transactional_id: str) -> object:
        """Fence whoever uses an id, and abort what is open. An id that is not known is refused; Kafka would make it."""
        ...
