"""The producers that a partition knows, as a broker answers DescribeProducers: from the newest producer snapshot, and
the log behind it.

A running broker forgets a producer a day after it was last heard of. Here all are listed that the files still know,
because a directory may be looked at long after its broker stopped.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.producers import ActiveProducer, NotHere, PartitionProducers, Producers
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.producer_append import ProducerEntry
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean, hinting_number


def list_producers(
    cluster: LogDirsCluster, partitions: Iterable[TopicPartition], broker_id: int | None = None
) -> Producers:
    """By partition, as the leader knows them or the replica on ``broker_id``."""
    return {partition: _producers(cluster, partition, broker_id) for partition in partitions}


def _producers(
    cluster: LogDirsCluster, partition: TopicPartition, broker_id: int | None
) -> PartitionProducers | KafkapyError:
    try:
        reader = _replica_reader(cluster, partition, broker_id)
        found = [_listed(producer_id, entry) for producer_id, entry in sorted(reader.producers.producers.items())]
    except KafkapyError as error:
        return error
    return PartitionProducers(found, reader.damage)


def _replica_reader(cluster: LogDirsCluster, partition: TopicPartition, broker_id: int | None) -> PartitionReader:
    """The log that knows the producers: the leader's, or that of the replica on ``broker_id``."""
    _check_exists(cluster, partition)
    reader = cluster.reader(partition) if broker_id is None else _replica(cluster, partition, broker_id)
    if reader is None:
        raise NotHere(f"no copy of {partition} is in {cluster.where}")
    return reader


def _check_exists(cluster: LogDirsCluster, partition: TopicPartition) -> None:
    topics = cluster.image().topics
    topic = topics.get(partition.topic)
    if topic is None:
        hint = did_you_mean(partition.topic, topics, VERY_SIMILAR)
        raise KafkapyError(f"there is no topic '{partition.topic}'{hint}")
    if partition.partition not in topic.partitions:
        count = len(topic.partitions)
        raise KafkapyError(f"topic '{partition.topic}' has no partition {partition.partition}: it has {count}")


def _replica(cluster: LogDirsCluster, partition: TopicPartition, broker_id: int) -> PartitionReader:
    for replica in cluster.dirs.replicas.get(partition, ()):
        if not replica.is_future and cluster.dirs.broker_ids[replica.log_dir] == broker_id:
            return cluster.dirs.reader(replica)
    error = KafkaError(
        "NotLeaderOrFollowerException",
        f"Failed to describe active producers for partition {partition} on brokerId {broker_id}",
    )
    raise hinting_number(error, "broker", broker_id, cluster.image().brokers)


def _listed(producer_id: int, entry: ProducerEntry) -> ActiveProducer:
    return ActiveProducer(
        producer_id,
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.last_sequence,
        entry.last_timestamp,
        entry.current_txn_first_offset if entry.has_open_txn else None,
    )
