"""kafkapy get-offsets and GetOffsetShell on the same running cluster."""

from __future__ import annotations

import pytest

from tests.live_clients import Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs

TOPIC = "offsets-orders"
EMPTY = "offsets-empty"
WIDE = "offsets-wide"
BEGIN = 1_700_000_000_000


@pytest.fixture(scope="module", autouse=True)
def _topics(live: LiveKafka) -> None:
    live.create_topic(TOPIC, assignment=[[1, 2], [2, 3], [3, 1]])
    live.create_topic(EMPTY)
    live.create_topic(WIDE, partitions=12)
    live.commit("offsets-group", TOPIC, {0: 0})
    times = (0, 500, 200, 500)
    for partition in (0, 1):
        live.send(*(Sent(TOPIC, "v", None, partition, BEGIN + partition * 1000 + time) for time in times))
    live.produce(WIDE, ["a", "b"], 10)


@pairs(
    *(
        pair("get-offsets", "--topic", f"{TOPIC},{EMPTY}", "--time", time, code=0)
        for time in (
            "latest", "earliest", "max-timestamp", "earliest-local", "latest-tiered", "earliest-pending-upload",
            "-1", "-2", "-3", "-4", "-5", "-6",
            str(BEGIN), str(BEGIN + 400), str(BEGIN + 1300), "99999999999999", "0",
        )
    ),
    pair("get-offsets", code=0),
    pair("get-offsets", "--exclude-internal-topics", code=0),
    pair("get-offsets", "--topic", WIDE, code=0),
    pair("get-offsets", "--topic", "offsets-.*", code=0),
    pair("get-offsets", "--topic", TOPIC, "--partitions", "0,2", code=0),
    pair("get-offsets", "--partitions", "1", "--exclude-internal-topics", code=0),
    pair("get-offsets", "--topic", TOPIC, "--partitions", "0,1,", code=0),
    pair("get-offsets", "--topic", TOPIC, "--partitions", ",", code=0),
    pair("get-offsets", "--topic-partitions", f"{TOPIC}:1", code=0),
    pair("get-offsets", "--topic-partitions", f"{WIDE}:2-5,{TOPIC}:-2", code=0),
    pair("get-offsets", "--topic-partitions", f"offsets-w.*:9-,{EMPTY}", "--time", "earliest", code=0),
    pair("get-offsets", "--topic-partitions", ":11", code=0),
)  # fmt: skip
def test_offsets(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pairs(
    pair("get-offsets", "--topic", "not-there", code=1, stderr=True),
    pair("get-offsets", "--topic", TOPIC, "--partitions", "9", code=1, stderr=True),
    pair("get-offsets", "--topic", TOPIC, "--partitions", "1-3", code=1, stderr=True),
    pair("get-offsets", "--topic", "", code=1, stderr=True),
    pair("get-offsets", "--topic-partitions", ",", code=1, stderr=True),
    pair("get-offsets", "--topic", TOPIC, "--time", "soon", code=1, stderr=True),
    pair("get-offsets", "--topic", TOPIC, "--topic-partitions", TOPIC, code=1, stderr=True),
    pair("get-offsets", "--topic-partitions", f"{TOPIC}:a", code=1),
    pair("get-offsets", "--topic", "[", code=1),
)
def test_refused(live: LiveKafka, case: Pair) -> None:
    check(live, case)


def test_both_ends_of_a_partition_at_once(live: LiveKafka) -> None:
    """A request may name a partition only once."""
    from kafkapy.backends.cluster import EARLIEST, LATEST, MAX_TIMESTAMP
    from kafkapy.backends.selection import Selection, open_cluster
    from kafkapy.errors import KafkaError
    from kafkapy.log.topic_partition import TopicPartition

    cluster = open_cluster(Selection(bootstrap_server=live.bootstrap))
    first, missing = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 77)
    asked = [(first, LATEST), (first, EARLIEST), (missing, LATEST), (first, MAX_TIMESTAMP)]
    latest, earliest, error, newest = cluster.offsets(asked)
    assert (latest, earliest, newest) == (4, 0, 1)
    assert isinstance(error, KafkaError)
    assert error.name == "UnknownTopicOrPartitionException"
    cluster.close()


def test_a_leader_that_moves_is_found_again(live: LiveKafka) -> None:
    """Who asked before a broker stopped still gets its answers from who leads after."""
    from kafkapy.backends.cluster import LATEST
    from kafkapy.backends.selection import Selection, open_cluster
    from kafkapy.log.topic_partition import TopicPartition

    topic = live.create_topic(assignment=[[3, 1, 2]])
    live.produce(topic, ["a", "b"])
    cluster = open_cluster(Selection(bootstrap_server=live.bootstrap))
    assert cluster.offset(TopicPartition(topic, 0), LATEST) == 2
    live.stop_broker(3)
    try:
        assert cluster.offset(TopicPartition(topic, 0), LATEST) == 2
    finally:
        live.start_all()
        cluster.close()
