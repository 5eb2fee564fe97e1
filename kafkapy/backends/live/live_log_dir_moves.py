"""Moves of replicas between the log dirs of their brokers: AlterReplicaLogDirs, one request for each broker.

A broker moves what it has. Of a replica that it is about to get it remembers the log dir, and says that the replica is
not there: so it is asked again until it is, as Kafka's tool does.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping

from kafkapy.backends.live.client import Call, Client
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

AGAIN_AFTER_S = 0.1
NOT_YET = "ReplicaNotAvailableException"

Moves = dict[tuple[TopicPartition, int], str]


def begin_moves(client: Client, log_dirs: Mapping[tuple[TopicPartition, int], str], timeout_ms: int) -> Iterator[Moves]:
    """Begin the moves; those that began are handed out together. What is not there in time is an error."""
    pending, end = dict(log_dirs), time.monotonic() + timeout_ms / 1000
    while pending:
        begun = _begun(client, pending)
        if begun:
            yield begun
        pending = {replica: path for replica, path in pending.items() if replica not in begun}
        if not pending:
            return
        if time.monotonic() >= end:
            plural = "" if len(pending) == 1 else "s"
            names = ",".join(_name(*replica) for replica in _sorted(pending))
            message = f"Timed out before log directory move{plural} could be started for: {names}"
            raise KafkaError("TerseException", message)
        time.sleep(AGAIN_AFTER_S)


def _begun(client: Client, moves: Moves) -> Moves:
    """What has begun of the moves; an error for one that cannot."""
    brokers: dict[int, Moves] = defaultdict(dict)
    for (partition, broker), path in moves.items():
        brokers[broker][partition, broker] = path
    calls = [Call("AlterReplicaLogDirs", {"dirs": _dirs(wanted)}, broker) for broker, wanted in brokers.items()]
    begun: Moves = {}
    for broker, response in zip(brokers, client.call_all(calls), strict=True):
        if isinstance(response, KafkapyError):
            raise _failed(next(iter(_sorted(brokers[broker]))), response)
        for topic in response["results"]:
            for each in topic["partitions"]:
                replica = (TopicPartition(topic["topicName"], each["partitionIndex"]), broker)
                error = None if each["errorCode"] == NONE else kafka_error(each["errorCode"])
                if error is None:
                    begun[replica] = moves[replica]
                elif error.name != NOT_YET:
                    raise _failed(replica, error)
    return begun


def _dirs(moves: Moves) -> list[Value]:
    dirs: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for ((topic, number), _), path in sorted(moves.items()):
        dirs[path][topic].append(number)
    return [
        {"path": path, "topics": [{"name": topic, "partitions": numbers} for topic, numbers in topics.items()]}
        for path, topics in dirs.items()
    ]


def _failed(replica: tuple[TopicPartition, int], error: KafkapyError) -> KafkaError:
    return KafkaError("AdminCommandFailedException", f"Failed to alter dir for {_name(*replica)}: {error}")


def _name(partition: TopicPartition, broker: int) -> str:
    return f"{partition}-{broker}"


def _sorted(moves: Moves) -> list[tuple[TopicPartition, int]]:
    return sorted(moves, key=lambda replica: (replica[1], replica[0]))
