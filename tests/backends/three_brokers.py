"""Three brokers, a topic that all of them have, one that only broker 1 has, and commands on them.

Each command opens the directory, does its work and closes it, as one of kafkapy does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import replicate
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from kafkapy.metadata.topics_image import PartitionRegistration
from tests.backends.contract import batch, opened, values

P0, ALONE = TopicPartition("t", 0), TopicPartition("alone", 0)
TOPICS = {"t": (1, 2, 3), "alone": (1,)}
MARK = ".kafka_cleanshutdown"
LOG = "00000000000000000000.log"
TWO_RECORDS = (batch(b"a", b"b"),)
TWO_BATCHES = (batch(b"a"), batch(b"b"))


def make_three_brokers(
    directory: Path,
    batches: tuple[bytes, ...] = TWO_RECORDS,
    topics: Mapping[str, tuple[int, ...]] = TOPICS,
    elr: int = 1,
    log_dirs: int = 1,
) -> Path:
    """Topics of one partition, each with these batches."""
    features = {"eligible.leader.replicas.version": elr}
    make_cluster(str(directory), 3, wanted=features, files=Files(sync=False), log_dirs_per_broker=log_dirs)
    cluster = opened(directory, files=Files(sync=False))
    cluster.apply(*(CreateTopic(topic, assignments=(replicas,)) for topic, replicas in topics.items()))
    for topic in topics:
        for each in batches:
            cluster.append(TopicPartition(topic, 0), each)
    cluster.close()
    return directory


def do(directory: Path, work: Callable[..., Any], *args: object) -> Any:
    """One command, and what it answers."""
    return _command(directory, work, *args)[0]


def told(directory: Path, work: Callable[..., object], *args: object) -> list[str]:
    """One command, and what it had to put right."""
    return _command(directory, work, *args)[1].recovered


def _command(directory: Path, work: Callable[..., Any], *args: object) -> tuple[Any, DirectoryCluster]:
    cluster = opened(directory, files=Files(sync=False))
    try:
        return work(cluster, *args), cluster
    finally:
        cluster.close()


def produce(cluster: DirectoryCluster, value: bytes = b"c", acks: int = -1) -> object:
    return cluster.append(P0, batch(value), acks)


def catch_up(cluster: DirectoryCluster) -> object:
    return replicate(cluster, until_caught_up=True)


def nothing(cluster: DirectoryCluster) -> None:
    """A command that only opens the directory to write."""


def registration(directory: Path) -> PartitionRegistration:
    found: PartitionRegistration = do(directory, lambda cluster: cluster.places.registration(P0))
    return found


def read(directory: Path, partition: TopicPartition = P0) -> list[bytes | None]:
    found: list[bytes | None] = do(directory, values, partition)
    return found
