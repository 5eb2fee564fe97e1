"""transactions: what Kafka's formatter prints of transactional ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkapy.coordinator.transaction_state import TransactionState
from kafkapy.errors import DamagedFileError
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.tables.scan import Mode, Scan
from tests.tables.internal_logs import json_documents, log_dir, milliseconds, scan_of
from tests.tables.logs import rows


def as_printed(row: dict[str, Any]) -> dict[str, Any]:
    """What Kafka has of a row."""
    topics: dict[str, list[int]] = {}
    for each in row["partitions"]:
        topics.setdefault(each["topic"], []).append(each["partition"])
    start = milliseconds(row["start_timestamp"])
    return {
        "transactionalId": row["transactional_id"],
        "producerId": row["producer_id"],
        "producerEpoch": row["producer_epoch"],
        "transactionTimeoutMs": row["timeout_ms"],
        "transactionStatus": {each.label: each.value for each in TransactionState}[row["state"]],
        "transactionPartitions": [{"topic": name, "partitionIds": ids} for name, ids in topics.items()],
        "transactionLastUpdateTimestampMs": milliseconds(row["last_update_timestamp"]),
        "transactionStartTimestampMs": -1 if start is None else start,
    }


def test_what_kafka_prints(golden: Path) -> None:
    found = [as_printed(row) for row in rows(scan_of(golden), "transactions") if not row["tombstone"]]
    printed = [each for each in json_documents(golden, "format-transactions") if each["value"] is not None]
    assert printed
    for each in printed:
        value = each["key"]["data"] | each["value"]["data"]
        value["transactionPartitions"] = value["transactionPartitions"] or []
        assert {name: value[name] for name in found[0]} in found


@pytest.mark.parametrize("state", ["clean", "crashed"])
def test_every_record_is_a_row(golden: Path, state: str) -> None:
    scan = scan_of(golden, state)
    records = rows(scan._replace(topics=frozenset(("__transaction_state",))), "records")
    found = rows(scan, "transactions")
    assert [(row["log_partition"], row["log_offset"]) for row in found] == [
        (row["partition"], row["offset"]) for row in records
    ]
    assert [row["tombstone"] for row in found] == [row["value"] is None for row in records]


def test_old_versions(zk_era: Path) -> None:
    found = rows(scan_of(zk_era), "transactions")
    assert found
    assert {row["previous_producer_id"] for row in found} == {None}


def test_damage(tmp_path: Path) -> None:
    records = [Record(0, 1, b"\0\0\0\1x", None), Record(1, 1, b"\0\0\0\1x", b"\0\1\7"), Record(2, 1, None, None)]
    scan = Scan(log_dir(tmp_path, "__transaction_state", [encode_batch(records)]))
    with pytest.raises(DamagedFileError, match="damaged at byte 0: the record at offset 1: "):
        rows(scan, "transactions")
    kept = rows(scan._replace(mode=Mode.PERMISSIVE), "transactions")
    assert [row["transactional_id"] for row in kept] == ["x", None, None]
    assert "without a key" in kept[2]["damage"]
