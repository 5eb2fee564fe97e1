"""``kafkapy throughput`` on what real brokers left, and on a cluster directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import Done, dirs, run
from tests.group_cluster import T0, damage_last_topic, made

Capture = pytest.CaptureFixture[str]


def throughput(capfd: Capture, *args: str | Path) -> Done:
    return run(capfd, "throughput", *args)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(made(tmp_path_factory.mktemp("throughput") / "cluster"))


def test_records_and_bytes_are_those_of_the_summary(capfd: Capture, golden: Path) -> None:
    """Partition by partition, as ``dump-log --summary`` counts them."""
    done = throughput(capfd, "--log-dirs", dirs(golden), "--by", "partition", "--output", "jsonl")
    assert (done.code, done.err) == (0, "")
    found = {(row["topic"], row["partition"]): row for row in done.rows}
    for name, (topic, partition) in (("orders-2", ("orders", 2)), ("rolled-0", ("rolled", 0)), ("tx-0", ("tx", 0))):
        places = sorted((golden / "clean").glob(f"broker-*/{name}/*.log"))
        own = [path for path in places if path.parent == places[0].parent]
        files = ",".join(map(str, own))
        summaries = run(capfd, "dump-log", "--files", files, "--summary", "--output", "jsonl").rows
        row = found[topic, partition]
        for column in ("records", "batches", "bytes"):
            assert row[column] == sum(summary[column] for summary in summaries)


def test_damaged_metadata_hides_no_other_problem(capfd: Capture, tmp_path: Path) -> None:
    damage_last_topic(Path(made(tmp_path / "cluster")))
    done = throughput(capfd, "--cluster", tmp_path / "cluster", "--topic", "orders", "--topic", "nothing-like-it")
    assert done.code == 1
    assert "orders" in done.out
    strange, damage = done.err.splitlines()
    assert "there is no topic 'nothing-like-it'" in strange
    assert "damaged at byte " in damage


def test_lines(capfd: Capture, directory: Path) -> None:
    done = throughput(capfd, "--cluster", directory, "--exclude-internal", "--top", "2")
    assert done.code == 0
    sizes = {
        topic: str(sum(path.stat().st_size for path in directory.glob(f"*/{topic}-*/*.log")))
        for topic in ("orders", "trimmed")
    }
    assert [line.split()[:4] for line in done.lines] == [
        ["TOPIC", "BYTES", "RECORDS", "BATCHES"],
        ["orders", sizes["orders"], "15", "2"],
        ["trimmed", sizes["trimmed"], "10", "1"],
    ]


def test_over_time(capfd: Capture, directory: Path) -> None:
    args = "--cluster", directory, "--topic", "orders", "--step", "5s", "--output", "jsonl"
    rows = throughput(capfd, *args).rows
    assert [(row["start_timestamp"], row["end_timestamp"], row["records"]) for row in rows] == [
        (T0, T0 + 5000, 5),
        (T0 + 5000, T0 + 10_000, 10),
    ]
    late = throughput(capfd, *args, "--from", str(T0 + 5000)).rows
    assert [row["records"] for row in late] == [10]


def test_forecast(capfd: Capture, directory: Path) -> None:
    done = throughput(capfd, "--cluster", directory, "--forecast", "--topic", "orders", "--output", "jsonl")
    rows = {row["partition"]: row for row in done.rows}
    assert done.code == 0
    assert rows[0]["reason"] == "retention.ms=604800000"
    assert rows[0]["goes_timestamp"] >= T0 + 7 * 86_400_000
    assert (rows[2]["reason"], rows[2]["goes_timestamp"]) == ("it is empty", None)
    assert throughput(capfd, "--cluster", directory, "--forecast").lines[0].startswith("TOPIC ")


def test_without_metadata_nobody_knows_the_configs(capfd: Capture, sample: Path) -> None:
    done = throughput(capfd, "--log-dirs", sample.parent, "--forecast")
    assert (done.code, done.out) == (1, "")
    assert "without a metadata log" in done.err
    assert throughput(capfd, "--log-dirs", sample.parent).code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--forecast", "--step", "1s"], "--forecast is about partitions"),
        (["--forecast", "--by", "producer"], "--forecast is about partitions"),
        (["--step", "1y"], "--step: '1y' is not a duration"),
        (["--from", "x"], "--from: 'x' is neither"),
        (["--from", "2", "--to", "1"], "--from is after --to"),
    ],
)
def test_bad_usage(capfd: Capture, directory: Path, args: list[str], said: str) -> None:
    done = throughput(capfd, "--cluster", directory, *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_topic_that_is_not_there(capfd: Capture, directory: Path) -> None:
    done = throughput(capfd, "--cluster", directory, "--topic", "nope")
    assert (done.code, done.out, done.err) == (1, "", "kafkapy: there is no topic 'nope'\n")
