"""A heartbeat of a member of a consumer group: what it asks, what it is refused for, and what it is answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkapy.coordinator.consumer_group_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    ConsumerGroupMember,
    PartitionEpochs,
)
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage

NOT_PROVIDED = -1
SERVER_ASSIGNORS = ("uniform", "range")  # the default first


class Heartbeat(NamedTuple):
    """ConsumerGroupHeartbeat: epoch 0 joins, -1 leaves, -2 leaves as a static member that means to come back. What is
    None, and a timeout of -1, is as it was; joining needs all but ids, rack and assignor. ``client_host`` is
    written as a broker writes it, ``/127.0.0.1``."""

    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = NOT_PROVIDED
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    owned: tuple[TopicPartition, ...] | None = None

    @property
    def is_joining(self) -> bool:
        """Whether it joins, or joins anew."""
        return self.member_epoch == JOIN_EPOCH

    @property
    def is_leaving(self) -> bool:
        """Whether it leaves, for good or for a while."""
        return self.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH)

    @property
    def is_full(self) -> bool:
        """Whether it tells everything, as a client does that may have missed an answer."""
        is_subscribed = self.subscribed_topic_names is not None or self.subscribed_topic_regex is not None
        return self.rebalance_timeout_ms != NOT_PROVIDED and is_subscribed and self.owned is not None


class HeartbeatAnswer(NamedTuple):
    """The member's epoch from now on, and what it has from now on; None: as before."""

    member_id: str
    member_epoch: int
    assignment: tuple[TopicPartition, ...] | None = None


def check_heartbeat(group_id: str, beat: Heartbeat) -> None:
    """Refuse what no coordinator would look at."""
    if beat.member_epoch > JOIN_EPOCH or beat.member_epoch == LEAVE_EPOCH:
        _check_not_empty(beat.member_id, "MemberId can't be empty.")
    _check_not_empty(group_id, "GroupId can't be empty.")
    _check_not_empty(beat.instance_id, "InstanceId can't be empty.")
    _check_not_empty(beat.rack_id, "RackId can't be empty.")
    if beat.is_joining:
        _check_join(beat)
    elif beat.member_epoch == LEAVE_STATIC_EPOCH:
        _check(beat.instance_id is not None, "InstanceId can't be null.")
    _check(beat.member_epoch >= LEAVE_STATIC_EPOCH, "MemberEpoch is invalid.")
    if beat.server_assignor is not None and beat.server_assignor not in SERVER_ASSIGNORS:
        raise KafkaError(
            "UnsupportedAssignorException",
            f"ServerAssignor {beat.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(SERVER_ASSIGNORS)}.",
        )


def check_member_epoch(member: ConsumerGroupMember, beat: Heartbeat, owned: Mapping[str, list[int]] | None) -> None:
    """Refuse a member that missed an epoch. One may come with the epoch before, if it has nothing that it should not
    have: the answer that told of the new one was lost."""
    if beat.is_joining or beat.member_epoch == member.member_epoch:
        return
    is_ahead = beat.member_epoch > member.member_epoch
    if not is_ahead and beat.member_epoch == member.previous_member_epoch and _is_within(owned, member.assigned):
        return
    raise KafkaError(
        "FencedMemberEpochException",
        f"The consumer group member has a {'greater' if is_ahead else 'smaller'} member epoch ({beat.member_epoch}) "
        f"than the one known by the group coordinator ({member.member_epoch}). "
        "The member must abandon all its partitions and rejoin.",
    )


def by_topic_id(image: MetadataImage, partitions: Iterable[TopicPartition] | None) -> dict[str, list[int]] | None:
    """Partitions as a coordinator knows them; those of topics that are gone are nobody's."""
    if partitions is None:
        return None
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        if topic in image.topics:
            found.setdefault(image.topics[topic].id, []).append(partition)
    return found


def by_topic_name(image: MetadataImage, assigned: PartitionEpochs) -> tuple[TopicPartition, ...]:
    """Partitions as a member knows them, sorted, without those of topics that are gone."""
    topics = ((image.topic_by_id(topic_id), partitions) for topic_id, partitions in assigned.items())
    return tuple(
        sorted(
            TopicPartition(topic.name, each) for topic, partitions in topics if topic is not None for each in partitions
        )
    )


def _check_join(beat: Heartbeat) -> None:
    _check(beat.rebalance_timeout_ms != NOT_PROVIDED, "RebalanceTimeoutMs must be provided in first request.")
    _check(beat.owned == (), "TopicPartitions must be empty when (re-)joining.")
    _check(
        beat.subscribed_topic_names is not None or beat.subscribed_topic_regex is not None,
        "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
    )


def _check(is_met: bool, message: str) -> None:
    if not is_met:
        raise KafkaError("InvalidRequestException", message)


def _check_not_empty(value: str | None, message: str) -> None:
    _check(value is None or bool(value.strip()), message)


def _is_within(owned: Mapping[str, list[int]] | None, assigned: PartitionEpochs) -> bool:
    if owned is None:
        return False
    return all(topic_id in assigned and assigned[topic_id].keys() >= set(owned[topic_id]) for topic_id in owned)
