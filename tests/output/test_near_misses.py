"""What was probably meant: found, told in a line of its own beside Kafka's, and only where it helps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kafkapy.cli import main
from kafkapy.near_misses import did_you_mean, did_you_mean_path, hint, missing_number, near_miss
from tests.commands.running import run
from tests.output.row_world import made

Capture = pytest.CaptureFixture[str]
TOPIC = "kafkapy: there is no topic 'ordres'; did you mean 'orders'?"
GROUP = "kafkapy: there is no group 'biling'; did you mean 'billing'?"
BROKER = "kafkapy: there is no broker 9; there are 1, 2, 3"
BROKER_THAT_RUNS = "kafkapy: there is no broker 9 that runs; there are 1, 2, 3"
PARTITION = "kafkapy: there is no partition orders-9; there are 0, 1, 2"
USER = "kafkapy: there is no user 'alcie'; did you mean 'alice'?"
FILES = {
    "offsets.json": '{"version":1,"partitions":[{"topic":"ordres","partition":0,"offset":1}]}',
    "more.json": '{"version":1,"partitions":[{"topic":"orders","partition":9,"offset":1}]}',
    "moved.json": '{"version":1,"topics":[{"topic":"orders"}]}',
    "topic.json": '{"version":1,"partitions":[{"topic":"ordres","partition":0,"replicas":[1,2]}]}',
    "partition.json": '{"version":1,"partitions":[{"topic":"orders","partition":9,"replicas":[1,2]}]}',
    "broker.json": '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,9]}]}',
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    world = tmp_path_factory.mktemp("misses")
    for name, text in FILES.items():
        (world / name).write_text(text)
    directory = made(world / "cluster")
    for command in (
        ("configs", "--alter", "--user", "alice", "--add-config", "SCRAM-SHA-256=[password=x]"),
        ("configs", "--alter", "--client", "billing-app", "--add-config", "producer_byte_rate=1"),
        ("acls", "--add", "--allow-principal", "User:alice", "--topic", "orders", "--operation", "Read"),
    ):
        assert main([*command, "--cluster", directory]) == 0
    return directory


def hint_of(what: str, name: str, meant: str) -> str:
    return f"kafkapy: there is no {what} '{name}'; did you mean '{meant}'?"


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


def test_numbers_are_listed_while_they_are_few() -> None:
    assert missing_number("broker", 9, [3, 1]) == "there is no broker 9; there are 1, 3"
    assert missing_number("broker", 9, [7]) == "there is no broker 9; there is 7"
    assert missing_number("broker", 9, []) == "there is no broker 9; there is none"
    assert missing_number("partition", "a-99", range(50)) == "there is no partition a-99; there are 0 to 49"
    even = missing_number("broker", 9, range(0, 50, 2))
    assert even.endswith("; there are " + ", ".join(map(str, range(0, 40, 2))) + " and 5 more")


def test_a_path_of_another_number_is_no_slip(tmp_path: Path) -> None:
    (tmp_path / "broker-1").mkdir()
    assert did_you_mean_path(str(tmp_path / "brokr-1")) == f"; did you mean '{tmp_path}/broker-1'?"
    assert did_you_mean_path(str(tmp_path / "broker-2")) == did_you_mean_path(str(tmp_path / "none" / "x")) == ""


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
        ("configs --describe --topic ordres", 1, TOPIC),
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
        ("topics --create --topic new --replica-assignment 1:9", 1, BROKER),
        ("log-dirs --describe --topic-list ordres", 0, TOPIC),
        ("configs --describe --broker 9", 1, BROKER),
        ("configs --describe --entity-type brokers --entity-name 9", 1, BROKER),
        ("configs --describe --broker 9 --all", 1, BROKER),
        ("configs --alter --broker 9 --add-config background.threads=3", 1, BROKER),
        (
            "configs --alter --broker 1 --add-config backgroud.threads=3",
            0,
            hint_of("broker config", "backgroud.threads", "background.threads"),
        ),
        (
            "configs --alter --topic orders --delete-config retention.m",
            0,
            hint_of("topic config", "retention.m", "retention.ms"),
        ),
        ("configs --describe --user alcie", 0, USER),
        ("configs --alter --user alcie --delete-config SCRAM-SHA-256", 1, USER),
        (
            "configs --alter --user alice --delete-config SCRAM-SHA-255",
            2,
            hint_of("user config", "SCRAM-SHA-255", "SCRAM-SHA-256"),
        ),
        ("configs --describe --client biling-app", 0, hint_of("client id", "biling-app", "billing-app")),
        ("configs --describe --group biling", 1, GROUP),
        (
            "configs --alter --group billing --add-config consumer.session.timeout=1",
            1,
            hint_of("group config", "consumer.session.timeout", "consumer.session.timeout.ms"),
        ),
        (
            "configs --alter --client-metrics m --add-config interval=1",
            1,
            hint_of("client metrics config", "interval", "interval.ms"),
        ),
        ("acls --list --topic ordres", 0, TOPIC),
        ("acls --list --principal User:alcie", 0, USER),
        ("acls --add --allow-principal alice --topic orders", 1, hint_of("principal", "alice", "User:alice")),
        (
            "acls --add --allow-principal User:alice --topic orders --operation Raed",
            2,
            hint_of("operation", "Raed", "Read"),
        ),
        ("get-offsets --topic orders --partitions 9", 1, PARTITION),
        ("get-offsets --topic-partitions ordres:0", 1, TOPIC),
        ("features describe --node-id 9", 1, "kafkapy: there is no node 9; there are 1, 2, 3"),
        ("leader-election --election-type preferred --topic orders --partition 9", 1, PARTITION),
        ("delete-records --offset-json-file {files}/offsets.json", 1, TOPIC),
        ("delete-records --offset-json-file {files}/more.json", 1, PARTITION),
        ("reassign-partitions --generate --drain-broker 9", 1, BROKER),
        ("reassign-partitions --generate --add-broker 9", 1, BROKER),
        ("reassign-partitions --generate --rebalance --broker-list 1,9", 1, BROKER),
        ("reassign-partitions --execute --reassignment-json-file {files}/topic.json", 1, TOPIC),
        ("reassign-partitions --execute --reassignment-json-file {files}/partition.json", 1, PARTITION),
        ("reassign-partitions --execute --reassignment-json-file {files}/broker.json", 1, BROKER_THAT_RUNS),
        ("reassign-partitions --simulate --reassignment-json-file {files}/topic.json", 1, TOPIC),
        ("reassign-partitions --simulate --reassignment-json-file {files}/broker.json", 1, BROKER),
        ("reassign-partitions --verify --reassignment-json-file {files}/partition.json", 0, PARTITION),
        ("reassign-partitions --cancel --reassignment-json-file {files}/topic.json", 1, TOPIC),
        ("consumer-groups --reset-offsets --group biling --topic orders --to-latest --dry-run", 0, GROUP),
        ("consumer-groups --reset-offsets --group billing --to-group biling --dry-run", 1, GROUP),
        ("consumer-groups --reset-offsets --group billing --topic orders:9 --to-latest --dry-run", 1, PARTITION),
        ("consumer-groups --delete-offsets --group biling --topic orders", 1, GROUP),
        ("consumer-groups --delete-offsets --group billing --topic ordres", 1, TOPIC),
        ("consumer-offsets --group biling", 0, GROUP),
        ("consumer-offsets --topic ordres", 0, TOPIC),
        (
            "consumer-offsets --records transactions --transactional-id payment-1",
            0,
            hint_of("transactional id", "payment-1", "payments-1"),
        ),
        ("lookup --topic ordres --partition 0 --offset 1", 1, TOPIC),
        ("lookup --topic orders --partition 9 --offset 1", 1, PARTITION),
        (
            "maintenance --dry-run --assume orders:retention.m=1",
            2,
            hint_of("topic config", "retention.m", "retention.ms"),
        ),
        (
            "metadata-shell ls image/topics/byName/ordres",
            1,
            "kafkapy: there is no 'image/topics/byName/ordres'; did you mean 'image/topics/byName/orders'?",
        ),
        ("transactions describe-producers --topic orders --partition 0 --broker-id 9", 1, BROKER),
        ("transactions find-hanging --topic ordres", 1, TOPIC),
        (
            "transactions list --transactional-id-pattern payment-1",
            0,
            hint_of("transactional id", "payment-1", "payments-1"),
        ),
    ],
)
def test_a_hint_beside_what_kafka_says(capfd: Capture, cluster: str, command: str, code: int, told: str) -> None:
    done = run(capfd, *command.format(files=Path(cluster).parent).split(), "--cluster", cluster)
    lines = done.err.splitlines()
    assert (done.code, lines.count(told)) == (code, 1)
    assert "there is no" not in done.out + "".join(line for line in lines if line != told)


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("console-consumer --topic ordres", 1, "Topic 'ordres' does not exist; did you mean 'orders'?"),
        ("throughput --topic ordres", 1, "there is no topic 'ordres'; did you mean 'orders'?"),
        ("cluster status --topic ordres", 1, "there is no topic whose name matches 'ordres'; did you mean 'orders'?"),
        ("replica-diff ordres", 1, "no copy of ordres is in the given log dirs; did you mean 'orders'?"),
        ("lag --group biling", 1, "there is no group 'biling'; did you mean 'billing'?"),
        ("lag --topic ordres", 1, "there is no topic 'ordres'; did you mean 'orders'?"),
        ("replica-diff orders:9", 1, "is in the given log dirs: they have 0, 1, 2 of it"),
        (
            "maintenance --dry-run --topic ordres",
            1,
            "there is no topic whose name matches 'ordres'; did you mean 'orders'?",
        ),
        ("transactions find-hanging --broker-id 9", 1, "of the brokers that run: they belong to 1, 2, 3"),
        ("cluster kill-broker 9", 1, "there is no broker 9; there are 1, 2, 3"),
        ("storage broker-properties --broker 9", 2, "there is no broker 9; there are 1, 2, 3"),
        ("log-dirs --describe --broker-list 9", 1, "Current existent brokers: 1,2,3"),
        (
            "console-consumer --include ordres --from-beginning --timeout-ms 1",
            0,
            "no topic matches 'ordres'; did you mean 'orders'?",
        ),
        (
            "reassign-partitions --generate --topics-to-move-json-file {files}/moved.json --broker-list 1,2,3,9",
            0,
            "left out of --broker-list: there is no broker 9; there are 1, 2, 3",
        ),
        (
            "export --topic orders --to json --columns ofset --out {files}/out",
            2,
            "the table records has no column ofset; did you mean 'offset'? It has topic,",
        ),
        ("topics --list --output tabel", 2, "'yaml'; did you mean 'table'?"),
        ("throughput --by topc", 2, "'producer'; did you mean 'topic'?"),
        (
            "consumer-groups --reset-offsets --group billing --topic ordres --to-latest --dry-run",
            1,
            "there is no topic 'ordres'; did you mean 'orders'?",
        ),
        (
            "transactions describe-producers --topic ordres --partition 0",
            1,
            "there is no topic 'ordres'; did you mean 'orders'?",
        ),
    ],
)
def test_a_hint_in_our_own_words(capfd: Capture, cluster: str, command: str, code: int, told: str) -> None:
    done = run(capfd, *command.format(files=Path(cluster).parent).split(), "--cluster", cluster)
    assert done.code == code
    assert told in done.err


def test_the_place_of_a_cluster(capfd: Capture, cluster: str) -> None:
    wrong = cluster.replace("/cluster", "/clster")
    done = run(capfd, "topics", "--list", "--cluster", wrong)
    assert (done.code, done.err) == (1, f"kafkapy: there is no cluster directory {wrong}; did you mean '{cluster}'?\n")
    done = run(capfd, "topics", "--list", "--log-dirs", f"{cluster}/brokr-1")
    assert done.err == f"kafkapy: {cluster}/brokr-1: no such directory; did you mean '{cluster}/broker-1'?\n"
    done = run(capfd, "dump-log", "--files", f"{cluster}/broker-1/order-0")
    told = f"kafkapy: there is no file '{cluster}/broker-1/order-0'; did you mean '{cluster}/broker-1/orders-0'?"
    assert done.err.splitlines()[-1] == told


def test_a_topic_that_a_producer_makes(tmp_path: Path, kafkapy: Callable[..., CompletedProcess[str]]) -> None:
    directory = made(tmp_path / "cluster")
    told = "kafkapy: there is no topic 'ordres' yet; did you mean 'orders'?"
    for topic, expected in (("ordres", 1), ("ordres", 0), ("elsewhere", 0)):
        done = kafkapy("console-producer", "--topic", topic, "--cluster", directory, input="a line\n")
        assert (done.returncode, done.stderr.splitlines().count(told)) == (0, expected)


def test_what_was_set_once_can_be_taken_back_without_a_hint(capfd: Capture, tmp_path: Path) -> None:
    directory = made(tmp_path / "cluster")
    config = ("configs", "--cluster", directory, "--alter", "--broker", "1")
    assert "did you mean" in run(capfd, *config, "--add-config", "backgroud.threads=3").err
    assert run(capfd, *config, "--delete-config", "backgroud.threads").err == ""
    assert run(capfd, *config, "--add-config", "listener.name.x.ssl.keystore.typ=y").err == ""


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
