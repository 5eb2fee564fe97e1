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
    told = "kafkapy: No node with id 9 found.\nkafkapy: there is no node 9; there are 1, 2, 3\n"
    assert done == (1, "", told)


def test_without_metadata(capfd: Capture, zk_era: Path) -> None:
    done = run(capfd, "features", "describe", "--log-dirs", dirs(zk_era))
    assert done == (0, "The features are unknown: there is no metadata log\n", "")


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("upgrade",), "You must specify at least one feature to upgrade"),
        (("disable",), "You must specify at least one feature to disable"),
        (("upgrade", "--feature", "x"), "Can't parse feature=level string x: equals sign not found."),
        (
            ("downgrade", "--feature", "x=40000"),
            "Can't parse feature=level string x=40000: unable to parse 40000 as a short.",
        ),
        (
            ("upgrade", "--feature", "x=0"),
            "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided "
            "maxVersionLevel:0 is < 1.",
        ),
        (("downgrade", "--feature", "x=-1"), "Cannot specify a negative version level."),
        (("upgrade", "--feature", "x=1", "--feature", "x=2"), "Feature x was specified more than once."),
        (
            ("upgrade", "--feature", "x=1", "--release-version", "4.2"),
            "Can not specify `release-version` with other feature flags.",
        ),
        (("upgrade", "--release-version", "9.9"), "Unknown metadata.version '9.9'. Supported metadata.version are: "),
    ],
)
def test_bad_usage(capfd: Capture, golden: Path, args: tuple[str, ...], error: str) -> None:
    done = run(capfd, "features", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {error}")


def test_dependencies(capfd: Capture) -> None:
    done = run(
        capfd, "features", "feature-dependencies", "--feature", "group.version=1", "--feature", "group.version=9"
    )
    assert done == (
        1,
        "group.version=1 has no dependencies.\n",
        "kafkapy: No feature:group.version with feature level 9\n",
    )


@pytest.mark.parametrize(
    "args", [("version-mapping", "--release-version", "4.2"), ("feature-dependencies", "--feature", "group.version=1")]
)
def test_what_asks_no_cluster_takes_one_as_kafkas_tool_does(capfd: Capture, args: tuple[str, ...]) -> None:
    alone = run(capfd, "features", *args)
    assert alone.code == 0
    assert run(capfd, "features", "--bootstrap-server", "localhost:9092", *args) == alone
    assert run(capfd, "features", "--bootstrap-controller", "localhost:9093", *args) == alone
