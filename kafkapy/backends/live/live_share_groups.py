"""Where share groups stand in each partition: asked for, changed and deleted through their coordinators.

The coordinator knows the lag too, from Kafka 4.2 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafkapy.backends.live.client import Call
from kafkapy.backends.live.live_group_coordinators import GroupCoordinators
from kafkapy.backends.live.live_group_offsets import by_topic
from kafkapy.coordinator.share_group_description import SharePartitionOffset
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

Offsets = list[SharePartitionOffset]


def share_offsets(
    coordinators: GroupCoordinators, group_ids: Iterable[str], problems: list[str]
) -> dict[str, Offsets | KafkaError]:
    """Where share groups stand, sorted by partition. What a coordinator cannot tell of one partition is told to
    ``problems``."""

    def request(ids: Sequence[str], node: int) -> Call:
        groups = [{"groupId": group_id, "topics": None} for group_id in ids]
        return Call("DescribeShareGroupOffsets", {"groups": groups}, node)

    return coordinators.ask_each(group_ids, request, lambda group, _: _offsets(group, problems))


def _offsets(group: Value, problems: list[str]) -> Offsets:
    found = []
    for topic in group["topics"]:
        for each in topic["partitions"]:
            partition = TopicPartition(topic["topicName"], each["partitionIndex"])
            if each["errorCode"] != NONE:
                error = kafka_error(each["errorCode"], each["errorMessage"])
                problems.append(f"group {group['groupId']}, {partition}: {error}")
            else:
                found.append(_offset(partition, each))
    return sorted(found, key=lambda offset: offset.partition)


def _offset(partition: TopicPartition, answer: Value) -> SharePartitionOffset:
    if answer["startOffset"] < 0:
        return SharePartitionOffset(partition)
    epoch, lag = answer["leaderEpoch"], answer["lag"]
    return SharePartitionOffset(
        partition, answer["startOffset"], epoch if epoch >= 0 else None, lag if lag >= 0 else None
    )


def alter_share_offsets(coordinators: GroupCoordinators, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Have a group begin anew at these offsets."""
    topics = [
        {"topicName": topic, "partitions": [{"partitionIndex": each, "startOffset": at} for each, at in found.items()]}
        for topic, found in by_topic(offsets).items()
    ]

    def read(response: Value) -> Value:
        raise_for(response["errorCode"], response["errorMessage"])
        return response

    try:
        fields = {"groupId": group_id, "topics": topics}
        response = coordinators.ask_one(group_id, lambda node: Call("AlterShareGroupOffsets", fields, node), read)
    except KafkaError as error:
        raise _failed(error.name, sorted(offsets)) from None
    failed = {
        TopicPartition(topic["topicName"], each["partitionIndex"]): each["errorCode"]
        for topic in response["responses"]
        for each in topic["partitions"]
        if each["errorCode"] != NONE
    }
    for code in failed.values():
        raise _failed(kafka_error(code).name, failed)


def _failed(name: str, partitions: Iterable[TopicPartition]) -> KafkaError:
    """As Kafka's client tells it."""
    names = ", ".join(map(str, partitions))
    return KafkaError(name, f"Failed altering group offsets for the following partitions: [{names}]")


def delete_share_offsets(
    coordinators: GroupCoordinators, group_id: str, topics: Iterable[str]
) -> dict[str, KafkaError | None]:
    """Forget where a group stands in topics; why not, for each that stays."""
    asked = dict.fromkeys(topics)

    def read(response: Value) -> dict[str, KafkaError | None]:
        raise_for(response["errorCode"], response["errorMessage"])
        return {
            each["topicName"]: None
            if each["errorCode"] == NONE
            else kafka_error(each["errorCode"], each["errorMessage"])
            for each in response["responses"]
        }

    fields = {"groupId": group_id, "topics": [{"topicName": topic} for topic in asked]}
    found = coordinators.ask_one(group_id, lambda node: Call("DeleteShareGroupOffsets", fields, node), read)
    return {topic: found[topic] if topic in found else _not_told(topic) for topic in asked}


def _not_told(topic: str) -> KafkaError:
    text = f'Offset deletion result for topic "{topic}" was not included in the response'
    return KafkaError("IllegalArgumentException", text)
