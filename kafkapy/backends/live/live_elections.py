"""Elections on request: ElectLeaders, all partitions in one request, and an answer for each.

Asked for all partitions, the controller leaves those out that need no election.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from kafkapy.backends.live.client import Client
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import ElectLeader
from kafkapy.metadata.elections import PREFERRED

_PREFERRED = 0
_UNCLEAN = 1


def elect(
    client: Client, election: str, partitions: Collection[TopicPartition] | None
) -> dict[TopicPartition, KafkaError | None]:
    """Elect leaders; for each partition why not. None asks for all."""
    if partitions is not None and not partitions:
        return {}
    fields = {
        "electionType": _PREFERRED if election == PREFERRED else _UNCLEAN,
        "topicPartitions": None if partitions is None else _by_topic(partitions),
        "timeoutMs": client.config.request_timeout_ms,
    }

    def attempt() -> Value:
        response = client.call("ElectLeaders", fields, client.controller())
        raise_for(response["errorCode"])
        return response

    return dict(sorted(_results(client.retrying(attempt)).items()))


def elect_leaders(client: Client, changes: Sequence[ElectLeader]) -> None:
    """The same as changes; the first error is raised."""
    wanted: dict[str, list[TopicPartition]] = defaultdict(list)
    for change in changes:
        wanted[change.election].append(TopicPartition(change.topic, change.partition))
    for election, partitions in wanted.items():
        for error in elect(client, election, partitions).values():
            if error is not None:
                raise error


def _by_topic(partitions: Collection[TopicPartition]) -> list[Value]:
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(partitions):
        topics[topic].append(number)
    return [{"topic": topic, "partitions": numbers} for topic, numbers in topics.items()]


def _results(response: Value) -> dict[TopicPartition, KafkaError | None]:
    return {
        TopicPartition(topic["topic"], each["partitionId"]): None
        if each["errorCode"] == NONE
        else kafka_error(each["errorCode"], each["errorMessage"])
        for topic in response["replicaElectionResults"]
        for each in topic["partitionResult"]
    }
