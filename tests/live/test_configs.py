"""kafkapy configs and ConfigCommand on the same running cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs, same

TOPIC = "configs-orders"
PLAIN = "configs-plain"


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


def altered(live: LiveKafka, *args: str) -> None:
    done = live.kafka("ConfigCommand", *on(live, "--alter", *args))
    assert done.code == 0, done


@pytest.fixture(scope="module", autouse=True)
def _state(live: LiveKafka) -> None:
    live.create_topic(TOPIC, configs={"retention.ms": "1000", "cleanup.policy": "compact,delete"})
    live.create_topic(PLAIN)
    live.commit("configs-idle", PLAIN, {0: 0})
    altered(live, "--broker", "2", "--add-config", "log.cleaner.threads=2,follower.replication.throttled.rate=9999999")
    altered(live, "--broker-defaults", "--add-config", "log.cleaner.io.buffer.load.factor=0.8")
    altered(live, "--client", "configs-client", "--add-config", "producer_byte_rate=1024")
    altered(live, "--client", "configs-share", "--add-config", "request_percentage=12.5")
    altered(live, "--client-defaults", "--add-config", "consumer_byte_rate=2000000000")
    altered(live, "--user", "configs-user", "--add-config", "producer_byte_rate=4096")
    altered(live, "--user-defaults", "--add-config", "controller_mutation_rate=10000")
    altered(live, "--user", "configs-user", "--client", "configs-client", "--add-config", "consumer_byte_rate=5")
    altered(live, "--ip", "127.0.0.9", "--add-config", "connection_creation_rate=50")
    altered(live, "--ip-defaults", "--add-config", "connection_creation_rate=5000")
    altered(live, "--user", "configs-user", "--add-config", "SCRAM-SHA-256=[password=secret]")
    altered(live, "--user", "configs-strong", "--add-config", "SCRAM-SHA-512=[iterations=8192,password=secret]")
    altered(live, "--client-metrics", "configs-metrics", "--add-config", "interval.ms=5000,metrics=[org.apache.a,b]")
    altered(live, "--group", "configs-group", "--add-config", "consumer.session.timeout.ms=50000")
    look = ("--describe", "--group", "configs-group")
    for broker_id in live.running:  # each learns of the last change a moment later
        at = ("--bootstrap-server", live.address(broker_id))
        live.until(lambda at=at: "=50000" in live.kafka("ConfigCommand", *at, *look).out)


def describe(*args: str, **options: object) -> Pair:
    return pair("configs", "--describe", *args, **{"code": 0} | options)


@pairs(
    describe("--topic", TOPIC),
    describe("--topic", PLAIN),
    describe("--topic", TOPIC, "--all"),
    describe("--entity-type", "topics", "--entity-name", TOPIC),
    describe("--entity-type", "topics", order="sorted"),
    describe("--topic", "not-there", code=None),
    describe("--broker", "1"),
    describe("--broker", "2"),
    describe("--broker", "2", "--all"),
    describe("--broker", "99", code=None),
    describe("--broker-defaults"),
    describe("--broker-defaults", "--all"),
    describe("--entity-type", "brokers"),
    describe("--entity-type", "brokers", "--entity-default"),
    describe("--entity-type", "brokers", "--all"),
    describe("--broker-logger", "1"),
    describe("--broker-logger", "1", "--all"),
    describe("--entity-type", "broker-loggers", "--entity-name", "3"),
    describe("--broker-logger", "99", code=None),
    describe("--client", "configs-client"),
    describe("--client", "nobody"),
    describe("--client-defaults"),
    describe("--entity-type", "clients", order="sorted"),
    describe("--user", "configs-user"),
    describe("--user-defaults"),
    describe("--entity-type", "users", order="sorted"),
    describe("--user", "configs-user", "--client", "configs-client"),
    describe("--entity-type", "users", "--entity-type", "clients", order="sorted"),
    describe("--entity-type", "users", "--entity-name", "configs-user", "--entity-type", "clients"),
    describe("--ip", "127.0.0.9"),
    describe("--ip-defaults"),
    describe("--entity-type", "ips", order="sorted"),
    describe("--client-metrics", "configs-metrics"),
    describe("--client-metrics", "configs-metrics", "--all"),
    describe("--client-metrics", "nothing", code=None),
    describe("--entity-type", "client-metrics", order="sorted"),
    describe("--group", "configs-group"),
    describe("--group", "configs-group", "--all"),
    describe("--group", "configs-idle"),
    describe("--group", "configs-idle", "--all"),
    describe("--group", "nobody", code=None),
    describe("--entity-type", "groups", order="sorted"),
)
def test_described(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pairs(
    describe("--topic", "not-there", "--all", code=1),
    describe("--topic", "a b", code=1),
    describe("--entity-type", "things", code=None),
    describe("--topic", TOPIC, "--add-config", "retention.ms=5", code=None),
    describe("--entity-type", "broker-loggers", code=None),
    describe("--entity-type", "topics", "--entity-default", code=None),
    describe("--user", "nobody", code=None),
    describe("--ip", "999.1.1.1.1", code=None),
)
def test_not_described(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pairs(
    describe("--broker", "1", controller=True),
    describe("--broker", "1", "--all", controller=True),
    describe("--broker-defaults", controller=True),
    describe("--entity-type", "brokers", controller=True),
    describe("--broker-logger", "2", controller=True),
    describe("--topic", TOPIC, "--all", controller=True),
    describe("--topic", TOPIC, code=1, controller=True),
    describe("--client", "configs-client", code=1, controller=True),
)
def test_described_by_controllers(live: LiveKafka, case: Pair) -> None:
    check(live, case)


def alter(*args: str, **options: object) -> Pair:
    return pair("configs", "--alter", *args, **{"code": 0} | options)


# An alteration, how to look at what it did, and how to undo it.
ALTERATIONS = {
    alter("--topic", PLAIN, "--add-config", "retention.ms=5000,cleanup.policy=[compact,delete]"): (
        ("--topic", PLAIN),
        ("--topic", PLAIN, "--delete-config", "retention.ms,cleanup.policy"),
    ),
    alter("--topic", TOPIC, "--delete-config", "retention.ms,cleanup.policy"): (
        ("--topic", TOPIC),
        ("--topic", TOPIC, "--add-config", "retention.ms=1000,cleanup.policy=[compact,delete]"),
    ),
    alter("--broker", "1", "--add-config", "log.cleaner.threads=2"): (
        ("--broker", "1"),
        ("--broker", "1", "--delete-config", "log.cleaner.threads"),
    ),
    alter("--entity-type", "brokers", "--entity-default", "--add-config", "message.max.bytes=2000000"): (
        ("--broker-defaults",),
        ("--broker-defaults", "--delete-config", "message.max.bytes"),
    ),
    alter("--broker-logger", "3", "--add-config", "root=WARN"): (
        ("--broker-logger", "3"),
        ("--broker-logger", "3", "--add-config", "root=ERROR"),
    ),
    alter("--client", "configs-new", "--add-config", "producer_byte_rate=5"): (
        ("--client", "configs-new"),
        ("--client", "configs-new", "--delete-config", "producer_byte_rate"),
    ),
    alter("--user", "configs-u", "--client", "configs-c", "--add-config", "producer_byte_rate=5"): (
        ("--entity-type", "users", "--entity-type", "clients"),
        ("--user", "configs-u", "--client", "configs-c", "--delete-config", "producer_byte_rate"),
    ),
    alter("--ip", "127.0.0.8", "--add-config", "connection_creation_rate=7"): (
        ("--entity-type", "ips"),
        ("--ip", "127.0.0.8", "--delete-config", "connection_creation_rate"),
    ),
    alter("--user", "configs-scram", "--add-config", "SCRAM-SHA-512=[iterations=5000,password=p,w]"): (
        ("--user", "configs-scram"),
        ("--user", "configs-scram", "--delete-config", "SCRAM-SHA-512"),
    ),
    alter("--client-metrics", "configs-m", "--add-config", "interval.ms=1000,match=[client_id=a.*]"): (
        ("--client-metrics", "configs-m"),
        ("--client-metrics", "configs-m", "--delete-config", "interval.ms,match"),
    ),
    alter("--group", "configs-g", "--add-config", "share.auto.offset.reset=earliest"): (
        ("--group", "configs-g"),
        ("--group", "configs-g", "--delete-config", "share.auto.offset.reset"),
    ),
    alter("--broker", "1", "--add-config", "log.cleaner.threads=2", controller=True): (
        ("--broker", "1"),
        ("--broker", "1", "--delete-config", "log.cleaner.threads"),
    ),
    alter("--topic", PLAIN, "--add-config", "retention.ms=7000", controller=True): (
        ("--topic", PLAIN),
        ("--topic", PLAIN, "--delete-config", "retention.ms"),
    ),
}


@pairs(*ALTERATIONS)
def test_altered(live: LiveKafka, case: Pair) -> None:
    look, undo = ALTERATIONS[case]
    before = told(live, *look)
    seen: list[list[str]] = []
    check(live, case, lambda: undone(live, look, undo, before, seen))
    undone(live, look, undo, before, seen)
    assert seen[0] == seen[1] != before


def undone(
    live: LiveKafka, look: tuple[str, ...], undo: tuple[str, ...], before: list[str], seen: list[list[str]]
) -> None:
    """Note what an alteration did, and take it back; brokers learn of each a moment later."""
    live.until(lambda: told(live, *look) != before)
    seen.append(told(live, *look))
    altered(live, *undo)
    live.until(lambda: told(live, *look) == before)


def told(live: LiveKafka, *look: str) -> list[str]:
    return sorted(live.kafka("ConfigCommand", *on(live, "--describe", *look)).lines)


REASONS: dict[Pair, str] = {
    alter("--topic", "not-there", "--add-config", "retention.ms=5"): "The topic 'not-there' does not exist.",
    alter("--topic", PLAIN, "--add-config", "nosuch=5"): "Unknown topic config name: nosuch",
    alter("--topic", PLAIN, "--add-config", "retention.ms=soon"): "Not a number of type LONG",
    alter("--topic", PLAIN, "--add-config", "segment.bytes=7"): "Value must be at least 1048576",
    alter("--broker", "1", "--add-config", "process.roles=broker"): "process.roles",
    alter("--broker", "1", "--add-config", "log.cleaner.threads=many"): "Not a number of type INT",
    alter("--broker-logger", "1", "--add-config", "no.such.Logger=INFO"): "Invalid broker logger(s): no.such.Logger",
    alter("--broker-logger", "1", "--add-config", "root=LOUD"): "LOUD",
    alter("--client", "c", "--add-config", "producer_byte_rate=-5"): "Quota producer_byte_rate must be greater than 0",
    alter("--client", "c", "--add-config", "producer_byte_rate=x"): "Cannot parse quota configuration value",
    alter("--client", "c", "--add-config", "nosuch=1"): "Only quota configs can be added for 'clients'",
    alter("--client", "c", "--delete-config", "producer_byte_rate"): "Invalid config(s): producer_byte_rate",
    alter("--user", "u", "--add-config", "nosuch=1"): "Only quota and SCRAM credential configs can be added",
    alter("--user", "u", "--delete-config", "SCRAM-SHA-256"): "Attempt to delete a user credential that does not exist",
    alter("--user", "u", "--add-config", "SCRAM-SHA-256=[iterations=5,password=x]"): "Iterations 5 is less than",
    alter("--user", "u", "--add-config", "SCRAM-SHA-256=[iterations=20000,password=x]"): "Too many iterations",
    alter("--user", "u", "--add-config", "SCRAM-SHA-256=[password=]"): "Password must not be empty",
    alter("--user-defaults", "--add-config", "SCRAM-SHA-256=[password=x]"): "is not allowed with User SCRAM",
    alter("--ip", "127.0.0.7", "--add-config", "producer_byte_rate=1"): "Only connection quota configs can be added",
    alter("--client-metrics", "m", "--add-config", "nosuch=1"): "nosuch",
    alter("--group", "g", "--add-config", "nosuch=1"): "nosuch",
    alter("--group", "g", "--add-config", "consumer.session.timeout.ms=1"): "consumer.session.timeout.ms",
    alter("--topic", PLAIN): "At least one of --add-config, --add-config-file, or --delete-config must be specified",
    alter("--entity-type", "topics", "--add-config", "retention.ms=1"): "An entity name must be specified with --alter",
}  # fmt: skip


@pairs(*REASONS)
def test_alterations_that_are_refused(live: LiveKafka, case: Pair) -> None:
    """Kafka's tool shows the reason somewhere in a stack trace, kafkapy alone and without the passwords."""
    reason = REASONS[case]
    theirs = live.kafka(case.kafka[0], *on(live, *case.kafka[1:]))
    ours = live.kafkapy(case.kafkapy[0], *on(live, *case.kafkapy[1:]))
    assert (theirs.code, theirs.out, ours.out) == (1, "", "")
    assert ours.code in (1, 2)
    assert reason in theirs.err
    assert reason in ours.err
    said = ours.err.splitlines()[0].removeprefix("kafkapy: ").removesuffix(". Try 'kafkapy configs --help'.")
    assert said in theirs.err
    assert "password=x" not in ours.err


def test_configs_from_a_file(live: LiveKafka, tmp_path: Path) -> None:
    file = tmp_path / "more.properties"
    file.write_text("retention.ms=9000\ncleanup.policy=compact,delete\n")
    options = ("--alter", "--topic", PLAIN, "--add-config-file", str(file))
    same(live, ("ConfigCommand", *options), ("configs", *options), code=0)
    altered(live, "--topic", PLAIN, "--delete-config", "retention.ms,cleanup.policy")


@pytest.mark.parametrize("look", [("--broker", "1", "--all"), ("--topic", TOPIC)])
def test_rows_have_what_the_broker_says(live: LiveKafka, look: tuple[str, ...]) -> None:
    import json

    done = live.kafkapy("configs", *on(live, "--describe", *look, "--output", "jsonl"))
    rows = {row["name"]: row for row in map(json.loads, done.lines) if row.get("type") == "config"}
    if look[0] == "--topic":
        assert rows["retention.ms"]["source"] == "DYNAMIC_TOPIC_CONFIG"
        return
    assert rows["process.roles"]["source"] == "STATIC_BROKER_CONFIG"
    assert rows["process.roles"]["read_only"]
    assert rows["ssl.key.password"]["sensitive"]
    assert not rows["log.cleaner.threads"]["read_only"]
