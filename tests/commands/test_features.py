"""features describe against FeatureCommand's own output."""

from pathlib import Path

import pytest

from tests.commands.running import dirs, printed, run

Capture = pytest.CaptureFixture[str]


def without_epoch(lines: list[str]) -> list[str]:
    """The epoch is an offset of the metadata log, which went on after Kafka was asked."""
    return [line.rpartition("Epoch: ")[0] for line in lines]


def test_the_lines_are_kafkas(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "features", "--log-dirs", dirs(golden), "describe")
    assert done.code == 0
    assert without_epoch(done.lines) == without_epoch(printed(golden, "features"))
    epochs = {line.rpartition("Epoch: ")[2] for line in done.lines}
    quorum = run(capfd, "metadata-quorum", "--log-dirs", dirs(golden), "describe", "--replication", "--output", "jsonl")
    assert epochs == {str(quorum.rows[0]["log_end_offset"] - 1)}


def test_of_one_node(capfd: Capture, golden: Path) -> None:
    rows = run(capfd, "features", "describe", "--log-dirs", dirs(golden), "--node-id", "2", "--output", "jsonl").rows
    versions = {row["feature"]: (row["min_supported"], row["max_supported"], row["finalized"]) for row in rows}
    assert versions["metadata.version"] == (7, 30, 30)
    assert versions["kraft.version"] == (0, 1, 0)


def test_an_unknown_node(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "features", "describe", "--log-dirs", dirs(golden), "--node-id", "9")
    assert done == (1, "", "kafkapy: No node with id 9 found.\n")


def test_without_metadata(capfd: Capture, zk_era: Path) -> None:
    done = run(capfd, "features", "describe", "--log-dirs", dirs(zk_era))
    assert done == (0, "The features are unknown: there is no metadata log\n", "")


def test_bad_usage(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "features", "upgrade", "--log-dirs", dirs(golden))
    assert done.code == 2
    assert "invalid choice: 'upgrade' (choose from 'describe')" in done.err
