"""The records of ``__transaction_state``: the key is a transactional id, the newest value its state.

A value has version 0 with transactions version 0, else 1, which adds the producer ids before and after and the version
that the client spoke. Partitions are null while the state is Empty. A null value forgets the id.

Folding steps over records that a newer Kafka wrote, as a broker does when it loads them; a state that no version knows
is damage.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.coordinator.transaction_state import TransactionMetadata, TransactionState
from kafkapy.errors import SchemaError
from kafkapy.formats.coordinator_record import (
    TRANSACTION,
    CoordinatorRecord,
    UnknownRecordTypeError,
    UnknownRecordVersionError,
    decode,
    encode_record,
)
from kafkapy.formats.message import Value
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition

RECORD_NAME = "TransactionLog"


def encode_state(metadata: TransactionMetadata, transaction_version: int) -> bytes:
    """A batch with the one record that makes ``metadata`` the state."""
    version = min(transaction_version, 1)
    key = {"transactionalId": metadata.transactional_id}
    record = CoordinatorRecord(RECORD_NAME, key, version, _value(metadata, version))
    return encode_batch([Record(0, metadata.last_update_timestamp, *encode_record(TRANSACTION, record))])


def fold(batches: Iterable[Batch]) -> dict[str, TransactionMetadata]:
    """The state of every transactional id after ``batches``."""
    states: dict[str, TransactionMetadata] = {}
    for batch in batches:
        for record in batch.records():
            if record.key is None:
                raise SchemaError(f"Transaction state log's key should not be null (offset {record.offset})")
            try:
                decoded = decode(TRANSACTION, record.key, record.value)
            except (UnknownRecordTypeError, UnknownRecordVersionError):
                continue
            transactional_id = decoded.key["transactionalId"]
            if decoded.value is None:
                states.pop(transactional_id, None)
            else:
                states[transactional_id] = _metadata(transactional_id, decoded.value)
    return states


def _value(metadata: TransactionMetadata, version: int) -> Value:
    value = {
        "producerId": metadata.producer_id,
        "producerEpoch": metadata.producer_epoch,
        "transactionTimeoutMs": metadata.timeout_ms,
        "transactionStatus": int(metadata.state),
        "transactionPartitions": None if metadata.state is TransactionState.EMPTY else _by_topic(metadata.partitions),
        "transactionLastUpdateTimestampMs": metadata.last_update_timestamp,
        "transactionStartTimestampMs": metadata.start_timestamp,
    }
    if version >= 1:
        value["previousProducerId"] = metadata.previous_producer_id
        value["nextProducerId"] = metadata.next_producer_id
        value["clientTransactionVersion"] = metadata.client_transaction_version
    return value


def _by_topic(partitions: Iterable[TopicPartition]) -> list[Value]:
    numbers: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        numbers.setdefault(topic, []).append(partition)
    return [{"topic": topic, "partitionIds": found} for topic, found in numbers.items()]


def _metadata(transactional_id: str, value: Value) -> TransactionMetadata:
    try:
        state = TransactionState(value["transactionStatus"])
    except ValueError:
        raise SchemaError(
            f"Unknown transaction state id {value['transactionStatus']} from the transaction status message"
        ) from None
    partitions = () if state is TransactionState.EMPTY else value["transactionPartitions"] or ()
    return TransactionMetadata(
        transactional_id,
        value["producerId"],
        value["transactionTimeoutMs"],
        value["transactionLastUpdateTimestampMs"],
        value["producerEpoch"],
        state,
        frozenset(TopicPartition(each["topic"], number) for each in partitions for number in each["partitionIds"]),
        value["transactionStartTimestampMs"],
        value["previousProducerId"],
        value["nextProducerId"],
        value["clientTransactionVersion"],
    )
