"""The high watermarks that the replicas of a cluster directory will have as soon as a command opens it to write.

A command that writes lets the in-sync followers fetch, and then who lags for too long leaves the ISR. Both move high
watermarks, and retention and compaction go no further than these. Who only reads works it out here from what lies
there: logs that were closed in good order are where the fetches would bring them.

After a crash nothing is known before recovery, and every log counts to its end.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.replication import eligible_leaders, replication_settings
from kafkapy.formats import clean_shutdown, offset_checkpoint
from kafkapy.log.checkpoints import read_checkpoint
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration


class _Log(NamedTuple):
    """Where a replica's log ends, and its high watermark as it was kept."""

    end: int
    high_watermark: int


def expected_high_watermarks(cluster: DirectoryReader, partition: TopicPartition) -> dict[int, int]:
    """By broker, of those that run; none where every log counts to its end."""
    registration = cluster.image().topics[partition.topic].partitions[partition.partition]
    logs = _logs(cluster, partition)
    if logs is None or _has_acting_leader(cluster, registration):
        return {}
    found = {broker_id: log.high_watermark for broker_id, log in logs.items()}
    leader = logs.get(registration.leader)
    if leader is None:
        return found
    in_sync = [each for each in registration.isr if each in logs and each != registration.leader]
    fetching = [each for each in in_sync if each in cluster.brokers.fetching]
    settings = replication_settings(cluster.image(), partition.topic)
    min_isr = min(settings.min_insync_replicas, len(registration.replicas))
    lagging = {each: logs[each].end for each in in_sync if each not in fetching}
    if (fetching or not lagging) and len(registration.isr) >= min_isr:
        found[registration.leader] = max(leader.high_watermark, min([leader.end, *lagging.values()]))
    found |= dict.fromkeys(fetching, found[registration.leader])
    kept = {
        each: end
        for each, end in lagging.items()
        if end == leader.end or cluster.now - cluster.brokers[each].since <= settings.replica_lag_time_max_ms
    }
    if len(kept) < len(lagging) and len(registration.isr) - len(lagging) + len(kept) >= min_isr:
        found[registration.leader] = max(found[registration.leader], min([leader.end, *kept.values()]))
    return found


def _logs(cluster: DirectoryReader, partition: TopicPartition) -> dict[int, _Log] | None:
    """The replicas on brokers that run; None after a crash."""
    found: dict[int, _Log] = {}
    for path in cluster.dirs.paths:
        if not os.path.exists(os.path.join(path, clean_shutdown.FILE_NAME)):
            return None
    for replica in cluster.dirs.replicas.get(partition, ()):
        broker_id = cluster.dirs.broker_ids[replica.log_dir]
        if broker_id is not None and not replica.is_future:
            reader = cluster.dirs.reader(replica)
            kept = read_checkpoint(replica.log_dir, offset_checkpoint.HIGH_WATERMARK_FILE).get(partition, 0)
            end = reader.log_end_offset
            found[broker_id] = _Log(end, max(reader.log_start_offset, min(kept, end)))
    return found


def _has_acting_leader(cluster: DirectoryReader, registration: PartitionRegistration) -> bool:
    """Whether somebody leads whom the metadata does not name: all replicas are brought up with it then."""
    eligible = eligible_leaders(registration, cluster.brokers.known)
    return registration.leader == NO_LEADER and not cluster.brokers.alive.isdisjoint(eligible)
