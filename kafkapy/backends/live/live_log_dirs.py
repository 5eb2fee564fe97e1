"""Log dirs of running brokers: DescribeLogDirs, to all of them at once.

A log dir that failed is told with its error; a broker that does not answer fails the whole, unless all are meant and
the cluster drops it meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from kafkapy.backends.cluster import LogDir, LogDirReplica
from kafkapy.backends.live.client import Call, Client
from kafkapy.errors import KafkapyError
from kafkapy.formats.error_codes import NONE, code_of, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

UNKNOWN_BYTES = -1
_EXCEPTIONS = "org.apache.kafka.common.errors."


def describe_log_dirs(
    client: Client, brokers: Collection[int] | None = None, partitions: Collection[TopicPartition] | None = None
) -> list[LogDir]:
    """The log dirs of all brokers, or of some; by broker and path. With ``partitions`` only these are told of."""
    fields = {"topics": None if partitions is None else _by_topic(partitions)}

    def attempt() -> dict[int, Value]:
        asked = sorted(client.nodes() if brokers is None else brokers)
        responses: dict[int, Value] = {}
        calls = [Call("DescribeLogDirs", fields, broker) for broker in asked]
        for broker, response in zip(asked, client.call_all(calls), strict=True):
            if isinstance(response, KafkapyError):
                raise response
            responses[broker] = response
        return responses

    found = []
    for broker, response in client.retrying(attempt).items():
        if not response["results"]:
            # before version 3 an empty answer was all that who may not know was told
            raise kafka_error(response["errorCode"] or code_of("CLUSTER_AUTHORIZATION_FAILED"))
        found += [_log_dir(broker, result) for result in sorted(response["results"], key=lambda each: each["logDir"])]
    return found


def _by_topic(partitions: Collection[TopicPartition]) -> list[Value]:
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(partitions):
        topics[topic].append(number)
    return [{"topic": topic, "partitions": numbers} for topic, numbers in topics.items()]


def _log_dir(broker: int, result: Value) -> LogDir:
    replicas = sorted(
        LogDirReplica(
            TopicPartition(topic["name"], each["partitionIndex"]),
            each["partitionSize"],
            each["offsetLag"],
            each["isFutureKey"],
        )
        for topic in result["topics"]
        for each in topic["partitions"]
    )
    code = result["errorCode"]
    return LogDir(
        broker,
        result["logDir"],
        tuple(replicas),
        None if code == NONE else _EXCEPTIONS + error_code(code).exception,
        None if result["totalBytes"] == UNKNOWN_BYTES else result["totalBytes"],
        None if result["usableBytes"] == UNKNOWN_BYTES else result["usableBytes"],
    )
