"""Transaction markers: the control batch, of one record, that ends a transaction in a partition.

A coordinator writes one into every partition of a transaction whose end is decided. An administrator may write one that
aborts (WriteTxnMarkers), into a partition in which a transaction hangs that no coordinator will end; it carries the
epoch of the transaction's own records, and is checked as those of transactions version 0 are.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.errors import KafkaError
from kafkapy.formats.control_record import ControlRecordType, EndTransactionMarker, encode_key, encode_marker
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.topic_partition import TopicPartition

ADMIN_TRANSACTION_VERSION = 0

_REFUSED = {
    "InvalidProducerEpochException": "failed due an invalid producer epoch",
    "TransactionCoordinatorFencedException": "failed since the provided coordinator epoch {epoch} has been fenced by "
    "the active coordinator",
}


class AbortTransactionSpec(NamedTuple):
    """What an administrator wants aborted."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    def __str__(self) -> str:
        return (
            f"AbortTransactionSpec(topicPartition={self.partition}, producerId={self.producer_id}, "
            f"producerEpoch={self.producer_epoch}, coordinatorEpoch={self.coordinator_epoch})"
        )

    def refused(self, error: KafkaError) -> KafkaError:
        """The partition's error in the words of Kafka's admin client."""
        reason = _REFUSED.get(error.name, f"failed due to unexpected error: {error}")
        reason = reason.replace("{epoch}", str(self.coordinator_epoch))
        return KafkaError(error.name, f"WriteTxnMarkers request with {self} {reason}")


def encode_end_marker(producer: ProducerIdAndEpoch, commit: bool, coordinator_epoch: int, now: int) -> bytes:
    """The batch that ends the open transaction of a producer."""
    kind = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
    value = encode_marker(EndTransactionMarker(kind, coordinator_epoch))
    options = BatchOptions(
        transactional=True, control=True, producer_id=producer.producer_id, producer_epoch=producer.epoch
    )
    return encode_batch([Record(0, now, encode_key(kind), value)], options)
