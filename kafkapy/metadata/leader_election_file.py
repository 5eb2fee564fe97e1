"""The file of LeaderElectionCommand: the partitions that shall elect their leaders.

    {"partitions": [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}]}

What is wrong raises a KafkaError in the tool's words, without the name of the Java class that Kafka puts before some.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NoReturn

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition

MAX_INT = 2**31 - 1
EXAMPLE = '{"partitions": [{"topic": "orders", "partition": 0}]}'


def parse_partitions(data: bytes) -> list[TopicPartition]:
    """The partitions, in order. Kafka takes what is no JSON for an empty file; here it is told where it breaks off."""
    import json

    if not data.strip():
        _refuse("Replica election data is empty")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        _refuse(f"Replica election data is not JSON: {error}")
    if not isinstance(document, dict):
        _refuse(f"Expected JSON object, received {_text(document)}")
    if "partitions" not in document:
        _refuse('Replica election data is missing "partitions" field')
    entries = document["partitions"]
    if not isinstance(entries, list):
        _refuse(f"Expected JSON array, received {_text(entries)}")
    partitions = sorted(map(_partition, entries))
    duplicates = sorted({each for each, following in pairwise(partitions) if each == following})
    if duplicates:
        _refuse(f"Replica election data contains duplicate partitions: [{', '.join(map(str, duplicates))}]")
    return partitions


def _partition(entry: Any) -> TopicPartition:
    if not isinstance(entry, dict):
        _refuse(f"Expected JSON object, received {_text(entry)}")
    for field in ("topic", "partition"):
        if field not in entry:
            _refuse(f"No such field exists: `{field}`")
    topic, partition = entry["topic"], entry["partition"]
    if not isinstance(topic, str):
        _refuse(f"Expected `String` value, received {_text(topic)}")
    if type(partition) is not int or not -MAX_INT - 1 <= partition <= MAX_INT:
        _refuse(f"Expected `Integer` value, received {_text(partition)}")
    return TopicPartition(topic, partition)


def _text(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse(message: str) -> NoReturn:
    raise KafkaError("AdminOperationException", message)
