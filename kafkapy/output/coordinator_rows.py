"""Records of the coordinators' topics as rows: typed fields, and where in the log each record lies.

Of a tombstone there is what its key says, and ``deleted`` is true. Offset commits, classic groups and transactions have
columns of their own; the records of the other groups keep Kafka's names, in one ``value``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kafkapy.coordinator.transaction_state import TransactionState
from kafkapy.errors import SchemaError
from kafkapy.formats import coordinator_record
from kafkapy.formats.coordinator_record import CoordinatorRecord, decode
from kafkapy.formats.message import Value
from kafkapy.formats.message_json import to_json
from kafkapy.formats.message_reader import java_message
from kafkapy.formats.record_batch import Record
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.output.coordinator_formatters import Kind, UnreadableRecordError

Row = dict[str, Any]

COMMIT_FIELDS = {
    "offset": "offset",
    "leader_epoch": "leaderEpoch",
    "metadata": "metadata",
    "commit_timestamp": "commitTimestamp",
    "expire_timestamp": "expireTimestamp",
    "topic_id": "topicId",
}
GROUP_FIELDS = {
    "protocol_type": "protocolType",
    "generation": "generation",
    "protocol": "protocol",
    "leader": "leader",
    "state_timestamp": "currentStateTimestamp",
}
TRANSACTION_FIELDS = {
    "producer_id": "producerId",
    "producer_epoch": "producerEpoch",
    "timeout_ms": "transactionTimeoutMs",
    "start_timestamp": "transactionStartTimestampMs",
    "last_update_timestamp": "transactionLastUpdateTimestampMs",
}


def rows(
    kind: Kind, records: Iterable[Record], partition: int, skipped: Callable[[UnreadableRecordError], object]
) -> Iterator[Row]:
    """The rows of records of one partition; ``skipped`` hears of those that do not decode."""
    for record in records:
        if record.key is None:
            continue
        try:
            decoded = decode(kind.area, record.key, record.value)
            if kind.types is None or coordinator_record.record_type(kind.area, decoded.name) in kind.types:
                yield _row(kind.area, decoded) | {
                    "deleted": record.value is None,
                    "timestamp": record.timestamp,
                    "log_partition": partition,
                    "log_offset": record.offset,
                }
        except SchemaError as error:
            skipped(UnreadableRecordError(record.offset, java_message(error)))


def _row(area: str, record: CoordinatorRecord) -> Row:
    if area == coordinator_record.TRANSACTION:
        return _transaction(record)
    if "topic" in record.key:
        return {"type": "offset_commit", **record.key, **_fields(COMMIT_FIELDS, record.value)}
    if record.name == "GroupMetadata":
        return _classic_group(record)
    return _group_record(area, record)


def _classic_group(record: CoordinatorRecord) -> Row:
    members = None if record.value is None else [member["memberId"] for member in record.value["members"]]
    fields = _fields(GROUP_FIELDS, record.value)
    return {"type": "group_metadata", "group": record.key["group"], **fields, "members": members}


def _group_record(area: str, record: CoordinatorRecord) -> Row:
    value = None
    if record.version is not None and record.value is not None:
        import json

        value = json.loads(to_json(coordinator_record.value_schema(area, record.name), record.version, record.value))
    key = dict(record.key)
    group = key.pop("groupId")
    return {
        "type": "group_record",
        "record": record.name,
        "group": group,
        "part": next(iter(key.values()), None),
        "value": value,
    }


def _transaction(record: CoordinatorRecord) -> Row:
    value, state, partitions = record.value, None, None
    if value is not None:
        number = value["transactionStatus"]
        state = TransactionState(number).label if number in set(TransactionState) else str(number)
        topics = value["transactionPartitions"] or ()
        partitions = [f"{topic['topic']}-{number}" for topic in topics for number in topic["partitionIds"]]
    return {
        "type": "transaction",
        "transactional_id": record.key["transactionalId"],
        "state": state,
        **_fields(TRANSACTION_FIELDS, value),
        "partitions": partitions,
    }


def _fields(names: dict[str, str], value: Value | None) -> Row:
    found = value or {}
    return {name: None if found.get(field) == ZERO_UUID else found.get(field) for name, field in names.items()}
