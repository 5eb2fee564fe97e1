"""``metadata_records``: a row for every record of the KRaft metadata log, ``__cluster_metadata-0``.

``type`` is Kafka's name of a record (TOPIC_RECORD), ``record`` its fields as Kafka's JSON. The records of the quorum
itself (LEADER_CHANGE, KRAFT_VERSION, KRAFT_VOTERS, SNAPSHOT_HEADER, SNAPSHOT_FOOTER) are ``control``. What a snapshot
has taken the place of is gone from the log, and is no row.

Of a scan, offsets and timestamps are those of the records; ``broker`` is whose log is read, by default the one that
reaches farthest. Topics and partitions mean nothing here: what a record is about stands in ``record``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafkapy.backends.log_dirs import METADATA_TOPIC
from kafkapy.formats import metadata_record
from kafkapy.formats.control_record import ControlRecordType, decode_kraft, decode_type_id, describe
from kafkapy.formats.message_json import to_json
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.tables.arrow_rows import TIMESTAMP
from kafkapy.tables.internal_topic import InternalTopicTable, LogRecords
from kafkapy.tables.opening import chosen_logs, open_paths
from kafkapy.tables.scan import Scan
from kafkapy.tables.segment_parts import log_parts
from kafkapy.tables.shared_splits import shared_splits
from kafkapy.tables.table import Split, Table

PARTITION = TopicPartition(METADATA_TOPIC, 0)


class MetadataRecordsTable(InternalTopicTable):
    """The table."""

    name = "metadata_records"
    topic = METADATA_TOPIC
    schema = pa.schema(
        [
            ("offset", pa.int64()),
            ("timestamp", TIMESTAMP),
            ("epoch", pa.int32()),
            ("type", pa.string()),
            ("version", pa.int16()),
            ("record", pa.string()),
            ("control", pa.bool_()),
        ]
    )

    def splits(self, scan: Scan) -> list[Split]:
        """Parts of the log, which is found without a look at what it says: it may be damaged."""
        cluster = open_paths(scan.paths)
        wanted = scan._replace(topics=frozenset((METADATA_TOPIC,)), partitions=None, committed=False)
        log = cluster.dirs.best_reader(PARTITION, None)
        if scan.broker is not None:
            log = next(chosen_logs(cluster, wanted), None)
        parts = () if log is None else log_parts(cluster, log, wanted)
        return shared_splits(
            (Split(METADATA_TOPIC, PARTITION.partition, part.end - part.start, part) for part in parts), scan
        )

    def columns(self, records: LogRecords, scan: Scan, wanted: Sequence[str]) -> tuple[int, Mapping[str, Any]]:
        """A row for each record."""
        records, rows = records.decoded(_row)
        batch = records.batch
        own = {name: [row.get(name) for row in rows] for name in wanted}
        log = {"offset": batch["offset"], "timestamp": batch["timestamp"], "epoch": batch["leader_epoch"]}
        return records.size, own | log | {"control": batch["control"]}


def _row(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """Records of metadata have no key, those of the quorum have one."""
    if key is not None:
        return _control(key, value)
    record = metadata_record.decode(value)
    schema = metadata_record.record_schema(record.name)
    return {
        "type": metadata_record.type_name(record.name),
        "version": record.version,
        "record": to_json(schema, record.version, record.value),
    }


def _control(key: bytes, value: bytes | None) -> dict[str, Any]:
    kind = ControlRecordType(decode_type_id(key))
    if kind is ControlRecordType.UNKNOWN:
        return {"type": f"{kind.name}({decode_type_id(key)})"}
    version = decode_kraft(kind, value or b"")["version"]
    return {"type": kind.name, "version": version, "record": describe(key, value).partition(" ")[2]}


TABLE: Table = MetadataRecordsTable()
