"""Batches to a cluster, with the numbers that make a producer idempotent.

Each partition counts its own sequence: a batch carries that of its first record, and only a batch that was taken moves
it on. A batch that the topic finds too large is halved until it fits or has one record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Protocol

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.producer_identity import ProducerIdentity
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.backends.producing import OpenBatch
from kafkapy.backends.sealed_batch import Numbers, halves, pack, seal
from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import NO_PRODUCER_ID, NO_SEQUENCE, increment_sequence
from kafkapy.log.topic_partition import TopicPartition

TOO_LARGE = ("RecordTooLargeException", "RecordBatchTooLargeException")

Failed = Callable[[int, KafkaError], object]


class Sender(Protocol):
    """Brings the batches of one producer to one topic."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing that was sent has to be looked after."""
        ...

    @property
    def unsettled(self) -> int:
        """How many records of what was sent are neither acknowledged nor told as failed."""
        ...

    def send(self, partition: int, batch: OpenBatch) -> float:
        """Send a batch, maybe later; how much smaller its codec made it."""
        ...

    def flush(self) -> None:
        """Have everything where the producer's acks ask for it, or told as failed."""
        ...


def missing_topic_line(topic: str) -> str:
    """What Kafka's producer logs when its first request for metadata makes the broker create the topic."""
    return (
        "WARN [Producer clientId=console-producer] The metadata response from the cluster reported a recoverable issue "
        f"with correlation id 1 : {{{topic}=UNKNOWN_TOPIC_OR_PARTITION}}"
    )


class BatchSender:
    """Sends the batches of one producer to one topic; ``failed`` is told of those that were refused."""

    is_settled = True
    unsettled = 0

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        options: ProducerOptions,
        failed: Failed,
        identity: ProducerIdentity,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._options = options
        self._failed = failed
        self._identity = identity
        self._numbered_for = (identity.producer_id, identity.epoch)
        self._sequences: dict[int, int] = defaultdict(int)

    def send(self, partition: int, batch: OpenBatch) -> float:
        """Send a batch; how much smaller its codec made it."""
        packed = pack(batch, self._options)
        self._append(partition, seal(packed, self._numbers(partition)), batch.count)
        return len(packed.records) / batch.size

    def flush(self) -> None:
        """Bring what was appended to disk."""
        self._cluster.flush()

    def _append(self, partition: int, data: bytes, count: int) -> None:
        self._identity.joins(TopicPartition(self._topic, partition))
        try:
            self._cluster.append(TopicPartition(self._topic, partition), data, self._options.acks)
        except KafkaError as error:
            if error.name in TOO_LARGE and count > 1:
                self._append_halves(partition, data)
            else:
                self._failed(count, error)
            return
        self._sequences[partition] = increment_sequence(self._sequences[partition], count)

    def _append_halves(self, partition: int, data: bytes) -> None:
        for half in halves(data, self._options):
            self._append(partition, seal(half, self._numbers(partition)), half.record_count)

    def _numbers(self, partition: int) -> Numbers:
        """The numbers of the next batch; a new epoch counts from 0 again."""
        identity = self._identity
        if (identity.producer_id, identity.epoch) != self._numbered_for:
            self._numbered_for = (identity.producer_id, identity.epoch)
            self._sequences.clear()
        sequence = NO_SEQUENCE if identity.producer_id == NO_PRODUCER_ID else self._sequences[partition]
        return Numbers(identity.producer_id, identity.epoch, sequence, identity.transactional)
