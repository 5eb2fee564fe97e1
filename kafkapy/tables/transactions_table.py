"""``transactions``: a row for every record of ``__transaction_state``, the states that transactional ids went through.

The newest record of an id is its state; compaction erases those before it by and by. A tombstone forgets the id.
``partitions`` are those that the transaction has written to, and are empty when it is over.

Of a scan, partitions, offsets and timestamps are those of the records in their log (``log_partition``, ``log_offset``,
``timestamp``), and ``broker`` is whose copy is read; topics mean nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.coordinator.internal_topics import TRANSACTION_STATE
from kafkapy.coordinator.transaction_state import TransactionState
from kafkapy.errors import SchemaError
from kafkapy.formats.coordinator_record import TRANSACTION, CoordinatorRecord, decode
from kafkapy.formats.record_batch import NO_PRODUCER_ID
from kafkapy.tables.arrow_rows import TIMESTAMP
from kafkapy.tables.group_metadata_table import PARTITION
from kafkapy.tables.internal_topic import InternalTopicTable, LogRecords
from kafkapy.tables.scan import Scan
from kafkapy.tables.table import Table


class TransactionsTable(InternalTopicTable):
    """The table."""

    name = "transactions"
    topic = TRANSACTION_STATE
    schema = pa.schema(
        [
            ("transactional_id", pa.string()),
            ("producer_id", pa.int64()),
            ("producer_epoch", pa.int16()),
            ("previous_producer_id", pa.int64()),
            ("next_producer_id", pa.int64()),
            ("timeout_ms", pa.int32()),
            ("state", pa.string()),
            ("partitions", pa.list_(PARTITION)),
            ("start_timestamp", TIMESTAMP),
            ("last_update_timestamp", TIMESTAMP),
            ("client_transaction_version", pa.int16()),
            ("tombstone", pa.bool_()),
            ("timestamp", TIMESTAMP),
            ("log_partition", pa.int32()),
            ("log_offset", pa.int64()),
        ]
    )

    def columns(self, records: LogRecords, scan: Scan, wanted: Sequence[str]) -> tuple[int, Mapping[str, Any]]:
        """The states."""
        records, rows = records.only(pc.invert(records.batch["control"])).decoded(_row)
        own = {name: [row.get(name) for row in rows] for name in wanted}
        return records.size, own | records.places()


def _row(key: bytes | None, data: bytes | None) -> dict[str, Any]:
    if key is None:
        raise SchemaError("a record without a key")
    record: CoordinatorRecord = decode(TRANSACTION, key, data)
    value = record.value
    row = {"transactional_id": record.key["transactionalId"]}
    if value is None:
        return row
    number = value["transactionStatus"]
    return row | {
        "producer_id": value["producerId"],
        "producer_epoch": value["producerEpoch"],
        "previous_producer_id": _producer_id(value["previousProducerId"]),
        "next_producer_id": _producer_id(value["nextProducerId"]),
        "timeout_ms": value["transactionTimeoutMs"],
        "state": TransactionState(number).label if number in set(TransactionState) else str(number),
        "partitions": [
            {"topic": topic["topic"], "partition": partition}
            for topic in value["transactionPartitions"] or ()
            for partition in topic["partitionIds"]
        ],
        "start_timestamp": value["transactionStartTimestampMs"],
        "last_update_timestamp": value["transactionLastUpdateTimestampMs"],
        "client_transaction_version": value["clientTransactionVersion"],
    }


def _producer_id(given: int) -> int | None:
    return None if given == NO_PRODUCER_ID else given


TABLE: Table = TransactionsTable()
