"""``group_metadata``: a row for every record of ``__consumer_offsets`` that is about a group and not about an offset.

A classic group is one record (``GroupMetadata``) with all of its members; groups of the newer protocols are many, of
which ``type`` says what each is about and ``member_id`` about whom. ``epoch`` is the generation of a classic group, and
of the others the epoch that the record sets. ``value`` is all of a record as Kafka's JSON, in which bytes are base64;
``members`` has those of classic groups opened. A tombstone says that a group, or a part of it, is gone.

Of a scan, partitions, offsets and timestamps are those of the records in their log (``log_partition``, ``log_offset``,
``timestamp``), and ``broker`` is whose copy is read; topics mean nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.coordinator.consumer_protocol import PROTOCOL_TYPE, decode_assignment, decode_topics
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_records import TYPES
from kafkapy.errors import SchemaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode, value_schema
from kafkapy.formats.message import Value
from kafkapy.formats.message_json import to_json
from kafkapy.tables.arrow_rows import TIMESTAMP
from kafkapy.tables.internal_topic import InternalTopicTable, LogRecords
from kafkapy.tables.scan import Scan
from kafkapy.tables.table import Table

PARTITION = pa.struct([("topic", pa.string()), ("partition", pa.int32())])
MEMBER = pa.struct(
    [
        ("member_id", pa.string()),
        ("group_instance_id", pa.string()),
        ("client_id", pa.string()),
        ("client_host", pa.string()),
        ("rebalance_timeout_ms", pa.int32()),
        ("session_timeout_ms", pa.int32()),
        ("topics", pa.list_(pa.string())),
        ("assignment", pa.list_(PARTITION)),
    ]
)
EPOCHS = ("generation", "epoch", "assignmentEpoch", "memberEpoch")
CLASSIC_GROUP = "GroupMetadata"


class GroupMetadataTable(InternalTopicTable):
    """The table."""

    name = "group_metadata"
    topic = CONSUMER_OFFSETS
    schema = pa.schema(
        [
            ("group", pa.string()),
            ("type", pa.string()),
            ("version", pa.int16()),
            ("member_id", pa.string()),
            ("epoch", pa.int32()),
            ("protocol_type", pa.string()),
            ("protocol", pa.string()),
            ("leader", pa.string()),
            ("state_timestamp", TIMESTAMP),
            ("members", pa.list_(MEMBER)),
            ("value", pa.string()),
            ("tombstone", pa.bool_()),
            ("timestamp", TIMESTAMP),
            ("log_partition", pa.int32()),
            ("log_offset", pa.int64()),
        ]
    )

    def columns(self, records: LogRecords, scan: Scan, wanted: Sequence[str]) -> tuple[int, Mapping[str, Any]]:
        """The records of groups among others, most of which are commits."""
        kinds = pc.binary_slice(records.batch["key"], 0, 2)
        is_commit = pc.fill_null(
            pc.is_in(kinds, pa.array(TYPES, pa.binary())), True
        )  # one without a key is damage there
        records = records.only(pc.invert(pc.or_(records.batch["control"], is_commit)))
        records, found = records.decoded(_decode)
        rows = [_row(record) for record in found]
        own = {name: [row.get(name) for row in rows] for name in wanted}
        return records.size, own | records.places()


def _decode(key: bytes | None, value: bytes | None) -> CoordinatorRecord:
    return decode(GROUP, key or b"", value)


def _row(record: CoordinatorRecord) -> dict[str, Any]:
    key, value = record.key, record.value
    row = {"group": key.get("group", key.get("groupId")), "type": record.name, "member_id": key.get("memberId")}
    if value is None or record.version is None:
        return row
    row |= {
        "version": record.version,
        "epoch": next((value[name] for name in EPOCHS if name in value), None),
        "value": to_json(value_schema(GROUP, record.name), record.version, value),
    }
    return row | _classic(value) if record.name == CLASSIC_GROUP else row


def _classic(value: Value) -> dict[str, Any]:
    is_consumer = value["protocolType"] == PROTOCOL_TYPE
    return {
        "protocol_type": value["protocolType"],
        "protocol": value["protocol"],
        "leader": value["leader"],
        "state_timestamp": value["currentStateTimestamp"],
        "members": [_member(member, is_consumer) for member in value["members"]],
    }


def _member(member: Value, is_consumer: bool) -> dict[str, Any]:
    return {
        "member_id": member["memberId"],
        "group_instance_id": member["groupInstanceId"],
        "client_id": member["clientId"],
        "client_host": member["clientHost"],
        "rebalance_timeout_ms": member["rebalanceTimeout"],
        "session_timeout_ms": member["sessionTimeout"],
        "topics": _topics(member["subscription"]) if is_consumer else None,
        "assignment": _assignment(member["assignment"]) if is_consumer else None,
    }


def _topics(data: bytes) -> list[str] | None:
    """What a member subscribes to; None for bytes that are not a consumer's, which are the client's own affair."""
    try:
        return list(decode_topics(data))
    except SchemaError:
        return None


def _assignment(data: bytes) -> list[dict[str, Any]] | None:
    try:
        return [partition._asdict() for partition in decode_assignment(data)]
    except SchemaError:
        return None


TABLE: Table = GroupMetadataTable()
