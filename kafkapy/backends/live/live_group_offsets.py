"""What groups have committed: asked for, changed and deleted through their coordinators.

OffsetFetch takes many groups in one request. Topics are named, not told by id: newer versions of OffsetFetch and
OffsetCommit want ids, so that a topic that was deleted and made again is another one; for what an administrator asks
the name is what is meant, as in Kafka's own client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from kafkapy.backends.live.client import PASSING, Call
from kafkapy.backends.live.live_group_coordinators import GroupCoordinators
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

LAST_WITH_NAMES = 9
"""The newest version of OffsetFetch and OffsetCommit that names topics."""

Offsets = dict[TopicPartition, OffsetAndMetadata]
T = TypeVar("T")


def committed_offsets(
    coordinators: GroupCoordinators, group_ids: Iterable[str], problems: list[str]
) -> dict[str, Offsets | KafkaError]:
    """What groups have committed, sorted by partition. What a coordinator cannot tell of one partition is told to
    ``problems``."""

    def request(ids: Sequence[str], node: int) -> Call:
        groups = [{"groupId": group_id, "topics": None} for group_id in ids]
        return Call("OffsetFetch", {"groups": groups}, node, LAST_WITH_NAMES)

    return coordinators.ask_each(group_ids, request, lambda group, _: _offsets(group, problems))


def _offsets(group: Value, problems: list[str]) -> Offsets:
    found: Offsets = {}
    for topic in group["topics"]:
        for each in topic["partitions"]:
            partition = TopicPartition(topic["name"], each["partitionIndex"])
            if each["errorCode"] != NONE:
                problems.append(f"group {group['groupId']}, {partition}: {error_code(each['errorCode']).message}")
            elif each["committedOffset"] >= 0:
                commit = each["committedOffset"], each["committedLeaderEpoch"], each["metadata"] or ""
                found[partition] = OffsetAndMetadata(*commit)
    return dict(sorted(found.items()))


def alter_offsets(
    coordinators: GroupCoordinators, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> None:
    """Commit as somebody who is no member."""
    topics = [
        {"name": topic, "partitions": [_commit(number, offset) for number, offset in found.items()]}
        for topic, found in by_topic(offsets).items()
    ]
    fields = {"groupId": group_id, "topics": topics}

    def read(response: Value) -> dict[TopicPartition, int]:
        codes = partition_codes(response["topics"])
        _raise_passing(codes.values())
        return codes

    codes = coordinators.ask_one(group_id, lambda node: Call("OffsetCommit", fields, node, LAST_WITH_NAMES), read)
    raise_failed_partitions({partition: code for partition, code in codes.items() if code != NONE})


def _commit(number: int, offset: OffsetAndMetadata) -> Value:
    return {
        "partitionIndex": number,
        "committedOffset": offset.offset,
        "committedLeaderEpoch": offset.leader_epoch,
        "committedMetadata": offset.metadata,
    }


def delete_offsets(
    coordinators: GroupCoordinators, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, KafkaError | None]:
    """Forget commits; why not, for each that stays."""
    asked = dict.fromkeys(partitions)
    topics = [
        {"name": topic, "partitions": [{"partitionIndex": number} for number in found]}
        for topic, found in by_topic(asked).items()
    ]

    def read(response: Value) -> dict[TopicPartition, int]:
        raise_for(response["errorCode"])
        return partition_codes(response["topics"])

    fields = {"groupId": group_id, "topics": topics}
    codes = coordinators.ask_one(group_id, lambda node: Call("OffsetDelete", fields, node), read)
    return {partition: _answer(partition, codes) for partition in asked}


def _answer(partition: TopicPartition, codes: Mapping[TopicPartition, int]) -> KafkaError | None:
    if partition not in codes:
        text = f'Offset deletion result for partition "{partition}" was not included in the response'
        return KafkaError("IllegalArgumentException", text)
    return None if codes[partition] == NONE else kafka_error(codes[partition])


def delete_groups(coordinators: GroupCoordinators, group_ids: Iterable[str]) -> dict[str, KafkaError | None]:
    """Forget groups; why not, for each that stays."""

    def request(ids: Sequence[str], node: int) -> Call:
        return Call("DeleteGroups", {"groupsNames": list(ids)}, node)

    return coordinators.ask_each(group_ids, request, lambda _, __: None, "results")


def by_topic(partitions: Mapping[TopicPartition, T]) -> dict[str, dict[int, T]]:
    """The values of partitions, by topic and number."""
    topics: dict[str, dict[int, T]] = {}
    for (topic, number), value in sorted(partitions.items()):
        topics.setdefault(topic, {})[number] = value
    return topics


def partition_codes(topics: Iterable[Value]) -> dict[TopicPartition, int]:
    """The error codes in a response, by partition."""
    return {
        TopicPartition(topic["name"], each["partitionIndex"]): each["errorCode"]
        for topic in topics
        for each in topic["partitions"]
    }


def _raise_passing(codes: Iterable[int]) -> None:
    for code in codes:
        if code != NONE and (error_code(code).exception in PASSING or error_code(code).name == "REBALANCE_IN_PROGRESS"):
            raise kafka_error(code)


def raise_failed_partitions(failed: Mapping[TopicPartition, int]) -> None:
    """The error of partitions that could not be altered, as Kafka's client tells it."""
    for code in failed.values():
        names = ", ".join(map(str, failed))
        raise kafka_error(code, f"Failed altering group offsets for the following partitions: [{names}]")
