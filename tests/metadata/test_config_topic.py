"""What topics, brokers, groups and subscriptions may be configured to."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError, UsageError
from kafkapy.metadata.configs.broker_configs import (
    check_broker_configs,
    listener_base,
    merged,
    synonyms,
)
from kafkapy.metadata.configs.client_metrics_configs import check_client_metrics_configs
from kafkapy.metadata.configs.config_def import definition
from kafkapy.metadata.configs.group_configs import check_group_configs
from kafkapy.metadata.configs.quotas import check_deleted, check_names, check_quota, parse_quotas
from kafkapy.metadata.configs.topic_configs import check_topic_configs


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"nosuch": "1"}, "Unknown topic config name: nosuch"),
        ({"retention.ms": "abc"}, "Invalid value abc for configuration retention.ms: Not a number of type LONG"),
        ({"segment.bytes": "10"}, "Invalid value 10 for configuration segment.bytes: Value must be at least 1048576"),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        (
            {"remote.storage.enable": "true"},
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        ),
    ],
)
def test_refused_topic_configs(configs: dict[str, str], message: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_topic_configs(configs)
    assert (refused.value.name, str(refused.value)) == ("InvalidConfigurationException", message)


def test_the_first_in_kafkas_order_is_told() -> None:
    with pytest.raises(KafkaError, match=r"segment\.bytes"):
        check_topic_configs({"retention.ms": "x", "segment.bytes": "y"})


@given(st.dictionaries(st.sampled_from(sorted(definition("topic"))), st.text(max_size=8)))
def test_any_topic_configs_are_taken_or_refused(configs: dict[str, str]) -> None:
    with suppress(KafkaError):
        check_topic_configs(configs)


def test_what_the_brokers_set_counts_in_combinations() -> None:
    check_topic_configs({"max.compaction.lag.ms": "5"})
    with pytest.raises(KafkaError, match="conflict"):
        check_topic_configs({"max.compaction.lag.ms": "5"}, defaults={"min.compaction.lag.ms": "6"})


@pytest.mark.parametrize(
    ("configs", "per_broker", "message"),
    [
        ({"broker.id": "1", "node.id": "1"}, True, "Cannot update these configs dynamically: [broker.id, node.id]"),
        (
            {"listener.name.x.ssl.keystore.type": "PEM"},
            False,
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[listener.name.x.ssl.keystore.type]",
        ),
        ({"log.roll.ms": "0"}, False, "requirement failed: log.roll.ms must be greater than or equal to 1"),
        ({"log.cleaner.threads": "0"}, False, "/ by zero"),
    ],
)
def test_refused_broker_configs(configs: dict[str, str], per_broker: bool, message: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_broker_configs(configs, per_broker=per_broker, below={})
    assert (refused.value.name, str(refused.value)) == ("InvalidRequestException", message)


def test_broker_configs_are_checked_with_what_is_below() -> None:
    check_broker_configs({"log.cleaner.threads": "3"}, per_broker=False, below={})
    with pytest.raises(KafkaError, match="at least 1MB per cleaner thread"):
        check_broker_configs(
            {"log.cleaner.threads": "3"}, per_broker=False, below={"log.cleaner.dedupe.buffer.size": "3000000"}
        )


def test_names_of_one_broker_config() -> None:
    assert synonyms("log.retention.hours") == ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    assert synonyms("log.flush.interval.ms") == ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
    assert synonyms("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    name = "listener.name.sasl_ssl.plain.sasl.jaas.config"
    assert synonyms(name) == (name, "sasl.jaas.config")
    assert listener_base("listener.name.x.y.z") == "y.z"
    assert listener_base("listener.names") is None


def test_a_layer_wins_whatever_its_unit() -> None:
    assert merged({"log.roll.ms": "5", "log.roll.hours": "6"}) == {"log.roll.ms": "5", "log.roll.hours": "6"}
    assert merged({"log.roll.ms": "5"}, {"log.roll.hours": "6"}) == {"log.roll.hours": "6"}


def test_refused_group_configs() -> None:
    check_group_configs({"consumer.session.timeout.ms": "50000"})
    with pytest.raises(KafkaError, match="Unknown group config name: nosuch"):
        check_group_configs({"nosuch": "1"})
    with pytest.raises(KafkaError, match="must be less than or equal to group"):
        check_group_configs({"consumer.session.timeout.ms": "60001"})
    check_group_configs(
        {"consumer.session.timeout.ms": "60001"}, broker={"group.consumer.max.session.timeout.ms": "70000"}
    )


def test_refused_client_metrics_configs() -> None:
    check_client_metrics_configs("m", {"match": "client_id=a.*", "interval.ms": "100"})
    with pytest.raises(KafkaError, match="Illegal client matching pattern: client_id"):
        check_client_metrics_configs("m", {"match": "client_id"})
    with pytest.raises(KafkaError, match="interval must be between 100 and 3600000"):
        check_client_metrics_configs("m", {"interval.ms": "99"})


def test_refused_quotas() -> None:
    check_quota(["users", "clients"], "request_percentage", 0.5)
    with pytest.raises(KafkaError, match="producer_byte_rate cannot be a fractional value"):
        check_quota(["users"], "producer_byte_rate", 0.5)
    with pytest.raises(KafkaError, match="Invalid configuration key producer_byte_rate"):
        check_quota(["ips"], "producer_byte_rate", 1.0)
    with pytest.raises(KafkaError, match=r"Invalid config\(s\): a,b"):
        check_deleted(["c"], ["a", "c", "b"])
    with pytest.raises(UsageError, match="Cannot parse quota configuration value for producer_byte_rate: x"):
        parse_quotas({"producer_byte_rate": "x"})


def test_users_with_clients_have_no_credentials() -> None:
    check_names({"users": "u"}, ["SCRAM-SHA-256"], [])
    with pytest.raises(UsageError, match=r"for 'clients' .* Unexpected config names: Set\(SCRAM-SHA-256\)"):
        check_names({"users": "u", "clients": "c"}, ["SCRAM-SHA-256"], [])
