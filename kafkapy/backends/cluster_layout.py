"""A cluster as plans see it: metadata, and the sizes of logs."""

from __future__ import annotations

from collections.abc import Collection

from kafkapy.backends.cluster import Cluster
from kafkapy.errors import Unsupported
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.topics_image import NO_LEADER


def cluster_layout(cluster: Cluster, as_planned: bool = False, in_place: bool = False) -> Layout:
    """The layout; ``as_planned`` leaves out replicas that a reassignment under way removes, ``in_place`` also those
    that it adds, since they have yet to be copied.

    A partition is as large as its leader's log, else as its largest.
    """
    if not cluster.has_metadata:
        raise Unsupported(
            "planning",
            "log dirs without a metadata log",
            "name the log dirs of a controller, too: replicas stand there",
        )
    image = cluster.image()
    replicas, leaders = {}, {}
    for name, topic in image.topics.items():
        for number, found in topic.partitions.items():
            partition = TopicPartition(name, number)
            left_out = {
                *(found.removing_replicas if as_planned or in_place else ()),
                *(found.adding_replicas if in_place else ()),
            }
            replicas[partition] = tuple(broker for broker in found.replicas if broker not in left_out)
            if found.leader != NO_LEADER:
                leaders[partition] = found.leader
    brokers = {broker.id: broker.rack for broker in image.brokers.values()}
    return Layout(
        brokers, replicas, _sizes(cluster, leaders), leaders, frozenset(brokers).difference(cluster.live_brokers)
    )


def held_by_new_replicas(cluster: Cluster, layout: Layout, partitions: Collection[TopicPartition]) -> int:
    """The bytes that replicas have already which reassignments of these partitions add."""
    topics = cluster.image().topics
    adding = {each: topics[each.topic].partitions[each.partition].adding_replicas for each in partitions}
    brokers = {broker for added in adding.values() for broker in added}.intersection(cluster.live_brokers)
    return sum(
        min(replica.size, layout.size(replica.partition))
        for log_dir in (cluster.log_dirs(brokers) if brokers else ())
        for replica in log_dir.replicas
        if not replica.is_future and log_dir.broker_id in adding.get(replica.partition, ())
    )


def _sizes(cluster: Cluster, leaders: dict[TopicPartition, int]) -> dict[TopicPartition, int]:
    largest: dict[TopicPartition, int] = {}
    led: dict[TopicPartition, int] = {}
    for log_dir in cluster.log_dirs():
        for replica in log_dir.replicas:
            if replica.is_future:
                continue
            largest[replica.partition] = max(replica.size, largest.get(replica.partition, 0))
            if leaders.get(replica.partition) == log_dir.broker_id:
                led[replica.partition] = replica.size
    return {**largest, **led}
