"""A cluster directory at a glance: its brokers, and of every partition where each replica stands. Nothing is written.

What the files tell: log ends, and high watermarks as of the last clean close. What leaders know of their followers they
keep in memory only, so it is not here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.backends.cluster_file import ClusterFile, read_cluster_file
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.replicas import Replica
from kafkapy.formats import offset_checkpoint
from kafkapy.log.checkpoints import Offsets, read_checkpoint
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import PartitionRegistration
from kafkapy.replication.broker_state import RUNNING


class BrokerStatus(NamedTuple):
    """A broker, how many partitions it leads, has a replica of, and is in the ISR of; ``since_timestamp``
    when it stopped running, None where it runs."""

    broker_id: int
    rack: str | None
    state: str
    since_timestamp: int | None
    leaders: int
    replicas: int
    in_sync: int


class ReplicaStatus(NamedTuple):
    """A replica; offsets are None where its log is not there."""

    broker_id: int
    state: str
    is_leader: bool
    is_in_sync: bool
    log_start_offset: int | None
    log_end_offset: int | None
    high_watermark: int | None


class PartitionStatus(NamedTuple):
    """A partition and its replicas, in assignment order."""

    partition: TopicPartition
    registration: PartitionRegistration
    replicas: tuple[ReplicaStatus, ...]


class ClusterStatus:
    """What is to be told of a cluster directory."""

    def __init__(self, directory: str) -> None:
        self.cluster_file: ClusterFile = read_cluster_file(directory)
        paths = [os.path.join(directory, path) for broker in self.cluster_file.brokers for path in broker.log_dirs]
        self._cluster = LogDirsCluster(*paths)
        self._high_watermarks: dict[str, Offsets] = {}

    def close(self) -> None:
        """Tell if the metadata was not whole."""
        self._cluster.close()

    def brokers(self) -> list[BrokerStatus]:
        """Every broker."""
        registrations = [each for topic in self._cluster.image().topics.values() for each in topic.partitions.values()]
        return [
            BrokerStatus(
                broker.id,
                broker.rack,
                broker.state.state,
                None if broker.state.state == RUNNING else broker.state.since,
                sum(each.leader == broker.id for each in registrations),
                sum(broker.id in each.replicas for each in registrations),
                sum(broker.id in each.isr for each in registrations),
            )
            for broker in self.cluster_file.brokers
        ]

    def partitions(self, topic: str | None = None, exclude_internal: bool = False) -> Iterator[PartitionStatus]:
        """Every partition, or those of topics whose name is like ``topic``: there must be one then."""
        from kafkapy.metadata.topic_selection import check_matches, select_topics

        image = self._cluster.image()
        if topic is not None:
            check_matches(image, topic)
        for each in select_topics(image, topic, exclude_internal=exclude_internal):
            for number, registration in sorted(each.partitions.items()):
                partition = TopicPartition(each.name, number)
                copies = {self._cluster.dirs.broker_ids[copy.log_dir]: copy for copy in self._copies(partition)}
                rows = (self._replica(broker, registration, copies.get(broker)) for broker in registration.replicas)
                yield PartitionStatus(partition, registration, tuple(rows))

    def _copies(self, partition: TopicPartition) -> list[Replica]:
        return [copy for copy in self._cluster.dirs.replicas.get(partition, ()) if not copy.is_future]

    def _replica(self, broker_id: int, registration: PartitionRegistration, copy: Replica | None) -> ReplicaStatus:
        broker = self.cluster_file.broker(broker_id)
        reader = None if copy is None else self._cluster.dirs.reader(copy)
        kept = None if copy is None or reader is None else self._kept(copy.log_dir).get(copy.partition, 0)
        return ReplicaStatus(
            broker_id,
            "unknown" if broker is None else broker.state.state,
            broker_id == registration.leader,
            broker_id in registration.isr,
            None if reader is None else reader.log_start_offset,
            None if reader is None else reader.log_end_offset,
            None if reader is None or kept is None else max(reader.log_start_offset, min(kept, reader.log_end_offset)),
        )

    def _kept(self, log_dir: str) -> Offsets:
        if log_dir not in self._high_watermarks:
            self._high_watermarks[log_dir] = read_checkpoint(log_dir, offset_checkpoint.HIGH_WATERMARK_FILE)
        return self._high_watermarks[log_dir]
