"""Our tables, checks and effective values of configs against Kafka's own, all questions in one JVM.

``ask`` collects questions while this module is imported; ``answers`` puts them to Kafka once. Values are probed around
every bound of every table, so that a validator that differs in any way shows up as another value or another message.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.metadata.configs import add_config, effective, quotas, scram
from kafkapy.metadata.configs.broker_configs import check_broker_configs
from kafkapy.metadata.configs.client_metrics_configs import check_client_metrics_configs
from kafkapy.metadata.configs.config_def import READ_ONLY, ConfigKey, definition, parse_value
from kafkapy.metadata.configs.config_types import to_text
from kafkapy.metadata.configs.effective import BrokerLayers
from kafkapy.metadata.configs.group_configs import check_group_configs
from kafkapy.metadata.configs.topic_configs import check_topic_configs
from kafkapy.metadata.scram import MECHANISM_NUMBERS
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java

SEED = 4
TABLES = ("topic", "broker", "group", "client_metrics", "broker_quota", "client_quota", "ip_quota")

# Kafka also checks the form of these two; no command of ours can change them.
UNCHECKED = ("controller.quorum.voters", "controller.quorum.bootstrap.servers")

# What the judge starts a broker with.
SERVER = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "controller.quorum.voters": "1@localhost:9093",
}

TOPIC_CASES: list[dict[str, str]] = [
    {},
    {"nosuch": "1"},
    {"retention.ms": "abc"},
    {"retention.ms": ""},
    {"retention.ms": " 12 "},
    {"segment.bytes": "10"},
    {"segment.bytes": "99999999999"},
    {"max.message.bytes": "x", "segment.bytes": "y"},
    {"cleanup.policy": "compact,delete"},
    {"cleanup.policy": ""},
    {"cleanup.policy": "compact,shred"},
    {"compression.type": "none"},
    {"compression.gzip.level": "0"},
    {"min.cleanable.dirty.ratio": "1.5"},
    {"preallocate": "yes"},
    {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
    {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "5"},
    {"leader.replication.throttled.replicas": "0:1,1:2"},
    {"leader.replication.throttled.replicas": "0-1"},
    {"follower.replication.throttled.replicas": "*"},
    {"internal.segment.bytes": "100"},
    {"local.retention.ms": "10000000000"},
]
REMOTE_CASES: list[dict[str, str]] = [
    {},
    {"cleanup.policy": "compact"},
    {"cleanup.policy": ""},
    {"cleanup.policy": "compact,delete"},
    {"retention.bytes": "100", "local.retention.bytes": "-1"},
    {"retention.bytes": "100", "local.retention.bytes": "101"},
    {"retention.bytes": "-1", "local.retention.bytes": "101"},
    {"retention.bytes": "-5", "local.retention.bytes": "101"},
    {"retention.ms": "100", "local.retention.ms": "-1"},
    {"retention.ms": "100", "local.retention.ms": "101"},
    {"retention.ms": "-1", "local.retention.ms": "101"},
    {"remote.log.copy.disable": "true"},
    {"remote.log.copy.disable": "true", "retention.bytes": "7", "local.retention.bytes": "6"},
    {"remote.log.copy.disable": "true", "retention.ms": "7", "local.retention.ms": "6"},
    {"remote.log.copy.disable": "true", "retention.ms": "7", "local.retention.ms": "7"},
]
BROKER_CASES: list[dict[str, str]] = [
    {},
    {"log.cleaner.threads": "2"},
    {"log.cleaner.threads": "x"},
    {"log.cleaner.threads": "0"},
    {"broker.id": "4"},
    {"ssl.keystore.password": "secret"},
    {"listener.name.external.ssl.keystore.password": "secret"},
    {"listener.name.external.max.connections": "10"},
    {"listener.name.external.max.connections": "x"},
    {"leader.replication.throttled.rate": "-1"},
    {"leader.replication.throttled.rate": "x", "message.max.bytes": "x"},
    {"my.own": "thing"},
    {"sasl.enabled.mechanisms": "PLAIN"},
    {"cordoned.log.dirs": "*"},
    {"log.cleanup.policy": "shred"},
    {"min.insync.replicas": "0"},
    {"log.roll.ms": "0"},
    {"log.roll.jitter.ms": "-1"},
    {"log.retention.ms": "0"},
    {"log.retention.ms": "-1"},
    {"log.retention.ms": "-7"},
    {"log.cleaner.dedupe.buffer.size": "1048576"},
    {"log.cleaner.dedupe.buffer.size": "-5000000", "log.cleaner.threads": "3"},
    {"log.cleaner.dedupe.buffer.size": "4000000", "log.cleaner.threads": "3"},
]
GROUP_CASES: list[dict[str, str]] = [
    {},
    {"nosuch": "1"},
    {"consumer.session.timeout.ms": "x"},
    {"consumer.session.timeout.ms": "0"},
    {"share.auto.offset.reset": "by_duration:P1D"},
    {"share.isolation.level": "READ_COMMITTED"},
    {"streams.num.standby.replicas": "3"},
    {"consumer.session.timeout.ms": "46000", "consumer.heartbeat.interval.ms": "15000"},
    *(
        {name: value}
        for name in definition("group")
        for value in ("1", "2", "100", "3000", "20000", "70000", "9999999")
    ),
]
GROUP_BROKERS: list[dict[str, str]] = [
    {},
    {"group.consumer.max.session.timeout.ms": "50000", "group.share.session.timeout.ms": "50000"},
    {
        "group.consumer.min.session.timeout.ms": "4000",
        "group.consumer.min.heartbeat.interval.ms": "1000",
        "group.share.min.session.timeout.ms": "4000",
        "group.streams.min.session.timeout.ms": "4000",
    },
]
METRICS_CASES: list[dict[str, str]] = [
    {},
    {"metrics": "a,b"},
    {"metrics": "a,,b"},
    {"interval.ms": "99"},
    {"interval.ms": "100"},
    {"interval.ms": "3600001"},
    {"interval.ms": "x"},
    {"match": "client_id=a"},
    {"match": "client_id=a="},
    {"match": "client_id="},
    {"match": "client_id==a"},
    {"match": "=a"},
    {"match": "client=a"},
    {"match": "client_id=[a"},
    {"match": " client_id = a , client_source_port = 1"},
    {"nosuch": "1"},
]
QUOTA_VALUES = ("1", "0", "-1", "0.5", "1.0000001", "2147483648", "1e19", "Infinity", "NaN")
SCRAM_CASES = [
    (mechanism, password, salt, iterations)
    for mechanism in MECHANISM_NUMBERS
    for password, salt, iterations in (("pw", "00ff", 4096), ("x", "616263", 1), ("pä=,ß€", "00", 17))
]
ADD_CONFIGS = (
    "k=v",
    "k=v,l=w",
    "k=[a,b],l=w",
    "k=[a,b]",
    " k = v ",
    "k=",
    "k",
    "",
    ",",
    "k=v,",
    "k=v,,l=w",
    "k=a=b",
    "k=[a=b,c=d]",
    "k=v,k=w",
    "k!=v",
    "$k=v",
    "k=[[a]]",
    "k=a]b,l=c",
    "a=b,c=[d,e],f=[g,h]",
    "SCRAM-SHA-256=[iterations=8192,password=pw],x=1",
)
ALTERATIONS = (
    ("users", ["--add-config", "nosuch=1"]),
    ("users", ["--delete-config", "nosuch,other"]),
    ("users", ["--add-config", "SCRAM-SHA-256=[password=x],producer_byte_rate=1"]),
    ("users", ["--add-config", "SCRAM-SHA-256=[iterations=8192,password=x]"]),
    ("users", ["--add-config", "SCRAM-SHA-256=[iterations=-1,password=x]"]),
    ("users", ["--add-config", "SCRAM-SHA-256=[iterations=,password=x]"]),
    ("users", ["--add-config", "SCRAM-SHA-256=[iterations=99999999999,password=x]"]),
    ("users", ["--add-config", "SCRAM-SHA-512=[iterations=10,password=x]"]),
    ("clients", ["--add-config", "nosuch=1"]),
    ("clients", ["--add-config", "SCRAM-SHA-256=[password=x]"]),
    ("clients", ["--delete-config", "nosuch"]),
    ("clients", ["--add-config", "producer_byte_rate=1"]),
    ("ips", ["--add-config", "producer_byte_rate=1"]),
    ("ips", ["--add-config", "connection_creation_rate=1"]),
)

# Names with values that a broker may have, for random layers.
LAYER_POOL = {
    "log.retention.ms": ("1000", "-1", " 05"),
    "log.retention.minutes": ("7", "-1"),
    "log.retention.hours": ("5", "-3"),
    "log.roll.ms": ("100", "7"),
    "log.roll.hours": ("3",),
    "log.roll.jitter.ms": ("9",),
    "log.roll.jitter.hours": ("2",),
    "log.flush.interval.ms": ("99",),
    "log.flush.scheduler.interval.ms": ("98",),
    "log.cleanup.policy": ("compact", "delete , compact", "delete,delete"),
    "log.segment.bytes": ("2000000", " 3000000"),
    "min.insync.replicas": ("1", "2"),
    "log.cleaner.min.cleanable.ratio": ("0.50", ".25", "1e-1"),
    "unclean.leader.election.enable": ("TRUE", "false"),
    "message.max.bytes": ("5000",),
    "compression.type": ("gzip",),
    "log.cleaner.threads": ("2",),
    "group.consumer.assignment.interval.ms": ("2000",),
}
STATIC_POOL = {
    "log.dirs": ("/data/a,/data/b",),
    "broker.rack": ("r1",),
    "num.partitions": ("3",),
    "ssl.keystore.password": ("secret",),
    "listener.name.plaintext.ssl.keystore.password": ("secret",),
    "listener.name.plaintext.ssl.keystore.type": ("PEM",),
    "listener.name.plaintext.plain.sasl.jaas.config": ("x y;",),
    "my.own.config": ("thing",),
    "log.initial.task.delay.ms": ("500",),
    "group.consumer.session.timeout.ms": ("46000",),
    "group.share.delivery.count.limit": ("6",),
}
TOPIC_POOL = {
    "retention.ms": (" 0100", "-1"),
    "cleanup.policy": ("compact,delete", ""),
    "segment.bytes": ("2000000",),
    "min.cleanable.dirty.ratio": ("0.010", "1"),
    "preallocate": ("TRUE",),
    "min.insync.replicas": ("2",),
    "leader.replication.throttled.replicas": ("0:1, 1:2", "*"),
    "compression.type": ("zstd",),
    "internal.segment.bytes": ("5000",),
    "flush.ms": ("3",),
    "delete.retention.ms": ("4",),
    "message.format.version": ("3.0",),
}
GROUP_POOL = {
    "consumer.session.timeout.ms": ("47000",),
    "share.auto.offset.reset": ("earliest",),
    "share.renew.acknowledge.enable": ("False",),
    "streams.assignment.interval.ms": ("5",),
    "no.such": ("5",),
}
METRICS_POOL = {"metrics": ("a, b",), "interval.ms": ("0500",), "no.such": (" 5",)}

QUESTIONS: list[dict[str, Any]] = []


def ask(question: str, **details: Any) -> int:
    QUESTIONS.append({"ask": question, **details})
    return len(QUESTIONS) - 1


def outcome(check: Callable[..., Any], *args: Any, **named: Any) -> dict[str, Any]:
    """What a check gives, in the form of the judge's answers."""
    try:
        return {"value": check(*args, **named)}
    except KafkaError as refused:
        return {"error": refused.name, "message": str(refused)}
    except KafkapyError as refused:
        return {"error": "UsageError", "message": str(refused)}


def shown(key: ConfigKey, text: str) -> str | None:
    return to_text(parse_value(key, text))


def as_client(answer: dict[str, Any]) -> dict[str, Any]:
    """A client gets to see Kafka's ConfigException as an InvalidConfigurationException."""
    if answer.get("error") == "ConfigException":
        return {**answer, "error": "InvalidConfigurationException"}
    return answer


def as_usage(answer: dict[str, Any]) -> dict[str, Any]:
    """ConfigCommand says only the message of what is wrong with its arguments."""
    if answer.get("error") in ("IllegalArgumentException", "NumberFormatException"):
        return {"error": "UsageError", "message": answer["message"]}
    return answer


def probes(key: ConfigKey) -> list[str]:
    """Texts around every bound that a config may have."""
    texts = ["", " ", "abc", "0", "1", "-1", "-2", "-3", "2.5", "true", "FALSE ", "a,b", "a, a", "a,,b", ","]
    texts += ["127", "128", "32767", "32768", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808"]
    texts += ["+5", "٣", "1_0", "0x10", "1e3", "NaN", "-Infinity", "0x1p3", "1f", ".5", "5.", "inf", "\x01 7\t"]
    kind, _, choices = key.validator.partition(":")
    for choice in choices.split("|"):
        texts += [choice, choice.upper(), choice.lower(), f"{choice},{choice}", f"{choice},zzz"]
    bounds = kind.partition("|")[0].split("..") if ".." in kind else []
    for bound in filter(None, bounds):
        texts += [bound, str(float(bound))] + [str(int(float(bound)) + step) for step in (-1, 1)]
    if kind == "throttled-replicas":
        texts += ["*", "0:1", "0:1,1:2", "0:1,*", "*,", "0:1,,1:2", "0:", ":1", "0:1:2", "0-1", "٣:1"]
    if kind == "offset-reset":
        durations = ["P1D", "PT1H", "PT", "P", "PT1.5S", "PT-1S", "-PT1S", "-PT-1S", "p1dt1h1m1.123456789s", "PT0S"]
        durations += ["P1W", "PT1.1234567890S", "P1DT", "PT-0.5S", "PT,5S", "PT1,5S", "P99999999999999999999D", "1D"]
        texts += ["earliest", "latest", "none", "LATEST", "by_duration", "by_duration:", "BY_DURATION:P1D"]
        texts += [f"by_duration:{duration}" for duration in durations]
    return list(dict.fromkeys(texts))


def random_layer(rng: Random, pool: Mapping[str, tuple[str, ...]], share: float) -> dict[str, str]:
    return {name: rng.choice(values) for name, values in pool.items() if rng.random() < share}


def layers(rng: Random) -> dict[str, dict[str, str]]:
    dynamic = {name: values for name, values in LAYER_POOL.items() if _is_dynamic(name)}
    return {
        "static": random_layer(rng, LAYER_POOL, 0.3) | random_layer(rng, STATIC_POOL, 0.4),
        "cluster": random_layer(rng, dynamic, 0.2),
        "broker": random_layer(rng, dynamic, 0.2),
    }


def _is_dynamic(name: str) -> bool:
    return definition("broker")[name].update_mode != READ_ONLY


def describe_questions() -> list[dict[str, Any]]:
    rng = Random(SEED)
    questions: list[dict[str, Any]] = []
    for _ in range(60):
        questions.append({"type": "TOPIC", "name": "t", "configs": random_layer(rng, TOPIC_POOL, 0.3), **layers(rng)})
        questions.append({"type": "GROUP", "name": "g", "configs": random_layer(rng, GROUP_POOL, 0.3), **layers(rng)})
        questions.append({"type": "BROKER", "name": rng.choice(("1", "")), "configs": {}, **layers(rng)})
    questions += [
        {"type": "CLIENT_METRICS", "name": "m", "configs": random_layer(rng, METRICS_POOL, 0.5)} for _ in range(4)
    ]
    return questions


DEFINITIONS = {of: ask("definition", of=of) for of in TABLES}
UPDATE_MODES = ask("update modes")
TOPIC_SYNONYMS = ask("topic synonyms")
GROUP_SYNONYMS = ask("group synonyms")
VALUES = {
    (of, name, text): ask("value", of=of, name=name, value=text)
    for of in TABLES
    for name, key in definition(of).items()
    if key.type != "CLASS" and name not in UNCHECKED
    for text in probes(key)
}
TOPICS = [(configs, ask("topic", configs=configs)) for configs in TOPIC_CASES]
REMOTE = {"remote.log.storage.system.enable": "true", "remote.log.storage.manager.class.name": "x"}
REMOTES = [
    (
        static,
        {"remote.storage.enable": "true", **configs},
        ask("topic", configs={"remote.storage.enable": "true", **configs}, static=static),
    )
    for static in ({}, REMOTE)
    for configs in REMOTE_CASES
]
TURNED_OFF = [
    (configs, ask("topic", configs=configs, existing={"remote.storage.enable": "true"}, static=REMOTE))
    for configs in ({}, {"remote.storage.enable": "false"}, {"remote.log.delete.on.disable": "true"})
]
INHERITED = [
    (static, ask("topic", configs={"retention.bytes": "5"}, static=static))
    for static in ({"log.flush.interval.ms": "-5"}, {"log.cleaner.min.compaction.lag.ms": "5", "log.roll.hours": "2"})
]
BROKERS = [
    (configs, per_broker, ask("broker", configs=configs, perBroker=per_broker))
    for configs in BROKER_CASES
    for per_broker in (True, False)
]
GROUPS = [
    (broker, configs, ask("group", configs=configs, static=broker))
    for broker in GROUP_BROKERS
    for configs in GROUP_CASES
]
METRICS = [
    (name, configs, ask("client metrics", name=name, configs=configs))
    for name in ("m", "")
    for configs in METRICS_CASES
]
QUOTAS = [
    (entity, name, value, ask("quota", of=of, name=name, value=value))
    for entity, of in (("users", "client_quota"), ("ips", "ip_quota"))
    for name in (*definition("client_quota"), *definition("ip_quota"))
    for value in QUOTA_VALUES
]
SCRAMS = [
    (case, ask("scram", mechanism=case[0], password=case[1], salt=case[2], iterations=case[3])) for case in SCRAM_CASES
]
ADDED = [(text, ask("add-config", args=["--add-config", text])) for text in ADD_CONFIGS]
ALTERED = [
    (entity, args, default, ask("alter", args=["--alter", "--entity-type", entity, *named, *args]))
    for entity, args in ALTERATIONS
    for default, named in ((False, ["--entity-name", "e"]), (True, ["--entity-default"]))
]
DESCRIBED = [(question, ask("describe", **question)) for question in describe_questions()]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Kafka's answers to all questions, in their order."""
    kafka_libs()
    directory = tmp_path_factory.mktemp("configs-against-kafka")
    jobs, results = directory / "jobs", directory / "results"
    jobs.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    subprocess.run([*kafka_java("JudgeConfigs"), str(jobs), str(results)], check=True, timeout=600, capture_output=True)
    return [json.loads(line) for line in results.read_text().splitlines()]


@pytest.mark.parametrize("of", TABLES)
def test_tables_have_what_kafka_defines(answers: list[dict[str, Any]], of: str) -> None:
    modes = answers[UPDATE_MODES]["value"]
    theirs = [tuple(row[:4] + row[5:]) for row in answers[DEFINITIONS[of]]["value"]]
    keys = definition(of).values()
    ours = [(k.name, k.type, not k.required, k.default, k.importance, k.internal) for k in keys]
    assert ours == theirs
    assert {k.name for k in keys if k.validator == "-"} == {
        row[0]
        for row in answers[DEFINITIONS[of]]["value"]
        if row[4] is None or row[4] in ("non-null string", "non-empty list")
    }
    if of.startswith("broker"):
        assert {k.name: k.update_mode for k in keys} == {k.name: modes.get(k.name, READ_ONLY) for k in keys}


def test_every_dynamic_config_is_in_a_table(answers: list[dict[str, Any]]) -> None:
    assert set(answers[UPDATE_MODES]["value"]) <= {*definition("broker"), *definition("broker_quota")}


def test_synonyms(answers: list[dict[str, Any]]) -> None:
    topic = {key.name: key.synonym for key in definition("topic").values() if key.synonym}
    assert topic == answers[TOPIC_SYNONYMS]["value"]
    assert {key.name: key.synonym for key in definition("group").values()} == answers[GROUP_SYNONYMS]["value"]


@pytest.mark.parametrize("of", TABLES)
def test_values_and_messages_around_every_bound(answers: list[dict[str, Any]], of: str) -> None:
    missed = []
    for (table, name, text), question in VALUES.items():
        if table == of:
            key = definition(of)[name]
            theirs = as_client(answers[question])
            hidden = key.sensitive and "value" in theirs
            ours = outcome(shown, key, text)
            if not hidden and ours != theirs:
                missed.append((name, text, theirs, ours))
    assert missed == []


def test_topic_configs(answers: list[dict[str, Any]]) -> None:
    for configs, question in TOPICS:
        assert outcome(check_topic_configs, configs) == as_client(answers[question])


def test_topic_configs_with_remote_storage(answers: list[dict[str, Any]]) -> None:
    for static, configs, question in REMOTES:
        ours = outcome(check_topic_configs, configs, remote_storage=bool(static))
        assert ours == as_client(answers[question]), configs
    for configs, question in TURNED_OFF:
        existing = {"remote.storage.enable": "true"}
        ours = outcome(check_topic_configs, configs, existing=existing, remote_storage=True)
        assert ours == as_client(answers[question]), configs


def test_topic_configs_with_what_the_brokers_set(answers: list[dict[str, Any]]) -> None:
    for static, question in INHERITED:
        defaults = effective.topic_defaults(BrokerLayers(static=static))
        ours = outcome(check_topic_configs, {"retention.bytes": "5"}, defaults=defaults)
        assert ours == as_client(answers[question]), static


def test_broker_configs(answers: list[dict[str, Any]]) -> None:
    for configs, per_broker, question in BROKERS:
        ours = outcome(check_broker_configs, configs, per_broker=per_broker, below={})
        theirs = answers[question]
        if "error" in theirs:
            theirs = {**theirs, "error": "InvalidRequestException"}
        assert ours == theirs, (configs, per_broker)


def test_group_configs(answers: list[dict[str, Any]]) -> None:
    for broker, configs, question in GROUPS:
        ours = outcome(check_group_configs, configs, broker=broker)
        assert ours == as_client(answers[question]), (broker, configs)


def test_client_metrics_configs(answers: list[dict[str, Any]]) -> None:
    for name, configs, question in METRICS:
        ours = outcome(check_client_metrics_configs, name, configs)
        assert ours == as_client(answers[question]), configs


def test_quotas(answers: list[dict[str, Any]]) -> None:
    for entity, name, text, question in QUOTAS:
        value = quotas.parse_quotas({name: text})[name]
        ours = outcome(quotas.check_quota, [entity], name, value)
        assert ours.get("message") == answers[question]["value"], (entity, name, text)


def test_scram_credentials(answers: list[dict[str, Any]]) -> None:
    assert SCRAMS
    for (mechanism, password, salt, iterations), question in SCRAMS:
        spec = scram.ScramSpec(iterations, password)
        credential = scram.upsertion("u", mechanism, spec, bytes.fromhex(salt)).credential
        assert credential is not None
        assert [credential.stored_key.hex(), credential.server_key.hex()] == answers[question]["value"]


def test_add_config(answers: list[dict[str, Any]]) -> None:
    for text, question in ADDED:
        assert outcome(add_config.parse_add_config, text) == as_usage(answers[question]), text


def alter(entity: str, args: list[str], default: bool) -> None:
    """What ConfigCommand checks before it asks the cluster."""
    flag, text = args
    added = add_config.parse_add_config(text) if flag == "--add-config" else {}
    deleted = add_config.parse_delete_config([text]) if flag == "--delete-config" else []
    quotas.check_names({entity: "" if default else "e"}, added, deleted)
    for name, value in added.items():
        if name in MECHANISM_NUMBERS:
            scram.parse_spec(name, value)
    raise KafkaError("IllegalStateException", "asked")


def test_alterations_of_users_clients_and_ips(answers: list[dict[str, Any]]) -> None:
    for entity, args, default, question in ALTERED:
        assert outcome(alter, entity, args, default) == as_usage(answers[question]), args


def describe(question: dict[str, Any]) -> list[effective.ConfigEntry]:
    types = {"TOPIC": "topics", "GROUP": "groups", "BROKER": "brokers", "CLIENT_METRICS": "client-metrics"}
    static = {**SERVER, **question.get("static", {})}
    brokers = BrokerLayers(question.get("broker", {}), question.get("cluster", {}), static)
    return effective.describe(types[question["type"]], question["name"], question["configs"], brokers)


def test_described_entries(answers: list[dict[str, Any]]) -> None:
    for question, number in DESCRIBED:
        assert "value" in answers[number], (question, answers[number])
        theirs = sorted(
            (name, value, sensitive, read_only, source, tuple(map(tuple, synonyms)))
            for name, value, sensitive, read_only, source, synonyms in answers[number]["value"]
        )
        ours = [(e.name, e.value, e.sensitive, e.read_only, e.source, e.synonyms) for e in describe(question)]
        assert ours == theirs, question


def test_overrides_of_topics_are_in_kafkas_order(answers: list[dict[str, Any]]) -> None:
    for question, number in DESCRIBED:
        if question["type"] == "TOPIC":
            theirs = [(row[0], row[1]) for row in answers[number]["value"] if row[4] != "DEFAULT_CONFIG"]
            assert [(e.name, e.value) for e in effective.overrides(describe(question))] == theirs
