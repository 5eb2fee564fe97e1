"""TransactionsCommand's tables, and the rows that say the same.

Times and durations are in ms, but Duration(min), which is cut to whole minutes. A coordinator that is not known,
because its partition has no leader, is ``none``: a running cluster would not list the transaction at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafkapy.backends.hanging_transactions import OpenTransaction
from kafkapy.backends.producers import ActiveProducer
from kafkapy.coordinator.transaction_listing import TransactionDescription
from kafkapy.output.padded_table import table_lines

LIST_COLUMNS = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
DESCRIBE_COLUMNS = (
    *("CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs"),
    *("CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions"),
)
PRODUCER_COLUMNS = (
    *("ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp"),
    "CurrentTransactionStartOffset",
)
HANGING_COLUMNS = (
    *("Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp"),
    "Duration(min)",
)
MS_IN_A_MINUTE = 60_000

Row = dict[str, Any]
Pairs = list[tuple[str, Row | None]]


def list_table(found: Iterable[TransactionDescription]) -> Pairs:
    """``list``."""
    rows: list[Row] = [
        {
            "type": "transaction",
            "transactional_id": each.metadata.transactional_id,
            "coordinator": each.coordinator,
            "producer_id": each.metadata.producer_id,
            "state": each.metadata.state.label,
        }
        for each in found
    ]
    cells = [(r["transactional_id"], _or("none", r["coordinator"]), str(r["producer_id"]), r["state"]) for r in rows]
    return _table(LIST_COLUMNS, cells, rows)


def describe_table(found: TransactionDescription, now: int) -> Pairs:
    """``describe``."""
    state = found.metadata
    begun = state.start_timestamp >= 0
    row: Row = {
        "type": "transaction",
        "coordinator": found.coordinator,
        "transactional_id": state.transactional_id,
        "producer_id": state.producer_id,
        "producer_epoch": state.producer_epoch,
        "state": state.state.label,
        "timeout_ms": state.timeout_ms,
        "start_timestamp": state.start_timestamp if begun else None,
        "duration_ms": now - state.start_timestamp if begun else None,
        "partitions": [str(partition) for partition in sorted(state.partitions)],
    }
    cells = (
        _or("none", found.coordinator),
        *(str(row[name]) for name in ("transactional_id", "producer_id", "producer_epoch", "state", "timeout_ms")),
        *(_or("None", row[name]) for name in ("start_timestamp", "duration_ms")),
        ",".join(row["partitions"]),
    )
    return _table(DESCRIBE_COLUMNS, [cells], [row])


def producer_table(producers: Iterable[ActiveProducer]) -> Pairs:
    """``describe-producers``."""
    found = list(producers)
    cells = [(*map(str, each[:-1]), _or("None", each.current_txn_start_offset)) for each in found]
    return _table(PRODUCER_COLUMNS, cells, [{"type": "producer", **each._asdict()} for each in found])


def hanging_table(found: Iterable[OpenTransaction], now: int) -> Pairs:
    """``find-hanging``."""
    rows: list[Row] = [
        {
            "type": "hanging_transaction",
            "topic": partition.topic,
            "partition": partition.partition,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.producer_epoch,
            "coordinator_epoch": producer.coordinator_epoch,
            "start_offset": producer.current_txn_start_offset,
            "last_timestamp": producer.last_timestamp,
            "duration_min": (now - producer.last_timestamp) // MS_IN_A_MINUTE,
        }
        for partition, producer, _ in found
    ]
    return _table(HANGING_COLUMNS, [tuple(map(str, list(row.values())[1:])) for row in rows], rows)


def _table(columns: tuple[str, ...], cells: Sequence[tuple[str, ...]], rows: list[Row]) -> Pairs:
    return list(zip(table_lines([columns, *cells]), [None, *rows], strict=True))


def _or(absent: str, value: object) -> str:
    return absent if value is None else str(value)
