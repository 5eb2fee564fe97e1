"""``kafkapy export`` on what real brokers left, and on a cluster directory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests.commands.running import Done, dirs, run
from tests.group_cluster import made

Capture = pytest.CaptureFixture[str]


def export(capfd: Capture, *args: str | Path) -> Done:
    return run(capfd, "export", *args)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(made(tmp_path_factory.mktemp("export") / "cluster"))


def test_each_partition_once_of_three_copies(capfd: Capture, golden: Path, tmp_path: Path) -> None:
    """As many rows as Kafka's own tool counts offsets in a topic that was never compacted."""
    out = tmp_path / "out"
    done = export(capfd, "--log-dirs", dirs(golden), "--topic", "orders", "--to", "parquet", "--out", out)
    assert (done.code, done.out) == (0, "")
    ends = run(capfd, "get-offsets", "--log-dirs", dirs(golden), "--topic", "orders").lines
    total = sum(int(line.rpartition(":")[2]) for line in ends)
    assert done.err.startswith(f"exported {total} rows in ")
    assert ds.dataset(out, format="parquet").count_rows() == total


def test_internal_topics_are_left_out(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    done = export(capfd, "--cluster", directory, "--exclude-internal", "--to", "json", "--out", tmp_path, "--dry-run")
    assert done.lines == [
        "TOPIC                            PARTITION  FROM-OFFSET  TO-OFFSET  OFFSETS",
        "a.topic.with-a-rather-long_name  0          0            2          2",
        "orders                           0          0            10         10",
        "orders                           1          0            5          5",
        "trimmed                          0          6            10         4",
    ]
    assert list(tmp_path.iterdir()) == []
    everything = export(capfd, "--cluster", directory, "--to", "json", "--out", tmp_path, "--dry-run")
    assert any(line.startswith("__consumer_offsets") for line in everything.lines)


def test_a_dry_run_has_rows(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    """--columns stays what it is for the files: a dry run is the same command line with an option more."""
    args = ("--cluster", directory, "--topic", "orders", "--to", "json", "--columns", "offset", "--out", tmp_path / "o")
    rows = export(capfd, *args, "--dry-run", "--output", "jsonl", "--sort-by", "offsets").rows
    assert rows == [
        {
            "type": "planned_export",
            "table": "records",
            "is_whole": False,
            "topic": "orders",
            "partition": partition,
            "from_offset": 0,
            "to_offset": end,
            "offsets": end,
        }
        for partition, end in ((1, 5), (0, 10))
    ]
    (done,) = export(capfd, *args, "--output", "jsonl").rows
    assert (done["type"], done["rows"], done["files"], done["out"]) == ("export", 15, 2, str(tmp_path / "o"))
    header = "type,table,is_whole,topic,partition,from_offset,to_offset,offsets"
    assert export(capfd, *args, "--dry-run", "--output", "csv").lines == [header]
    refused = export(capfd, *args, "--dry-run", "--output", "csv", "--sort-by", "offset")
    assert (refused.code, refused.out) == (2, "")
    assert "no column 'offset'; did you mean 'offsets'?" in refused.err


def test_a_table_that_is_exported_whole(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    args = ("--cluster", directory, "--table", "partitions", "--to", "json", "--out", tmp_path / "out", "--dry-run")
    assert export(capfd, *args).lines == ["the table partitions is exported whole, in the place of what is there"]
    (row,) = export(capfd, *args, "--output", "jsonl").rows
    assert (row["table"], row["is_whole"], row["topic"], row["offsets"]) == ("partitions", True, None, None)


def test_nothing_is_new(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    args = "--cluster", directory, "--topic", "orders", "--to", "csv", "--out", tmp_path / "out"
    assert export(capfd, *args).err.startswith("exported 15 rows in 2 files of ")
    assert export(capfd, *args, "--dry-run").lines == ["nothing is new"]
    assert export(capfd, *args).err == f"nothing is new: no file was added to {tmp_path / 'out'}\n"


def test_a_running_cluster_is_refused(capfd: Capture, tmp_path: Path) -> None:
    done = export(capfd, "--bootstrap-server", "localhost:9092", "--to", "json", "--out", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "export reads files, not a running cluster: give --log-dirs" in done.err


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--to", "text", "--columns", "offset"], "--columns: not with --to text"),
        (["--to", "text", "--partition-by", "topic"], "--partition-by: not with --to text"),
        (["--to", "json", "--partition-by", "day"], "--partition-by day: it can be topic, partition, date"),
        (
            ["--to", "json", "--columns", "ofset"],
            "the table records has no column ofset; did you mean 'offset'? It has topic,",
        ),
        (["--to", "json", "--columns", "topic", "--partition-by", "topic"], "no column is left for the files"),
        (["--to", "json", "--table", "records2"], "there is no table 'records2'"),
        (["--to", "avro", "--compression", "lz4"], "--compression lz4: avro files can be gzip, snappy, none"),
        (["--to", "json", "--decode-value", "xml"], "--decode-value xml: it can be string, json,"),
        (["--to", "json", "--table", "batches", "--decode-key", "json"], "are for the table records"),
        (["--to", "json", "--from-time", "5", "--to-time", "4"], "--from-time is after --to-time"),
        (["--to", "json", "--table", "partitions", "--to-time", "4"], "--to-time: not with the table partitions"),
        (["--to", "json", "--table", "partitions", "--replace-recreated"], "--replace-recreated: not with the table"),
        (["--to", "json", "--table", "partitions", "--topic", "ordres"], "there is no topic 'ordres'"),
        (["--to", "json", "--output", "json", "--sort-by", "rowz"], "--sort-by: no column 'rowz'"),
        (["--to", "json", "--topic", "odrers"], "there is no topic 'odrers' in "),
        (["--to", "json", "--master", "local[2]"], "--master only works on Spark: give --engine spark too"),
    ],
)
def test_what_is_refused(capfd: Capture, directory: Path, tmp_path: Path, args: list[str], error: str) -> None:
    done = export(capfd, "--cluster", directory, "--out", tmp_path / "out", *args)
    assert done.code in (1, 2)
    assert error in done.err
    assert "Traceback" not in done.err


def test_damage_by_mode(capfd: Capture, sample: Path, tmp_path: Path) -> None:
    """failfast names file and byte and writes nothing; permissive keeps a row for what is lost."""
    broken = tmp_path / "logs" / "orders-0"
    shutil.copytree(sample, broken)
    log = broken / "00000000000000000000.log"
    data = bytearray(log.read_bytes())
    data[100] ^= 0xFF
    log.write_bytes(data)
    args = "--log-dirs", broken.parent, "--to", "json", "--columns", "offset"
    failed = export(capfd, *args, "--out", tmp_path / "failfast")
    assert failed.code == 1
    assert f"{log}: damaged at byte 0" in failed.err
    assert list((tmp_path / "failfast").glob("part-*")) == []
    assert export(capfd, *args, "--out", tmp_path / "drop", "--mode", "dropmalformed").code == 0
    kept = [*args[:-1], "offset,damage_position"]
    assert export(capfd, *kept, "--out", tmp_path / "keep", "--mode", "permissive").code == 0
    rows = {
        name: [json.loads(line) for path in (tmp_path / name).glob("part-*") for line in path.read_text().splitlines()]
        for name in ("drop", "keep")
    }
    assert [row["damage_position"] for row in rows["keep"] if row["offset"] is None] == [0]
    assert [row["offset"] for row in rows["keep"] if row["offset"] is not None] == [
        row["offset"] for row in rows["drop"]
    ]
    assert rows["drop"]


def test_aborted_transactions_are_left_out(capfd: Capture, golden: Path, tmp_path: Path) -> None:
    """The values that are left are those that console-consumer prints with the same isolation."""
    args = "--log-dirs", dirs(golden), "--topic", "tx"
    done = export(capfd, *args, "--to", "json", "--out", tmp_path / "out", "--isolation", "read_committed",
                  "--decode-value", "string", "--columns", "value,control")  # fmt: skip
    assert done.code == 0
    rows = [json.loads(line) for path in (tmp_path / "out").glob("part-*") for line in path.read_text().splitlines()]
    consumed = run(capfd, "console-consumer", *args, "--from-beginning", "--isolation-level", "read_committed",
                   "--timeout-ms", "0").lines  # fmt: skip
    assert sorted(row["value"] for row in rows if not row["control"]) == sorted(consumed)
    assert consumed
