"""group_metadata: what Kafka's formatter prints of groups, and classic members opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafkapy.errors import DamagedFileError
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.tables.scan import Mode, Scan
from tests.tables.internal_logs import json_documents, log_dir, milliseconds, scan_of
from tests.tables.logs import rows


def test_what_kafka_prints(golden: Path) -> None:
    printed = [each for each in json_documents(golden, "format-groups") if each["value"] is not None]
    found = rows(scan_of(golden), "group_metadata")
    classic = [row for row in found if row["type"] == "GroupMetadata" and not row["tombstone"]]
    values = [(row["group"], row["version"], json.loads(row["value"])) for row in classic]
    assert printed
    for each in printed:
        assert (each["key"]["data"]["group"], each["value"]["version"], each["value"]["data"]) in values


def test_columns_of_classic_groups(golden: Path) -> None:
    for row in rows(scan_of(golden), "group_metadata"):
        if row["type"] != "GroupMetadata" or row["tombstone"]:
            assert row["members"] is row["protocol"] is row["leader"] is None
            continue
        value = json.loads(row["value"])
        assert row["epoch"] == value["generation"]
        assert (row["protocol_type"], row["protocol"]) == (value["protocolType"], value["protocol"])
        assert row["leader"] == value["leader"]
        assert milliseconds(row["state_timestamp"]) == value["currentStateTimestamp"]
        assert [each["member_id"] for each in row["members"]] == [each["memberId"] for each in value["members"]]


def test_subscriptions_and_assignments_are_opened(golden: Path) -> None:
    members = [
        member
        for row in rows(scan_of(golden), "group_metadata")
        if row["group"] == "audit"
        for member in row["members"] or ()
    ]
    assert members[0]["topics"] == ["orders", "plain"]
    assert {"topic": "plain", "partition": 0} in members[0]["assignment"]


def test_groups_of_the_new_protocols(golden: Path) -> None:
    found = [row for row in rows(scan_of(golden), "group_metadata") if row["group"] == "next-gen"]
    assert {row["type"] for row in found} >= {"ConsumerGroupMetadata", "ConsumerGroupCurrentMemberAssignment"}
    epochs = [row["epoch"] for row in found if row["type"] == "ConsumerGroupMetadata" and not row["tombstone"]]
    assert epochs[0] == 2
    assert all(row["member_id"] for row in found if "Member" in row["type"])


def test_every_record_is_in_one_of_two_tables(golden: Path) -> None:
    for state in ("clean", "crashed"):
        scan = scan_of(golden, state)
        records = rows(scan._replace(topics=frozenset(("__consumer_offsets",))), "records")
        places = [(row["partition"], row["offset"]) for row in records if not row["control"]]
        found = rows(scan, "group_metadata") + rows(scan, "offset_commits")
        assert sorted((row["log_partition"], row["log_offset"]) for row in found) == sorted(places)


def test_partitions_are_those_of_the_log(golden: Path) -> None:
    scan = scan_of(golden)
    found = rows(scan._replace(partitions=frozenset((1,)), topics=frozenset(("nope",))), "group_metadata")
    assert found == [row for row in rows(scan, "group_metadata") if row["log_partition"] == 1]


def test_damage(tmp_path: Path) -> None:
    records = [Record(0, 1, b"\0\2\0\1g", b"\0\3\0"), Record(1, 1, b"\0\2\0\1g", None), Record(2, 1, b"\0\x63", b"")]
    scan = Scan(log_dir(tmp_path, "__consumer_offsets", [encode_batch(records)]))
    with pytest.raises(DamagedFileError, match=r"\.log: damaged at byte 0: the record at offset 0: Could not read"):
        rows(scan, "group_metadata")
    kept = rows(scan._replace(mode=Mode.PERMISSIVE), "group_metadata")
    assert [row["group"] for row in kept] == ["g", None, None]
    assert [row["damage"] is None for row in kept] == [True, False, False]
    assert "unknown record type 99" in kept[2]["damage"]
    assert len(rows(scan._replace(mode=Mode.DROPMALFORMED), "group_metadata")) == 1
