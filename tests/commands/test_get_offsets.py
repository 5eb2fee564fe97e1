"""get-offsets against GetOffsetShell's own output, and its grammar and errors."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.partition_filter import parse_offset_spec, parse_rules, topic_and_partitions
from tests.commands.running import dirs, printed, run

Capture = pytest.CaptureFixture[str]
SKIPPED = "Skip getting offsets for topic-partition "


def settled(lines: list[str]) -> list[str]:
    """Without topics that were written to between Kafka's answer and the stop."""
    return [line for line in lines if not line.startswith(("__", "tx:"))]


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ([], "recovered-get-offsets"),
        (["--time", "-1"], "recovered-get-offsets"),
        (["--time", "earliest"], "recovered-get-offsets-earliest"),
        (["--time", "-2"], "recovered-get-offsets-earliest"),
        (["--time", "earliest-local"], "recovered-get-offsets-earliest"),
        (["--time", "max-timestamp"], "get-offsets-max-timestamp"),
        (["--time", "-3"], "get-offsets-max-timestamp"),
        (["--time", "1500000000000"], "get-offsets-1500000000000"),
        (["--time", "4000000000000"], "get-offsets-4000000000000"),
        (["--time", "latest-tiered"], "get-offsets-latest-tiered"),
        (["--topic-partitions", "orders:0-2,codec-.*:0,plain"], "get-offsets-topic-partitions"),
    ],
)
def test_the_lines_are_kafkas_in_kafkas_order(capfd: Capture, golden: Path, args: list[str], name: str) -> None:
    done = run(capfd, "get-offsets", "--log-dirs", dirs(golden), *args)
    assert (done.code, settled(done.lines)) == (0, settled(printed(golden, name)))


def test_internal_topics_can_be_left_out(capfd: Capture, golden: Path) -> None:
    every = run(capfd, "get-offsets", "--log-dirs", dirs(golden)).lines
    others = run(capfd, "get-offsets", "--log-dirs", dirs(golden), "--exclude-internal-topics").lines
    assert others == [line for line in every if not line.startswith("__")] != every


def test_topic_and_partitions(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "get-offsets", "--log-dirs", dirs(golden), "--topic", "ord.*|moving", "--partitions", "1,2")
    assert [line.rpartition(":")[0] for line in done.lines] == ["moving:1", "orders:1", "orders:2"]


def test_a_partition_that_a_named_topic_has_not_is_told_of(capfd: Capture, golden: Path) -> None:
    """Kafka's tool shows the others, and ends well."""
    done = run(capfd, "get-offsets", "--log-dirs", dirs(golden), "--topic", "orders", "--partitions", "0,17")
    assert (done.code, [line.rpartition(":")[0] for line in done.lines]) == (0, ["orders:0"])
    assert done.err == "kafkapy: there is no partition orders-17; there are 0, 1, 2\n"


def test_a_directory_without_metadata(capfd: Capture, zk_era: Path) -> None:
    """The offsets are those that the tools of the time showed as the ends of logs."""
    done = run(capfd, "get-offsets", "--log-dirs", dirs(zk_era))
    ends = {tuple(line.split()[1:3]): line.split()[4] for line in printed(zk_era, "groups-describe") if "old-" in line}
    offsets = dict(line.rsplit(":", 1) for line in done.lines)
    assert done.code == 0
    assert ends
    assert {key: offsets[":".join(key)] for key in ends} == ends
    assert {line.split(":")[0] for line in done.lines} == set(printed(zk_era, "topics-list"))


def test_what_one_broker_does_not_have_is_skipped_and_told(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "get-offsets", "--log-dirs", dirs(golden, brokers=1), "--topic", "orders")
    everything = run(capfd, "get-offsets", "--log-dirs", dirs(golden), "--topic", "orders").lines
    assert done.code == 1
    assert done.lines == [line for line in everything if not line.startswith("orders:1:")]
    assert done.err.startswith(SKIPPED + "orders-1 due to error: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--topic", "nope"], "Could not match any topic-partitions with the specified filters"),
        (
            ["--time", "yesterday"],
            "Malformed time argument yesterday. Please use -1 or latest / -2 or earliest / -3 or max-timestamp / "
            "-4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload, or a specified long format "
            "timestamp",
        ),
        (
            ["--partitions", "1-3"],
            "--partitions expects a comma separated list of numeric partition ids, but received: 1-3",
        ),
        (
            ["--topic-partitions", "orders", "--topic", "orders"],
            "--topic-partitions cannot be used with --topic or --partitions",
        ),
        (
            ["--topic-partitions", "x:a"],
            "org.apache.kafka.tools.TerseException: Invalid rule specification: x:a",
        ),
    ],
)
def test_errors_are_one_line_in_kafkas_words(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "get-offsets", "--log-dirs", dirs(golden), *args)
    assert done == (1, "", f"Error occurred: {error}\n")


def test_rows(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "get-offsets", "--log-dirs", dirs(golden), "--topic", "plain", "--output", "jsonl")
    assert done.rows == [{"type": "offset", "topic": "plain", "partition": 0, "offset": 60}]


@given(first=st.integers(0, 50), last=st.integers(0, 50), number=st.integers(0, 60))
def test_ranges_are_without_their_end(first: int, last: int, number: int) -> None:
    partition = TopicPartition("t", number)

    def holds(rule: str) -> bool:
        return any(each.matches(partition) for each in parse_rules(rule))

    assert holds(f"t:{first}-{last}") == (first <= number < last)
    assert holds(f"t:{first}-") == holds(f":{first}-") == (number >= first)
    assert holds(f"t:-{last}") == (number < last)
    assert holds(f"t:{first}") == (number == first)
    assert holds(f"x:{first},t:{last}") == (number == last)
    assert all(holds(rule) for rule in ("", "t", ":", "t:", "t:-", "x,t", "t,", "[st]"))
    assert not any(holds(rule) for rule in ("x", "x:", "tt"))


@pytest.mark.parametrize(
    ("partitions", "chosen"),
    [("3,1", [1, 3]), ("2,", [2]), ("", [0, 1, 2, 3, 4]), (",", [0, 1, 2, 3, 4]), (None, [0, 1, 2, 3, 4])],
)
def test_a_list_of_partitions(partitions: str | None, chosen: list[int]) -> None:
    (rule,) = topic_and_partitions(None, partitions)
    assert [number for number in range(5) if rule.matches(TopicPartition("any", number))] == chosen


def test_an_empty_name_is_no_topic_and_a_list_of_nothing_no_rule() -> None:
    """A variable of a script that is empty must not stand for all topics."""
    (rule,) = topic_and_partitions("", None)
    assert not rule.matches(TopicPartition("any", 0))
    assert parse_rules(",") == []


@pytest.mark.parametrize("text", ["", "1.5", "latest ", "9223372036854775808", "1_000"])
def test_bad_times(text: str) -> None:
    with pytest.raises(KafkaError, match="Malformed time argument"):
        parse_offset_spec(text)
