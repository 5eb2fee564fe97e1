"""The records of ``__transaction_state``: the key is a transactional id, the newest value its state.

A value has version 0 with transactions version 0, else 1, which adds the producer ids before and after and the version
that the client spoke. Partitions are null while the state is Empty. A null value forgets the id.

What does not decode, because it is damaged or a newer Kafka wrote it, is told and stepped over: the state before it
holds. A broker only steps over what is newer, and loads nothing behind damage. Whoever reads the batches has checked
their checksums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkapy.coordinator.log_copies import Folded, Read
from kafkapy.coordinator.transaction_state import TransactionMetadata, TransactionState
from kafkapy.errors import FormatError, SchemaError
from kafkapy.formats.coordinator_record import TRANSACTION, CoordinatorRecord, decode, encode_record
from kafkapy.formats.message import Value
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition

RECORD_NAME = "TransactionLog"

States = dict[str, TransactionMetadata]


def encode_state(metadata: TransactionMetadata, transaction_version: int) -> bytes:
    """A batch with the one record that makes ``metadata`` the state."""
    version = min(transaction_version, 1)
    key = {"transactionalId": metadata.transactional_id}
    record = CoordinatorRecord(RECORD_NAME, key, version, _value(metadata, version))
    return encode_batch([Record(0, metadata.last_update_timestamp, *encode_record(TRANSACTION, record))])


def encode_tombstones(transactional_ids: Iterable[str], now: int) -> bytes:
    """A batch that forgets ids."""
    gone = (CoordinatorRecord(RECORD_NAME, {"transactionalId": each}) for each in transactional_ids)
    return encode_batch(
        [Record(number, now, *encode_record(TRANSACTION, record)) for number, record in enumerate(gone)]
    )


def fold(partition: TopicPartition, read: Read) -> Folded[States]:
    """The state of every transactional id of a partition, and what was stepped over: where, and why.

    Only the newest record of each id is decoded, unless one of these does not: then all are, to find the one before it.
    """
    problems: list[str] = []
    states: States = {}
    newest = {record.key: record for record in _records(partition, read, problems)}
    try:
        for record in newest.values():
            _replay(states, record)
        return Folded(states, problems)
    except SchemaError:
        problems.clear()
        states.clear()
    for record in _records(partition, read, problems):
        try:
            _replay(states, record)
        except SchemaError as error:
            problems.append(_problem(partition, record.offset, error))
    return Folded(states, problems)


def _records(partition: TopicPartition, read: Read, problems: list[str]) -> Iterator[Record]:
    for batch in read():
        try:
            yield from batch_records(batch)
        except FormatError as error:
            problems.append(_problem(partition, batch.header.base_offset, error))


def _problem(partition: TopicPartition, offset: int, reason: object) -> str:
    return f"{partition} at offset {offset}: {reason}"


def _replay(states: States, record: Record) -> None:
    if record.key is None:
        raise SchemaError("Transaction state log's key should not be null")
    decoded = decode(TRANSACTION, record.key, record.value)
    transactional_id = decoded.key["transactionalId"]
    if decoded.value is None:
        states.pop(transactional_id, None)
    else:
        states[transactional_id] = _metadata(transactional_id, decoded.value)


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
