"""topics --list and --describe against TopicCommand's own output: names, filters, and what is not known."""

from pathlib import Path

import pytest

from tests.commands.running import dirs, printed, run

Capture = pytest.CaptureFixture[str]
FROM_PROPERTIES = "segment.index.bytes=16384"  # set in the brokers' server.properties, which no directory holds


def described(lines: list[str]) -> list[str]:
    """Sorted, and without what a directory cannot tell; Kafka prints topics and configs in the order of a hash map."""
    return sorted(_with_configs(*line.partition("Configs: ")) for line in lines)


def _with_configs(head: str, label: str, configs: str) -> str:
    return head + label + ",".join(sorted(each for each in configs.split(",") if each != FROM_PROPERTIES))


def test_list(capfd: Capture, golden: Path) -> None:
    assert run(capfd, "topics", "--log-dirs", dirs(golden), "--list").lines == printed(golden, "topics-list")


def test_list_without_internal_topics(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "topics", "--log-dirs", dirs(golden), "--list", "--exclude-internal")
    assert done.lines == printed(golden, "topics-list-no-internal")


def test_list_of_nothing_is_one_empty_line(capfd: Capture, golden: Path) -> None:
    assert run(capfd, "topics", "--log-dirs", dirs(golden), "--list", "--topic", "nope") == (0, "\n", "")


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ([], "topics-describe"),
        (["--topic", "codec-.*"], "topics-describe-regex"),
        (["--topics-with-overrides"], "topics-describe-overrides"),
    ],
)
def test_describe(capfd: Capture, golden: Path, args: list[str], name: str) -> None:
    """The metadata log of the crashed brokers ends in the state that TopicCommand saw."""
    done = run(capfd, "topics", "--log-dirs", dirs(golden, "crashed"), "--describe", *args)
    assert (done.code, described(done.lines)) == (0, described(printed(golden, name)))


@pytest.mark.parametrize("filter_", ["--under-replicated-partitions", "--unavailable-partitions"])
def test_filters_show_partitions_only(capfd: Capture, golden: Path, filter_: str) -> None:
    """After a clean stop no partition has a leader, and ISRs are empty."""
    everything = run(capfd, "topics", "--log-dirs", dirs(golden), "--describe").lines
    done = run(capfd, "topics", "--log-dirs", dirs(golden), "--describe", filter_)
    chosen = [line for line in everything if "\tLeader: none\t" in line]
    assert chosen
    assert set(chosen) <= set(done.lines) <= {line for line in everything if line.startswith("\t")}
    healthy = run(capfd, "topics", "--log-dirs", dirs(golden, "crashed"), "--describe", filter_)
    assert (healthy.code, healthy.out) == (0, "")


def test_at_min_isr(capfd: Capture, golden: Path) -> None:
    """Every topic with one replica is at its min ISR of 1; tx has two more than it needs to."""
    done = run(capfd, "topics", "--log-dirs", dirs(golden, "crashed"), "--describe", "--at-min-isr-partitions")
    topics = {line.split("\t")[1] for line in done.lines}
    assert "Topic: plain" in topics
    assert "Topic: tx" not in topics


def test_by_topic_id(capfd: Capture, golden: Path) -> None:
    by_name = run(capfd, "topics", "--log-dirs", dirs(golden), "--describe", "--topic", "tx")
    topic_id = by_name.lines[0].partition("TopicId: ")[2].split("\t")[0]
    by_id = run(capfd, "topics", "--log-dirs", dirs(golden), "--describe", "--topic-id", topic_id)
    assert by_id.lines[0] == by_name.lines[0]
    assert by_id.lines[1] == by_name.lines[1].partition("\tElr:")[0] + "\tElr: N/A\tLastKnownElr: N/A"
    both = ("topics", "--log-dirs", dirs(golden), "--describe", "--topic-id", topic_id, "--topic", "tx", "--if-exists")
    said = run(capfd, *both).lines[0]
    assert said.startswith("Only topic id will be used")
    as_rows = run(capfd, *both, "--output", "jsonl")
    assert {row["topic"] for row in as_rows.rows} == {"tx"}, "rows are kept clear of what is said beside them"
    assert as_rows.err == f"{said}\n"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--topic", "nope"], "Topic 'nope' does not exist as expected"),
        (["--topic-id", "AAAAAAAAAAAAAAAAAAAAAw"], "TopicId 'AAAAAAAAAAAAAAAAAAAAAw' does not exist as expected"),
    ],
)
def test_a_missing_topic_is_told_on_stdout(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "topics", "--log-dirs", dirs(golden), "--describe", *args)
    assert done == (1, f"Error while executing topic command : {error}\n", "")
    assert run(capfd, "topics", "--log-dirs", dirs(golden), "--describe", *args, "--if-exists") == (0, "", "")


def test_without_metadata_only_names_are_known(capfd: Capture, zk_era: Path) -> None:
    listed = run(capfd, "topics", "--log-dirs", dirs(zk_era), "--list")
    assert listed.lines == printed(zk_era, "topics-list")
    done = run(capfd, "topics", "--log-dirs", dirs(zk_era), "--describe", "--topic", "ledger")
    of_kafka = [line for line in printed(zk_era, "topics-describe") if line.startswith("Topic: ledger\t")]
    assert done.lines == [
        of_kafka[0].partition("ReplicationFactor")[0] + "ReplicationFactor: unknown\tConfigs: unknown",
        *(
            f"\tTopic: ledger\tPartition: {number}\tLeader: unknown\tReplicas: unknown\tIsr: unknown"
            "\tElr: unknown\tLastKnownElr: unknown"
            for number in range(2)
        ),
    ]


def test_nothing_is_under_replicated_where_nothing_is_known(capfd: Capture, zk_era: Path) -> None:
    filters = ("--under-replicated-partitions", "--unavailable-partitions", "--under-min-isr-partitions")
    assert run(capfd, "topics", "--log-dirs", dirs(zk_era), "--describe", *filters) == (0, "", "")


def test_rows(capfd: Capture, golden: Path) -> None:
    args = ("--describe", "--topic", "tx", "--output", "jsonl")
    (row,) = run(capfd, "topics", "--log-dirs", dirs(golden, "crashed"), *args).rows
    assert (row["type"], row["topic"], row["partition"], row["replicas"]) == ("partition", "tx", 0, [3, 2, 1])
    assert row["configs"]["min.insync.replicas"] == "2"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (
            [],
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
        ),
        (["--list", "--describe"], "Command must include exactly one action"),
        (
            ["--describe", "--topics-with-overrides", "--unavailable-partitions"],
            'Option "[unavailable-partitions]" can\'t be used with option "[topics-with-overrides]"',
        ),
    ],
)
def test_bad_usage(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "topics", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {error}")


def test_brokers_directories_are_never_written(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "topics", "--log-dirs", dirs(golden), "--create", "--topic", "new", "--partitions", "1")
    assert done.code == 1
    assert "is not supported by --log-dirs" in done.err


def test_two_clusters_cannot_be_meant(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "topics", "--log-dirs", dirs(golden), "--cluster", golden, "--list")
    assert done.code == 2
    assert "--cluster and --log-dirs name different clusters" in done.err


def test_what_is_no_cluster(capfd: Capture, tmp_path: Path) -> None:
    missing = run(capfd, "topics", "--cluster", tmp_path / "nowhere", "--list")
    assert missing.code == 1
    assert "there is no cluster directory" in missing.err
    for option in ("--cluster", "--bootstrap-server", "--log-dirs"):
        assert f" {option}" in missing.err.partition("--brokers 3'")[2]
    plain = run(capfd, "topics", "--cluster", tmp_path, "--list")
    assert plain.code == 1
    assert plain.err.splitlines() == [
        f"kafkapy: {tmp_path} is not a cluster directory: it has no cluster.yaml",
        f"kafkapy: 'kafkapy doctor --cluster {tmp_path}' explains what to do; --cluster, --context or $KAFKAPY_CLUSTER "
        "name another",
    ]


@pytest.mark.parametrize("output", ["table", "json", "jsonl", "csv"])
def test_an_error_is_not_among_rows(capfd: Capture, golden: Path, output: str) -> None:
    done = run(capfd, "topics", "--log-dirs", dirs(golden), "--describe", "--topic", "nope", "--output", output)
    assert done == (1, "", "Error while executing topic command : Topic 'nope' does not exist as expected\n")
