"""A running cluster answers as its own brokers' directories do: the two are the same cluster, seen from both sides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkapy.backends.cluster import EARLIEST, Cluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.selection import Selection, open_cluster
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterClientQuotas, AlterConfigs, AlterPartition, CreatePartitions, CreateTopic
from kafkapy.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC
from tests.backends.contract import answers
from tests.live_clients import Sent
from tests.live_kafka import LiveKafka

BEGIN = 1_700_000_000_000
TOPICS = ("contract-a", "contract-b")


@pytest.fixture(scope="module")
def running(live: LiveKafka) -> Iterator[Cluster]:
    """The cluster, with some of everything that metadata can hold, made by kafkapy."""
    cluster = open_cluster(Selection(bootstrap_server=live.bootstrap))
    cluster.apply(
        CreateTopic("contract-a", assignments=((1, 2), (2, 3)), configs={"retention.ms": "-1"}),
        CreateTopic("contract-b", 1, 3),
        AlterConfigs(BROKER, "", {"log.cleaner.io.buffer.load.factor": "0.85"}),
        AlterConfigs(CLIENT_METRICS, "contract-metrics", {"interval.ms": "9000"}),
        AlterConfigs(GROUP, "contract-group", {"consumer.session.timeout.ms": "50000"}),
        AlterClientQuotas((("client-id", "contract"),), {"producer_byte_rate": 1000.0}),
    )
    live.wait_until_in_sync()
    cluster.apply(CreatePartitions("contract-a", 3, ((3, 1),)))
    live.wait_until_in_sync()
    for partition in range(2):
        live.send(*(Sent("contract-a", f"v{n}", "k", partition, BEGIN + n * 1000) for n in range(5)))
    yield cluster
    cluster.apply(
        AlterConfigs(BROKER, "", {}, ("log.cleaner.io.buffer.load.factor",)),
        AlterConfigs(CLIENT_METRICS, "contract-metrics", {}, ("interval.ms",)),
        AlterConfigs(GROUP, "contract-group", {}, ("consumer.session.timeout.ms",)),
        AlterClientQuotas((("client-id", "contract"),), {}, ("producer_byte_rate",)),
    )
    cluster.close()
    live.delete_topics(*TOPICS)


def stored(live: LiveKafka) -> LogDirsCluster:
    return LogDirsCluster(*(str(path) for path in sorted(live.directory.glob("broker-*"))))


def test_both_sides_tell_the_same(live: LiveKafka, running: Cluster) -> None:
    live.until(lambda: answers(stored(live), TOPICS, BEGIN)["configs"] == answers(running, TOPICS, BEGIN)["configs"])
    for name, answer in answers(stored(live), TOPICS, BEGIN).items():
        assert answers(running, TOPICS, BEGIN)[name] == answer, name


def test_what_a_topic_is_told_by_is_what_was_asked_for(running: Cluster) -> None:
    seen = answers(running, TOPICS, BEGIN)
    assert seen["offsets"]["contract-a-0"][:2] == [0, 5]
    assert seen["topics"]["contract-a"][1][2] == ((3, 1), {1, 3}, 3, (), ())
    assert seen["own"]["contract-a"] == {"retention.ms": "-1"}


def test_records_are_deleted(live: LiveKafka, running: Cluster) -> None:
    """Brokers write down where a log begins once a minute, so their files do not tell it yet."""
    partition = TopicPartition(live.create_topic(), 0)
    live.produce(partition.topic, ["a", "b", "c"])
    assert running.delete_records(partition, 2) == 2
    assert running.offset(partition, EARLIEST) == 2
    live.delete_topics(partition.topic)


def test_errors_are_those_of_the_brokers(running: Cluster) -> None:
    with pytest.raises(KafkaError, match="Topic 'contract-a' already exists") as error:
        running.apply(CreateTopic("contract-a"))
    assert error.value.name == "TopicExistsException"
    with pytest.raises(KafkaError) as error:
        running.offset(TopicPartition("contract-a", 99), -1)
    assert error.value.name == "UnknownTopicOrPartitionException"
    refused = running.config_entries(TOPIC, ["contract-a", "not-there"])["not-there"]
    assert isinstance(refused, KafkaError)
    assert refused.name == "UnknownTopicOrPartitionException"


def test_what_brokers_do_themselves_is_not_asked_of_them(running: Cluster) -> None:
    from kafkapy.errors import Unsupported

    with pytest.raises(Unsupported, match="AlterPartition is not supported by a running cluster"):
        running.apply(AlterPartition("contract-a", 0, (1,)))
