"""The files of plans: what is written is read again, and what is wrong is refused in Kafka's words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.reassignment_json import (
    format_reassignment,
    parse_brokers,
    parse_reassignment,
    parse_topics,
)

partitions = st.builds(TopicPartition, st.text(min_size=1, max_size=5), st.integers(0, 2**31 - 1))
assignments = st.dictionaries(partitions, st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True).map(tuple))


@given(replicas=assignments.filter(bool), data=st.data())
def test_what_is_written_is_read_again(replicas: dict[TopicPartition, tuple[int, ...]], data: st.DataObject) -> None:
    places = [(partition, broker) for partition, brokers in replicas.items() for broker in brokers]
    chosen = data.draw(st.sets(st.sampled_from(places)))
    log_dirs = {place: data.draw(st.text().filter(lambda path: path != "any")) for place in chosen}
    assert parse_reassignment(format_reassignment(replicas, log_dirs)) == (replicas, log_dirs)


def test_the_form_is_kafkas() -> None:
    replicas = {TopicPartition("t", 10): (2, 1), TopicPartition("t", 9): (3,)}
    assert format_reassignment(replicas, {(TopicPartition("t", 10), 1): "/d"}) == (
        '{"version":1,"partitions":[{"topic":"t","partition":9,"replicas":[3],"log_dirs":["any"]},'
        '{"topic":"t","partition":10,"replicas":[2,1],"log_dirs":["any","/d"]}]}'
    )
    assert format_reassignment({}) == '{"version":1,"partitions":[]}'


def entry(**fields: object) -> str:
    return json.dumps({"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2], **fields}]})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "The input string shouldn't be empty"),
        ("{", "Not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "Expected JSON object, received []"),
        ("{}", "Partition reassignment list cannot be empty"),
        ('{"version":2}', "Not supported version field value 2"),
        ('{"version":true}', "Expected `Integer` value, received true"),
        ('{"partitions":[{}]}', "No such field exists: `topic`"),
        (entry(partition=2**31), "Expected `Integer` value, received 2147483648"),
        (entry(replicas=3), "Expected `JSON array` value, received 3"),
        (entry(replicas=[]), "Partition replica list cannot be empty"),
        (
            entry(replicas=[2, 1, 2, 1]),
            "Partition replica lists may not contain duplicate entries: t-0 contains multiple entries for 1,2",
        ),
        (
            entry(log_dirs=["any"]),
            "Size of replicas list [1, 2] is different from size of log dirs list [any] for partition t-0",
        ),
        (
            json.dumps({"partitions": [{"topic": "t", "partition": 0, "replicas": [1]}] * 2}),
            "Partition reassignment contains duplicate topic partitions: t-0",
        ),
    ],
)
def test_what_is_wrong_with_a_plan(data: str, message: str) -> None:
    with pytest.raises(KafkaError) as refused:
        parse_reassignment(data)
    assert str(refused.value) == message


def test_topics_and_brokers() -> None:
    assert parse_topics('{"topics":[{"topic":"b"},{"topic":"a"}]} and more') == ["b", "a"]
    assert parse_topics("{}") == []
    assert parse_brokers("3,1,,") == (3, 1)
    with pytest.raises(KafkaError, match=r"List of topics to reassign contains duplicate entries: \[a\]"):
        parse_topics('{"topics":[{"topic":"a"},{"topic":"a"}]}')
    with pytest.raises(KafkaError, match="The input string is not a valid JSON"):
        parse_topics("no")
    with pytest.raises(KafkaError, match=r"Broker list contains duplicate entries: \[1, 3\]"):
        parse_brokers("3,1,1,3")
    with pytest.raises(KafkaError, match='For input string: ""'):
        parse_brokers("")
