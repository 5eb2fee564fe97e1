"""Where the copies that brokers have begin and end: ListOffsets, asked as a tool that looks for faults does.

With that replica id any replica answers, leader or not, and with the end of its log, not the high watermark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.backends.live.client import Call, Client
from kafkapy.errors import KafkapyError
from kafkapy.formats.error_codes import NONE, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

DEBUGGING = -2  # the replica id with which every replica answers

Held = tuple[TopicPartition, int]
"""A partition's copy on a broker."""


class ReplicaEnd(NamedTuple):
    """One end of a copy, and the leader epoch there."""

    offset: int
    epoch: int


def replica_ends(client: Client, held: Sequence[Held], spec: int) -> dict[Held, ReplicaEnd | KafkapyError]:
    """Where copies begin or end; an error in the place of what could not be told."""
    brokers: dict[int, dict[str, list[int]]] = {}
    for (topic, number), broker in held:
        brokers.setdefault(broker, {}).setdefault(topic, []).append(number)
    calls = [Call("ListOffsets", _request(topics, spec), broker) for broker, topics in brokers.items()]
    found: dict[Held, ReplicaEnd | KafkapyError] = {}
    for broker, response in zip(brokers, client.call_all(calls), strict=True):
        if isinstance(response, KafkapyError):
            found.update((each, response) for each in held if each[1] == broker)
            continue
        for topic in response["topics"]:
            for each in topic["partitions"]:
                found[TopicPartition(topic["name"], each["partitionIndex"]), broker] = _end(each)
    missing = KafkapyError("the broker did not report its offsets")
    return {each: found.get(each, missing) for each in held}


def _request(topics: dict[str, list[int]], spec: int) -> Value:
    return {
        "replicaId": DEBUGGING,
        "topics": [
            {"name": name, "partitions": [{"partitionIndex": number, "timestamp": spec} for number in numbers]}
            for name, numbers in topics.items()
        ],
    }


def _end(partition: Value) -> ReplicaEnd | KafkapyError:
    if partition["errorCode"] != NONE:
        return kafka_error(partition["errorCode"])
    return ReplicaEnd(partition["offset"], partition["leaderEpoch"])
