"""TopicCommand's lines. What no metadata tells is ``unknown``, which Kafka has no word for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

UNKNOWN = "unknown"


class Config(Protocol):
    """A config that is not by default."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str | None: ...


def topic_line(
    name: str, topic_id: str | None, partitions: int, replication_factor: int | None, configs: Iterable[Config] | None
) -> str:
    """The line of a topic."""
    shown = UNKNOWN if configs is None else ",".join(f"{config.name}={config.value}" for config in configs)
    identity = "" if topic_id is None else f"\tTopicId: {topic_id}"
    factor = UNKNOWN if replication_factor is None else replication_factor
    return f"Topic: {name}{identity}\tPartitionCount: {partitions}\tReplicationFactor: {factor}\tConfigs: {shown}"


def partition_line(
    topic: str,
    partition: int,
    leader: int | None,
    replicas: Iterable[int],
    isr: Iterable[int],
    elr: Iterable[int] | None,
    last_known_elr: Iterable[int] | None,
    moving: tuple[Iterable[int], Iterable[int]] | None = None,
) -> str:
    """The line of a partition; ``moving`` are the replicas that are being added and removed, an ELR that was not asked
    for is None."""
    moves = "" if moving is None else f"\tAdding Replicas: {_ids(moving[0])}\tRemoving Replicas: {_ids(moving[1])}"
    return (
        f"\tTopic: {topic}\tPartition: {partition}\tLeader: {'none' if leader is None else leader}"
        f"\tReplicas: {_ids(replicas)}\tIsr: {_ids(isr)}{moves}"
        f"\tElr: {_ids(elr)}\tLastKnownElr: {_ids(last_known_elr)}"
    )


def unknown_partition_line(topic: str, partition: int) -> str:
    """The line of a partition of which only the directory is known."""
    return (
        f"\tTopic: {topic}\tPartition: {partition}\tLeader: {UNKNOWN}\tReplicas: {UNKNOWN}\tIsr: {UNKNOWN}"
        f"\tElr: {UNKNOWN}\tLastKnownElr: {UNKNOWN}"
    )


def _ids(ids: Iterable[int] | None) -> str:
    return "N/A" if ids is None else ",".join(map(str, ids))
