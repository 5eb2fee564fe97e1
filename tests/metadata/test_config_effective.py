"""Effective values against what Kafka's tools printed, and the properties of layers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.metadata.config_description import Resources, describe_entities
from kafkapy.metadata.config_entities import Entities
from kafkapy.metadata.configs.config_def import definition
from kafkapy.metadata.configs.describe_lines import (
    config_line,
    missing_line,
    quota_line,
    scram_line,
    updated_line,
)
from kafkapy.metadata.configs.effective import BrokerLayers, ConfigEntry, describe, overrides, topic_defaults
from kafkapy.metadata.image import EMPTY
from tests.golden_set import unpack

# How the brokers of the golden set were started, and what their controller set for all.
STATIC = {"node.id": "1", "log.index.size.max.bytes": "16384"}
CLUSTER = {"min.insync.replicas": "1"}
ROLLED = {"segment.bytes": "1048576", "index.interval.bytes": "4096"}


@pytest.fixture(scope="module")
def tools() -> Path:
    return unpack("golden") / "tools"


def described(entity_type: str, name: str, entries: list[ConfigEntry], *, all_configs: bool) -> Iterator[str | None]:
    """The lines of one entity."""
    resources = Resources(lambda _: [name], lambda _, names: dict.fromkeys(names, entries))
    found = describe_entities(EMPTY, resources, Entities((entity_type,), (name,)), all_configs)
    return (line for line, _ in found)


@pytest.mark.parametrize(("all_configs", "name"), [(False, "configs-topic"), (True, "configs-topic-all")])
def test_topic_lines(tools: Path, all_configs: bool, name: str) -> None:
    entries = describe("topics", "rolled", ROLLED, BrokerLayers(cluster=CLUSTER, static=STATIC))
    lines = described("topics", "rolled", entries, all_configs=all_configs)
    assert list(lines) == (tools / f"{name}.out").read_text().splitlines()


def test_broker_lines(tools: Path) -> None:
    brokers = BrokerLayers({"log.cleaner.threads": "1"}, CLUSTER, STATIC)
    lines = described("brokers", "1", describe("brokers", "1", {}, brokers), all_configs=False)
    assert list(lines) == (tools / "configs-broker.out").read_text().splitlines()


def test_broker_default_lines() -> None:
    brokers = BrokerLayers({"min.insync.replicas": "2"}, CLUSTER, STATIC)
    assert list(described("brokers", "", describe("brokers", "", {}, brokers), all_configs=False)) == [
        "Default configs for brokers in the cluster are:",
        "  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1}",
    ]


def test_order_of_overrides(tools: Path) -> None:
    """The ``Configs:`` of every topic that Kafka described: its order is what a description of the same set gives."""
    brokers = BrokerLayers(cluster=CLUSTER, static=STATIC)
    seen = 0
    for line in (tools / "topics-describe.out").read_text().splitlines():
        if "Configs: " in line:
            shown = line.partition("Configs: ")[2]
            pairs = dict(pair.split("=") for pair in shown.split(","))
            found = overrides(describe("topics", "t", pairs, brokers))
            assert ",".join(f"{entry.name}={entry.value}" for entry in found) == shown
            seen += 1
    assert seen > 10


def test_secrets_are_hidden() -> None:
    static = {"ssl.keystore.password": "s3cret", "listener.name.x.ssl.key.password": "s3cret", "my.own": "s3cret"}
    entries = {entry.name: entry for entry in describe("brokers", "1", {}, BrokerLayers(static=static))}
    for name in static:
        assert config_line(entries[name]).startswith(f"  {name}=null sensitive=true synonyms={{STATIC_BROKER_CONFIG:")
    assert not any("s3cret" in config_line(entry) for entry in entries.values())


def test_values_are_shown_as_parsed() -> None:
    entries = describe("topics", "t", {"retention.ms": " 0100", "preallocate": "TRUE"}, BrokerLayers())
    values = {entry.name: entry.value for entry in entries}
    assert (values["retention.ms"], values["preallocate"]) == ("100", "true")


def test_units_of_time() -> None:
    static = {"log.retention.minutes": "7", "log.retention.hours": "9", "log.roll.hours": "2"}
    defaults = topic_defaults(BrokerLayers(static=static))
    assert (defaults["retention.ms"], defaults["segment.ms"]) == ("420000", "7200000")
    over = topic_defaults(BrokerLayers(cluster={"log.retention.ms": "-9"}, static=static))
    assert over["retention.ms"] == "-1"


def test_internal_configs_are_shown_only_where_set() -> None:
    def names(configs: dict[str, str]) -> set[str]:
        return {entry.name for entry in describe("topics", "t", configs, BrokerLayers())}

    assert names({"internal.segment.bytes": "5"}) - names({}) == {"internal.segment.bytes"}


_LAYER = st.dictionaries(
    st.sampled_from(["message.max.bytes", "log.retention.bytes", "log.segment.delete.delay.ms"]),
    st.integers(0, 9).map(str),
)


@given(_LAYER, _LAYER, _LAYER, _LAYER)
def test_the_first_synonym_has_the_value(
    topic: dict[str, str], broker: dict[str, str], cluster: dict[str, str], static: dict[str, str]
) -> None:
    by_synonym = {key.synonym: key.name for key in definition("topic").values()}
    configs = {by_synonym[name]: value for name, value in topic.items()}
    entries: list[ConfigEntry] = describe("topics", "t", configs, BrokerLayers(broker, cluster, static))
    for entry in entries:
        if entry.synonyms:
            assert entry.synonyms[0].value == entry.value
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
    set_on_topic = {entry.name for entry in entries if entry.source == "DYNAMIC_TOPIC_CONFIG"}
    assert set_on_topic == set(configs)


def test_other_lines() -> None:
    assert missing_line("topics", "x") == "The topic 'x' doesn't exist and doesn't have dynamic config."
    assert updated_line("topics", "x") == "Completed updating config for topic x."
    assert updated_line("brokers", "") == "Completed updating default config for brokers in the cluster."
    quotas = {"request_percentage": 200.0, "consumer_byte_rate": 1e9}
    assert quota_line({"client-id": "c", "user": None}, quotas) == (
        "Quota configs for the default user-principal, client-id 'c' are "
        "consumer_byte_rate=1.0E9, request_percentage=200.0"
    )
    assert scram_line("u", {"SCRAM-SHA-256": 4096}) == (
        "SCRAM credential configs for user-principal 'u' are SCRAM-SHA-256=iterations=4096"
    )
