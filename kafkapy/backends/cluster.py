"""The one interface behind every command: a cluster, whatever kind it is.

    directory   a cluster directory that kafkapy keeps; read and written
    log dirs    the data directories of real brokers; read only, never touched
    live        a running cluster, through a client library

A command never asks which kind it has. What a kind cannot do is an Unsupported error that names the operation, the kind
and a hint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkapy.backends.replicas import Replica
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import Change
from kafkapy.metadata.image import MetadataImage

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator
    from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator
    from kafkapy.log.partition_reader import PartitionReader

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


class Appended(NamedTuple):
    """Where a batch went; of a duplicate, where it went the first time."""

    first_offset: int
    last_offset: int
    duplicate: bool = False


class LogDirReplica(NamedTuple):
    """A partition's log in one log dir of one broker."""

    partition: TopicPartition
    size: int
    offset_lag: int
    is_future: bool


class LogDir(NamedTuple):
    """A log dir and what is in it. The broker is None where its meta.properties is gone."""

    broker_id: int | None
    path: str
    replicas: tuple[LogDirReplica, ...]


class Cluster(Protocol):
    """What commands ask of a cluster."""

    @property
    def has_metadata(self) -> bool:
        """Whether leaders, replicas and configs are known, or only what the names of directories tell."""
        ...

    @property
    def live_brokers(self) -> frozenset[int]:
        """The brokers that are up; of a cluster that is stopped as a whole, all."""
        ...

    def image(self) -> MetadataImage:
        """The metadata."""
        ...

    def read(self, partition: TopicPartition, start: int, committed: bool = False) -> Iterator[Batch]:
        """Whole batches from the one that has ``start`` on, as far as the isolation level allows."""
        ...

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """Every copy of a partition's log, the one that counts first; an error where there is none."""
        ...

    def offset(self, partition: TopicPartition, spec: int) -> int | None:
        """The offset of one of the names above, or of the first record at or after a timestamp; None for none."""
        ...

    def log_dirs(self) -> list[LogDir]:
        """Every log dir."""
        ...

    def replica_places(self) -> list[tuple[int | None, Replica]]:
        """Every directory of a partition, and whose it is."""
        ...

    def apply(self, *changes: Change) -> None:
        """Make all changes or none; a KafkaError says why not."""
        ...

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        """Append a batch as a producer sends it; the offsets it got. It is safe on disk after ``flush``."""
        ...

    def new_producer_id(self) -> int:
        """A producer id that nobody has used."""
        ...

    def groups(self) -> GroupCoordinator:
        """Who keeps the groups and their offsets."""
        ...

    def transactions(self) -> TransactionCoordinator:
        """Who keeps the transactions."""
        ...

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset up to ``before`` (-1: the high watermark); where it stands now."""
        ...

    def flush(self) -> None:
        """Bring everything that was appended to disk."""
        ...

    def close(self) -> None:
        """Leave the cluster as a clean stop would."""
        ...
