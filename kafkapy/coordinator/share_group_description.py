"""Where a share group stands in each partition: what is told of its offsets.

A group has the partitions that it initialized, of topics that are still there. Its lag is what lies between the start
offset and the end of the log, without the records that are done with; nobody knows it before the first fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kafkapy.coordinator.group import ModernGroup
from kafkapy.coordinator.share_state import UNINITIALIZED, ShareStateKey, ShareStates
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage

EndOffset = Callable[[TopicPartition], int | None]


class SharePartitionOffset(NamedTuple):
    """All is None before the first fetch. The lag is None, too, where the end of the log is not known."""

    partition: TopicPartition
    start_offset: int | None = None
    leader_epoch: int | None = None
    lag: int | None = None


def share_group_offsets(
    group: ModernGroup, image: MetadataImage, states: ShareStates, end_offset: EndOffset
) -> list[SharePartitionOffset]:
    """The partitions of a share group, sorted."""
    found = (_offset(partition, key, states, end_offset) for partition, key in _initialized(group, image))
    return sorted(found, key=lambda offset: offset.partition)


def _initialized(group: ModernGroup, image: MetadataImage) -> Iterator[tuple[TopicPartition, ShareStateKey]]:
    names = {topic.id: topic.name for topic in image.topics.values()}
    for topic in (group.state_partitions or {"initializedTopics": ()})["initializedTopics"]:
        topic_id = topic["topicId"]
        for number in topic["partitions"] if topic_id in names else ():
            yield TopicPartition(names[topic_id], number), ShareStateKey(group.group_id, topic_id, number)


def _offset(
    partition: TopicPartition, key: ShareStateKey, states: ShareStates, end_offset: EndOffset
) -> SharePartitionOffset:
    state = states.state(key)
    if state.start_offset < 0:
        return SharePartitionOffset(partition)
    lag = None
    if state.delivery_complete_count != UNINITIALIZED and (end := end_offset(partition)) is not None:
        lag = end - state.start_offset - state.delivery_complete_count
    return SharePartitionOffset(
        partition,
        state.start_offset,
        state.leader_epoch if state.leader_epoch >= 0 else None,
        lag if lag is not None and lag >= 0 else None,
    )
