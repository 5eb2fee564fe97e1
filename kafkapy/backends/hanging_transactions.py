"""Transactions that are open in a partition and that nobody is going to end.

Kafka takes an open transaction for hanging when nothing was written to it for longer than any producer may take, and no
coordinator has a transaction of the producer with that partition in it: its marker is lost, or a late batch opened it
again.

A coordinator that runs aborts a transaction as soon as it is past its timeout, so with Kafka's tool "the coordinator
has it" means that a marker will come (``Transactions.ends_by_itself``). Files have no coordinator that runs: after a
crash a transaction may stand in ``__transaction_state`` as Ongoing for ever, or as PrepareCommit or PrepareAbort with
markers that are still to be written. Therefore one that is past its own timeout is hanging here too, whoever has it. Of
one whose end is decided the time is counted from the decision, and ``decided`` tells it: its coordinator is to write
the marker, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.producers import ActiveProducer
from kafkapy.coordinator.transaction_state import TransactionMetadata
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.near_misses import hinting, listed


class Scope(NamedTuple):
    """Where to search: a topic, or one partition of it, or what a broker has; None does not limit."""

    topic: str | None = None
    partition: int | None = None
    broker_id: int | None = None


class OpenTransaction(NamedTuple):
    """A transaction that is open in a partition."""

    partition: TopicPartition
    producer: ActiveProducer
    decided: TransactionMetadata | None = None


class Skipped(NamedTuple):
    """A partition whose producers could not be found out, or not all of them."""

    partition: TopicPartition
    reason: KafkapyError


def find_hanging(cluster: Cluster, scope: Scope, max_timeout_ms: int) -> Iterator[OpenTransaction | Skipped]:
    """The hanging transactions by partition and producer id."""
    if scope.broker_id is not None and scope.broker_id not in cluster.log_dir_brokers():
        there = listed(cluster.log_dir_brokers())
        raise KafkapyError(f"nothing of broker {scope.broker_id} is in {cluster.where}: they belong to {there}")
    found = list(_old_transactions(cluster, scope, max_timeout_ms))
    transactions = cluster.transactions()
    states = transactions.of_producers(
        {each.producer.producer_id for each in found if isinstance(each, OpenTransaction)}
    )
    for each in found:
        if isinstance(each, Skipped):
            yield each
            continue
        state = states.get(each.producer.producer_id)
        if state is None or each.partition not in state.partitions:
            yield each
        elif not transactions.ends_by_itself(state):
            yield each._replace(decided=state if state.state.is_prepared else None)


def _old_transactions(cluster: Cluster, scope: Scope, max_timeout_ms: int) -> Iterator[OpenTransaction | Skipped]:
    """What is open, and was not written to for so long that no producer may be at it."""
    for partition, known in cluster.producers(_partitions(cluster, scope), scope.broker_id).items():
        if isinstance(known, KafkapyError):
            yield Skipped(partition, known)
            continue
        now = cluster.now
        for producer in known.producers:
            if producer.current_txn_start_offset is not None and now - producer.last_timestamp > max_timeout_ms:
                yield OpenTransaction(partition, producer)
        if known.damage is not None:
            yield Skipped(partition, KafkapyError(known.damage))


def _partitions(cluster: Cluster, scope: Scope) -> list[TopicPartition]:
    if scope.topic is not None and scope.partition is not None:
        return [TopicPartition(scope.topic, scope.partition)]
    topics = cluster.image().topics
    if scope.topic is not None and scope.topic not in topics:
        error = KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
        raise hinting(error, "topic", scope.topic, topics)
    names = sorted(topics) if scope.topic is None else [scope.topic]
    every = (TopicPartition(name, number) for name in names for number in sorted(topics[name].partitions))
    if scope.broker_id is None:
        return list(every)
    return [each for each in every if scope.broker_id in _brokers(cluster, each)]


def _brokers(cluster: Cluster, partition: TopicPartition) -> set[int | None]:
    """The brokers that should have a replica; without metadata, those that have one."""
    if cluster.has_metadata:
        return set(cluster.image().topics[partition.topic].partitions[partition.partition].replicas)
    return {broker_id for broker_id, replica in cluster.replica_places() if replica.partition == partition}
