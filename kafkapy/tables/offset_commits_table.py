"""``offset_commits``: a row for every OffsetCommit record that ``__consumer_offsets`` still holds.

Compaction keeps the newest record of each group, topic and partition, so history reaches back only as far as the
cleaner has not come. A row is what was written, not what is in force: commits of a transaction that is open or was
aborted are rows like all others, unless the scan is of committed records only. ``tombstone`` is an offset that expired
or was deleted, of which there is no more than the key.

Of a scan, topics and partitions are those that were committed for; offsets are those of the commit records in their
log (``log_offset``), and timestamps those of the records (``timestamp``), not what is in them. ``broker`` is whose copy
of ``__consumer_offsets`` is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_and_metadata import NO_LEADER_EPOCH
from kafkapy.coordinator.offset_records import decode_value
from kafkapy.errors import SchemaError
from kafkapy.formats.record_batch import NO_PRODUCER_ID
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.tables.arrow_rows import TIMESTAMP, timestamps
from kafkapy.tables.commit_keys import DAMAGED, CommitKeys
from kafkapy.tables.commit_values import value_columns
from kafkapy.tables.internal_topic import InternalTopicTable, LogRecords
from kafkapy.tables.scan import Scan
from kafkapy.tables.table import Split, Table

_NONE = {"leader_epoch": NO_LEADER_EPOCH, "topic_id": ZERO_UUID, "producer_id": NO_PRODUCER_ID}


class OffsetCommitsTable(InternalTopicTable):
    """The table."""

    name = "offset_commits"
    topic = CONSUMER_OFFSETS
    schema = pa.schema(
        [
            ("group", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("committed_offset", pa.int64()),
            ("leader_epoch", pa.int32()),
            ("metadata", pa.string()),
            ("commit_timestamp", TIMESTAMP),
            ("expire_timestamp", TIMESTAMP),
            ("topic_id", pa.string()),
            ("producer_id", pa.int64()),
            ("tombstone", pa.bool_()),
            ("timestamp", TIMESTAMP),
            ("log_partition", pa.int32()),
            ("log_offset", pa.int64()),
        ]
    )

    def splits(self, scan: Scan) -> list[Split]:
        """Parts of ``__consumer_offsets``: any of them may have commits for any partition."""
        return super().splits(scan._replace(partitions=None))

    def columns(self, records: LogRecords, scan: Scan, wanted: Sequence[str]) -> tuple[int, Mapping[str, Any]]:
        """The commits that are for the topics and partitions of the scan."""
        records = records.only(pc.invert(records.batch["control"]))
        keys = CommitKeys(scan.topics, scan.partitions)
        numbers = keys.numbers(records.batch["key"])
        for row in pc.indices_nonzero(pc.equal(numbers, DAMAGED)).to_pylist():
            records.damaged(row, keys.reason(records.batch["key"][row].as_py()))
        is_commit = pc.greater_equal(numbers, 0)
        records, numbers = records.only(is_commit), numbers.filter(is_commit)
        try:
            values = value_columns(records.batch["value"], wanted)
        except SchemaError:
            is_good = _is_good(records)
            records, numbers = records.only(is_good), numbers.filter(is_good)
            values = value_columns(records.batch["value"], wanted)
        found = values | {"producer_id": records.batch["producer_id"]}
        shown = {name: _without_none(name, column) for name, column in found.items()}
        return records.size, shown | keys.columns(numbers) | records.places()


def _is_good(records: LogRecords) -> pa.Array:
    """Which values decode; the others are told."""
    found = []
    for row, value in enumerate(records.batch["value"].to_pylist()):
        try:
            if value is not None:
                decode_value(value)
            found.append(True)
        except SchemaError as error:
            records.damaged(row, str(error))
            found.append(False)
    return pa.array(found, pa.bool_())


def _without_none(name: str, column: pa.Array) -> pa.Array:
    """The column, null where Kafka has its word for none."""
    if name.endswith("timestamp"):
        return timestamps(column)
    return pc.if_else(pc.equal(column, _NONE[name]), None, column) if name in _NONE else column


TABLE: Table = OffsetCommitsTable()
