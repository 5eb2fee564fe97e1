"""What unclean elections lose: the offsets that others have and the new leader does not.

Whoever is elected without having been in the ISR or ELR leads with the log it has. The other replicas cut theirs off by
its leader epochs when they follow it, also those of brokers that are down when they are back: what lies beyond is lost
from the election on, though it is still in their files. So these are read, of all brokers, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.replicas import LogDirs
from kafkapy.errors import FormatError
from kafkapy.log.epoch_comparison import truncation_offset
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER


class ElectionLoss(NamedTuple):
    """The offsets from ``first_offset`` up to ``end_offset`` (without it) are gone; ``brokers`` have them still."""

    partition: TopicPartition
    leader: int
    first_offset: int
    end_offset: int
    brokers: tuple[int, ...]


def election_losses(cluster: DirectoryCluster, before: MetadataImage) -> list[ElectionLoss]:
    """What was lost by the unclean elections since ``before``, by partition."""
    unclean = list(_unclean(before, cluster.image()))
    if not unclean:
        return []
    dirs = LogDirs(cluster.every_log_dir)
    losses = (_loss(dirs, partition, leader) for partition, leader in unclean)
    return [loss for loss in losses if loss is not None]


def _loss(dirs: LogDirs, partition: TopicPartition, leader: int) -> ElectionLoss | None:
    readers = {
        broker_id: dirs.reader(replica)
        for replica in dirs.replicas[partition]
        for broker_id in (dirs.broker_ids[replica.log_dir],)
        if broker_id is not None and not replica.is_future
    }
    cuts = {broker_id: _cut(readers[leader], reader) for broker_id, reader in readers.items() if broker_id != leader}
    losing = [broker_id for broker_id, cut in cuts.items() if cut < readers[broker_id].log_end_offset]
    if not losing:
        return None
    end = max(readers[broker_id].log_end_offset for broker_id in losing)
    return ElectionLoss(partition, leader, min(cuts[each] for each in losing), end, tuple(sorted(losing)))


def _unclean(before: MetadataImage, after: MetadataImage) -> Iterator[tuple[TopicPartition, int]]:
    """The partitions that are led by now by somebody who was neither in the ISR nor in the ELR, and by whom."""
    for name, topic in sorted(after.topics.items()):
        was = before.topics.get(name, topic)
        for number, registration in sorted(topic.partitions.items()) if was is not topic else ():
            old = was.partitions[number]
            if registration.leader not in (NO_LEADER, old.leader, *old.isr, *old.elr):
                yield TopicPartition(name, number), registration.leader


def _cut(leader: PartitionReader, follower: PartitionReader) -> int:
    """Where a follower cuts its log off; without epochs to go by, where the leader's ends."""
    try:
        leaders, followers = leader.epochs, follower.epochs
    except FormatError:
        leaders = followers = []
    cut = truncation_offset(leaders, leader.log_end_offset, followers, follower.log_end_offset)
    return min(leader.log_end_offset, follower.log_end_offset) if cut is None else cut
