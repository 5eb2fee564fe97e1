"""Reassignments of a running cluster: AlterPartitionReassignments and ListPartitionReassignments.

All partitions go into one request. The controller takes each for itself: some may have begun where others are refused.
Asking again for what is under way changes nothing, so a request whose answer was lost is sent again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from kafkapy.backends.live.client import Client
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import Reassign
from kafkapy.metadata.topics_image import PartitionRegistration

Targets = Mapping[TopicPartition, tuple[int, ...] | None]


def alter_reassignments(
    client: Client, targets: Targets, allow_factor_change: bool = True
) -> dict[TopicPartition, KafkaError]:
    """Begin reassignments, or take back those whose target is None; what was refused, and why."""
    fields = {
        "timeoutMs": client.config.request_timeout_ms,
        "allowReplicationFactorChange": allow_factor_change,
        "topics": [
            {"name": topic, "partitions": [{"partitionIndex": n, "replicas": r} for n, r in partitions.items()]}
            for topic, partitions in _by_topic(targets).items()
        ],
    }

    def attempt() -> Value:
        response = client.call("AlterPartitionReassignments", fields, client.controller())
        raise_for(response["errorCode"], response["errorMessage"])
        return response

    return {
        TopicPartition(topic["name"], each["partitionIndex"]): kafka_error(each["errorCode"], each["errorMessage"])
        for topic in client.retrying(attempt)["responses"]
        for each in topic["partitions"]
        if each["errorCode"] != NONE
    }


def list_reassignments(
    client: Client, partitions: Collection[TopicPartition] | None = None
) -> dict[TopicPartition, PartitionRegistration]:
    """The reassignments under way, sorted; of some partitions, or all. Of each only the replicas are known."""
    if partitions is not None and not partitions:
        return {}
    topics = None
    if partitions is not None:
        wanted = _by_topic(dict.fromkeys(partitions))
        topics = [{"name": topic, "partitionIndexes": list(numbers)} for topic, numbers in wanted.items()]

    def attempt() -> Value:
        fields = {"timeoutMs": client.config.request_timeout_ms, "topics": topics}
        response = client.call("ListPartitionReassignments", fields, client.controller())
        raise_for(response["errorCode"], response["errorMessage"])
        return response

    found = {
        TopicPartition(topic["name"], each["partitionIndex"]): _registration(each)
        for topic in client.retrying(attempt)["topics"]
        for each in topic["partitions"]
    }
    return {partition: state for partition, state in sorted(found.items()) if state.is_reassigning}


def reassign(client: Client, changes: Sequence[Reassign]) -> None:
    """The same as changes; the first error is raised."""
    targets = {TopicPartition(change.topic, change.partition): change.replicas for change in changes}
    for error in alter_reassignments(client, targets).values():
        raise error


def _by_topic(targets: Targets) -> dict[str, dict[int, list[int] | None]]:
    topics: dict[str, dict[int, list[int] | None]] = defaultdict(dict)
    for (topic, number), replicas in sorted(targets.items()):
        topics[topic][number] = None if replicas is None else list(replicas)
    return topics


def _registration(each: Value) -> PartitionRegistration:
    replicas = tuple(each["replicas"])
    adding, removing = tuple(each["addingReplicas"]), tuple(each["removingReplicas"])
    return PartitionRegistration(replicas, (), (), removing, adding)
