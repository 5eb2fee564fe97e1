"""A small cluster directory on which every command that prints rows has something to print."""

from __future__ import annotations

from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.coordinator.transactions import Producer

T0 = 1_767_225_600_000
"""2026-01-01T00:00:00Z"""
ORDERS = "orders"
HANGING = 4711


def made(directory: Path) -> str:
    """Three brokers, a topic of three partitions, a group that lags, and a transaction that nobody ends."""
    make_cluster(str(directory), 3, files=Files(sync=False))
    cluster = DirectoryCluster(str(directory), Files(sync=False), seed=7)
    cluster.apply(
        CreateTopic(ORDERS, 3, 3, configs={"retention.ms": "-1"}),
        CreateTopic(CONSUMER_OFFSETS, 1, 3),
        CreateTopic(TRANSACTION_STATE, 1, 3),
    )
    for number, value in enumerate((b"yes", b'a,"b"\nc: #d', b"\xff\x00")):
        records = [Record(each, T0 + each * 1000, b"k%d" % each, value) for each in range(5)]
        cluster.append(TopicPartition(ORDERS, number), encode_batch(records))
    done = Producer(cluster, "payments-1", TransactionCoordinator(cluster))
    done.send(TopicPartition(ORDERS, 0), "kept")
    done.end(commit=True)
    open_one = BatchOptions(producer_id=HANGING, producer_epoch=3, base_sequence=0, transactional=True)
    cluster.append(TopicPartition(ORDERS, 0), encode_batch([Record(0, T0, b"k", b"v")], open_one))
    cluster.groups().offset_manager.commit("billing", {TopicPartition(ORDERS, 0): OffsetAndMetadata(2)})
    cluster.close()
    return str(directory)
