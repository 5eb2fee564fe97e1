"""partitions: what get-offsets, topics --describe and log-dirs say of the same directories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafkapy.errors import UsageError
from kafkapy.tables.scan import Mode, Scan
from tests.commands.running import dirs, run
from tests.tables.internal_logs import scan_of
from tests.tables.logs import rows

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("state", ["clean", "crashed"])
@pytest.mark.parametrize(("column", "time"), [("log_end_offset", "latest"), ("log_start_offset", "earliest")])
def test_what_get_offsets_says(golden: Path, capfd: Capture, state: str, column: str, time: str) -> None:
    lines = run(capfd, "get-offsets", "--log-dirs", dirs(golden, state), "--time", time).lines
    found = rows(scan_of(golden, state), "partitions")
    assert [f"{row['topic']}:{row['partition']}:{row[column]}" for row in found if row["path"]] == lines


def test_what_kafka_said_of_topics_that_did_not_change(golden: Path) -> None:
    printed = (golden / "tools" / "get-offsets-latest.out").read_text().splitlines()
    found = {
        f"{row['topic']}:{row['partition']}:{row['high_watermark']}" for row in rows(scan_of(golden), "partitions")
    }
    assert {line for line in printed if not line.startswith(("__", "orders", "tx"))} <= found


def test_what_topics_describe_says(golden: Path, capfd: Capture) -> None:
    done = run(capfd, "topics", "--describe", "--log-dirs", dirs(golden, "crashed"), "--output", "jsonl")
    told = {(row["topic"], row["partition"]): row for row in done.rows if row["type"] == "partition"}
    found = rows(scan_of(golden, "crashed"), "partitions")
    assert len(found) == len(told)
    for row in found:
        own = told[row["topic"], row["partition"]]
        assert (row["leader"], row["replicas"], row["isr"]) == (own["leader"], own["replicas"], own["isr"])
        assert row["topic_id"] == own["topic_id"]


def test_last_stable_offset_of_an_open_transaction(golden: Path) -> None:
    found = {row["topic"]: row for row in rows(scan_of(golden, "crashed"), "partitions") if row["topic"] == "tx"}
    assert found["tx"]["last_stable_offset"] < found["tx"]["high_watermark"]


def test_a_broker_and_its_copies(golden: Path) -> None:
    scan = scan_of(golden)
    own = rows(scan._replace(broker=2), "partitions")
    assert {Path(row["path"]).parent.name for row in own} == {"broker-2"}
    assert {(row["topic"], row["partition"]) for row in own} == {
        (row["topic"], row["partition"]) for row in rows(scan, "partitions") if 2 in row["replicas"]
    }
    with pytest.raises(UsageError, match="none of the log dirs belongs to broker 9: they belong to 1, 2, 3"):
        rows(scan._replace(broker=9), "partitions")


def test_partitions_without_a_copy_and_without_metadata(golden: Path, tmp_path: Path) -> None:
    one = scan_of(golden)._replace(paths=(str(golden / "clean" / "broker-3"),))
    missing = [row for row in rows(one, "partitions") if row["path"] is None]
    assert missing
    assert all(3 not in row["replicas"] and row["log_end_offset"] is None for row in missing)
    shutil.copytree(golden / "clean" / "broker-3" / "tx-0", tmp_path / "tx-0")
    (row,) = rows(Scan((str(tmp_path),)), "partitions")
    assert (row["topic"], row["leader"], row["replicas"]) == ("tx", None, None)
    assert row["topic_id"] == "HcjftVMVRoGRpt8kKD3u1w"


def test_scan_is_honoured(golden: Path) -> None:
    scan = scan_of(golden)
    some = scan._replace(topics=frozenset(("orders", "__cluster_metadata")), partitions=frozenset((0,)))
    assert [row["topic"] for row in rows(some, "partitions")] == ["__cluster_metadata", "orders"]
    names = rows(scan._replace(columns=("topic",)), "partitions")
    assert [row["topic"] for row in names] == [row["topic"] for row in rows(scan, "partitions")]


def test_damage_that_hides_the_last_stable_offset(golden: Path, tmp_path: Path) -> None:
    shutil.copytree(golden / "damaged" / "negative-size-0", tmp_path / "t-0")
    for snapshot in (tmp_path / "t-0").glob("*.snapshot"):
        snapshot.unlink()
    scan = Scan((str(tmp_path),), mode=Mode.PERMISSIVE)
    kept = rows(scan, "partitions")
    assert [row["damage"] is None for row in kept] == [True, False]
    assert kept[1]["damage_file"].endswith(".log")
    assert rows(scan._replace(mode=Mode.FAILFAST, columns=("topic", "log_end_offset")), "partitions")
