"""Transactions that are open in a partition and that nobody is going to end.

Kafka takes an open transaction for hanging when nothing was written to it for longer than any producer may take, and no
coordinator has a transaction of the producer with that partition in it: its marker is lost, or a late batch opened it
again.

A coordinator that runs aborts a transaction as soon as it is past its timeout, so with Kafka's tool "the coordinator
has it" means that a marker will come. Files have no coordinator that runs: after a crash a transaction may stand in
``__transaction_state`` as Ongoing for ever. Therefore one that is past its own timeout is hanging here too, whoever has
it. One that is within its timeout, or whose end is decided, is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.producer_listing import ActiveProducer, listed, replica_reader
from kafkapy.coordinator.transaction_state import TransactionMetadata
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.topic_partition import TopicPartition

States = Mapping[int, TransactionMetadata]
"""What coordinators know, by producer id."""


class Scope(NamedTuple):
    """Where to search: a topic, or one partition of it, or what a broker has; None does not limit. Without any limit
    all that the log dirs have a copy of is searched."""

    topic: str | None = None
    partition: int | None = None
    broker_id: int | None = None


class OpenTransaction(NamedTuple):
    """A transaction that is open in a partition."""

    partition: TopicPartition
    producer: ActiveProducer


class Skipped(NamedTuple):
    """A partition whose producers could not be found out, or not all of them."""

    partition: TopicPartition
    reason: KafkapyError


def find_hanging(cluster: LogDirsCluster, scope: Scope, max_timeout_ms: int) -> Iterator[OpenTransaction | Skipped]:
    """The hanging transactions by partition and producer id."""
    if scope.broker_id is not None and scope.broker_id not in cluster.dirs.broker_ids.values():
        raise KafkapyError(f"no log dir of broker {scope.broker_id} is among those given")
    states = {state.producer_id: state for state in cluster.transactions().transactions().values()}
    now = cluster.now
    for partition in _partitions(cluster, scope):
        try:
            reader = replica_reader(cluster, partition, scope.broker_id)
            producers = listed(reader)
        except KafkapyError as error:
            yield Skipped(partition, error)
            continue
        for producer in producers:
            if producer.current_txn_start_offset is None or now - producer.last_timestamp <= max_timeout_ms:
                continue
            if not _is_marker_to_come(states.get(producer.producer_id), partition, now):
                yield OpenTransaction(partition, producer)
        if reader.damage is not None:
            yield Skipped(partition, KafkapyError(reader.damage))


def not_here(cluster: LogDirsCluster) -> int:
    """How many partitions the log dirs have no copy of."""
    topics = cluster.image().topics
    every = (TopicPartition(name, number) for name, topic in topics.items() for number in topic.partitions)
    return sum(each not in cluster.dirs.replicas for each in every)


def _is_marker_to_come(state: TransactionMetadata | None, partition: TopicPartition, now: int) -> bool:
    return state is not None and partition in state.partitions and not state.is_timed_out(now)


def _partitions(cluster: LogDirsCluster, scope: Scope) -> list[TopicPartition]:
    if scope.topic is not None and scope.partition is not None:
        return [TopicPartition(scope.topic, scope.partition)]
    topics = cluster.image().topics
    if scope.topic is not None and scope.topic not in topics:
        raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
    names = sorted(topics) if scope.topic is None else [scope.topic]
    every = (TopicPartition(name, number) for name in names for number in sorted(topics[name].partitions))
    if scope == Scope():
        return [each for each in every if each in cluster.dirs.replicas]
    return [each for each in every if scope.broker_id is None or scope.broker_id in _brokers(cluster, each)]


def _brokers(cluster: LogDirsCluster, partition: TopicPartition) -> set[int | None]:
    """The brokers that should have a replica; without metadata, those that have one."""
    if cluster.has_metadata:
        return set(cluster.image().topics[partition.topic].partitions[partition.partition].replicas)
    return {cluster.dirs.broker_ids[replica.log_dir] for replica in cluster.dirs.replicas.get(partition, ())}
