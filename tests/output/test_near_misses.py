"""What was probably meant: found, told in a line of its own beside Kafka's, and only where it helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.near_misses import did_you_mean, hint, near_miss
from tests.commands.running import run
from tests.output.row_world import made

Capture = pytest.CaptureFixture[str]
TOPIC = "kafkapy: there is no topic 'ordres'; did you mean 'orders'?"
GROUP = "kafkapy: there is no group 'biling'; did you mean 'billing'?"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("misses") / "cluster")


def test_the_nearest_is_meant() -> None:
    assert near_miss("ordres", ["order-items", "orders", "oders-2"]) == "orders"
    assert near_miss("Orders", ["orders"]) == "orders"
    assert near_miss("zebra", ["orders"]) is None
    assert did_you_mean("zebra", ["orders"]) == ""
    assert hint("topic", "orders", ["orders", "order"]) is None, "it is there"


def test_of_very_many_only_a_slip_is_meant() -> None:
    names = [f"team-{number % 97}.service-{number}.events" for number in range(5_000)]
    for slip in ("team-77.servcie-77.events", "team-77.service-77.event", "eam-77.service-77.events"):
        assert near_miss(slip, names) == "team-77.service-77.events"
    assert near_miss("taem-77.service-77.evnets", names) is None


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("topics --describe --topic ordres", 1, TOPIC),
        ("topics --describe --topic ordres --output json", 1, TOPIC),
        ("topics --delete --topic ordres", 1, TOPIC),
        ("topics --alter --topic ordres --partitions 9", 1, TOPIC),
        (
            "topics --create --topic new --config retention.m=3",
            1,
            "kafkapy: there is no topic config 'retention.m'; did you mean 'retention.ms'?",
        ),
        ("configs --describe --topic ordres", 0, TOPIC),
        ("configs --alter --topic ordres --add-config retention.ms=3", 1, TOPIC),
        (
            "configs --alter --topic orders --add-config retention.m=3",
            1,
            "kafkapy: there is no topic config 'retention.m'; did you mean 'retention.ms'?",
        ),
        (
            "configs --describe --entity-type topic --entity-name orders",
            2,
            "kafkapy: there is no entity type 'topic'; did you mean 'topics'?",
        ),
        ("get-offsets --topic ordres", 1, TOPIC),
        ("leader-election --election-type preferred --topic ordres --partition 0", 1, TOPIC),
        ("consumer-groups --describe --group biling", 1, GROUP),
        ("consumer-groups --describe --group biling --output csv", 1, GROUP),
        ("consumer-groups --delete --group biling", 1, GROUP),
        (
            "transactions describe --transactional-id payment-1",
            1,
            "kafkapy: there is no transactional id 'payment-1'; did you mean 'payments-1'?",
        ),
    ],
)
def test_a_hint_beside_what_kafka_says(capfd: Capture, cluster: str, command: str, code: int, told: str) -> None:
    done = run(capfd, *command.split(), "--cluster", cluster)
    lines = done.err.splitlines()
    assert (done.code, lines.count(told)) == (code, 1)
    assert "did you mean" not in done.out + "".join(line for line in lines if line != told)


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("console-consumer --topic ordres", 1, "Topic 'ordres' does not exist; did you mean 'orders'?"),
        ("throughput --topic ordres", 1, "there is no topic ordres; did you mean 'orders'?"),
        ("cluster status --topic ordres", 1, "there is no topic whose name matches ordres; did you mean 'orders'?"),
        ("replica-diff ordres", 1, "no copy of ordres is in the given log dirs; did you mean 'orders'?"),
        ("lag --group biling", 1, "there is no group biling; did you mean 'billing'?"),
        ("lag --topic ordres", 1, "there is no topic ordres; did you mean 'orders'?"),
        (
            "consumer-groups --reset-offsets --group billing --topic ordres --to-latest --dry-run",
            1,
            "there is no topic ordres; did you mean 'orders'?",
        ),
        (
            "transactions describe-producers --topic ordres --partition 0",
            1,
            "there is no topic 'ordres'; did you mean 'orders'?",
        ),
    ],
)
def test_a_hint_in_our_own_words(capfd: Capture, cluster: str, command: str, code: int, told: str) -> None:
    done = run(capfd, *command.split(), "--cluster", cluster)
    assert done.code == code
    assert f"{told}" in done.err


@pytest.mark.parametrize("command", ["features feature-dependencies", "storage feature-dependencies"])
def test_features(capfd: Capture, command: str) -> None:
    done = run(capfd, *command.split(), "--feature", "groop.version=1")
    told = "kafkapy: there is no feature 'groop.version'; did you mean 'group.version'?"
    assert (done.code, done.err.splitlines()) == (1, ["kafkapy: Unknown feature: groop.version", told])


@pytest.mark.parametrize(
    "command",
    [
        "topics --describe --topic elsewhere",
        "consumer-groups --describe --group elsewhere",
        "share-groups --describe --group biling",
        "transactions describe --transactional-id elsewhere",
    ],
)
def test_nothing_is_guessed(capfd: Capture, cluster: str, command: str) -> None:
    """A name that is like no other, or like that of a group of another type."""
    done = run(capfd, *command.split(), "--cluster", cluster)
    assert done.code == 1
    assert "did you mean" not in done.out + done.err


def test_a_name_that_is_refused_for_another_reason(capfd: Capture, cluster: str, tmp_path: Path) -> None:
    done = run(capfd, "topics", "--create", "--topic", "order", "--partitions", "0", "--cluster", cluster)
    assert (done.code, done.err) == (1, "")
