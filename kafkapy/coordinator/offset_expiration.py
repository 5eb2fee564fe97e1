"""When a committed offset is forgotten: once the retention has passed since the group could last have needed it.

    group                           since
    simple, consumer, streams       the commit
    classic, empty                  it became empty; the commit, where the log does not tell
    classic, stable                 the commit; only of consumers, since of others it is not known what they read
    classic, in between             never

What a group is subscribed to is kept, and so is what an open transaction is about to commit. An offset with a time of
its own at which it expires goes by that time alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkapy.coordinator.classic_group_state import ClassicGroupState
from kafkapy.coordinator.group import GroupState, GroupType, ModernGroup
from kafkapy.coordinator.offset_and_metadata import NO_EXPIRE_TIMESTAMP, OffsetAndMetadata
from kafkapy.log.topic_partition import TopicPartition

_UNKNOWN = -1


def expired_offsets(
    group: ClassicGroupState | ModernGroup,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    pending: Collection[TopicPartition],
    older_than: tuple[int, int],
) -> list[TopicPartition]:
    """The partitions whose offsets are to go. ``older_than`` is the time now and the retention, both in ms."""
    if not _can_expire(group):
        return []
    return [
        partition
        for partition, offset in offsets.items()
        if partition not in pending
        and not is_subscribed(group, partition.topic)
        and _is_expired(offset, _needed_until(group, offset), *older_than)
    ]


def is_subscribed(group: ClassicGroupState | ModernGroup, topic: str) -> bool:
    """Whether members of a group read a topic."""
    if isinstance(group, ClassicGroupState):
        return group.is_subscribed_to(topic)
    return bool(group.members) and topic in _subscribed_topics(group)


def _is_expired(offset: OffsetAndMetadata, needed_until: int, now: int, retention_ms: int) -> bool:
    if offset.expire_timestamp != NO_EXPIRE_TIMESTAMP:
        return now >= offset.expire_timestamp
    return now - needed_until >= retention_ms


def _can_expire(group: ClassicGroupState | ModernGroup) -> bool:
    if isinstance(group, ModernGroup):
        return group.type is not GroupType.SHARE
    if not group.protocol_type or group.state is GroupState.EMPTY:
        return True
    return group.is_consumer_group and group.subscribed_topics is not None and group.state is GroupState.STABLE


def _needed_until(group: ClassicGroupState | ModernGroup, offset: OffsetAndMetadata) -> int:
    if isinstance(group, ModernGroup) or not group.protocol_type or group.state is not GroupState.EMPTY:
        return offset.commit_timestamp
    return offset.commit_timestamp if group.state_timestamp == _UNKNOWN else group.state_timestamp


def _subscribed_topics(group: ModernGroup) -> set[str]:
    if group.type is GroupType.STREAMS:
        subtopologies = group.topology["subtopologies"] if group.topology is not None else ()
        sources = {topic for each in subtopologies for topic in each["sourceTopics"]}
        return sources | {info["name"] for each in subtopologies for info in each["repartitionSourceTopics"]}
    topics: set[str] = set()
    for member in group.members.values():
        if member.metadata is not None:
            topics.update(member.metadata["subscribedTopicNames"])
            resolved = group.regular_expressions.get(member.metadata.get("subscribedTopicRegex") or "")
            topics.update(resolved["topics"] if resolved is not None else ())
    return topics
