"""The one interface behind every command: a cluster, whatever kind it is.

    directory   a cluster directory that kafkapy keeps; read and written
    log dirs    the data directories of real brokers; read only, never touched
    live        a running cluster, through a client library

A command never asks which kind it has. What a kind cannot do is an Unsupported error that names the operation, the kind
and a hint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.backends.administration import Administration
    from kafkapy.backends.batch_sender import Failed, Sender
    from kafkapy.backends.fetcher import Fetcher
    from kafkapy.backends.groups import Groups
    from kafkapy.backends.producer_identity import ProducerIdentity
    from kafkapy.backends.producer_options import ProducerOptions
    from kafkapy.backends.producers import Producers
    from kafkapy.backends.replica_control import ReplicaControl
    from kafkapy.backends.replica_diff import ReplicaDiff
    from kafkapy.backends.replicas import Replica
    from kafkapy.coordinator.transactions import Transactions
    from kafkapy.log.batch import Batch
    from kafkapy.log.partition_reader import PartitionReader
    from kafkapy.metadata.changes import Change
    from kafkapy.metadata.config_entries import Entries
    from kafkapy.metadata.image import MetadataImage

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
    """A log dir and what is in it. The broker is None where its meta.properties is gone; ``error`` is the full name of
    Kafka's exception for one that failed; the bytes of its disk are known of running brokers only."""

    broker_id: int | None
    path: str
    replicas: tuple[LogDirReplica, ...]
    error: str | None = None
    total_bytes: int | None = None
    usable_bytes: int | None = None


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

    @property
    def where(self) -> str:
        """What to call the place where the logs are looked for."""
        ...

    @property
    def now(self) -> int:
        """The time, in ms; that of a directory may be simulated."""
        ...

    def image(self) -> MetadataImage:
        """The metadata."""
        ...

    def read(self, partition: TopicPartition, start: int, committed: bool = False) -> Iterator[Batch]:
        """Whole batches from the one that has ``start`` on, as far as the isolation level allows."""
        ...

    def fetcher(self, committed: bool, tell: Callable[[str], object], channel: str = "") -> Fetcher:
        """Who reads several partitions at once. Readers that shall not wait for each other have a ``channel`` each;
        ``tell`` hears of what is waited for."""
        ...

    def salvage(self, partition: TopicPartition, tell: Callable[[str], object]) -> Iterator[Batch]:
        """All good batches of a partition, also behind damage; ``tell`` hears of what is not read."""
        ...

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """Every copy of a partition's log, the one that counts first; an error where there is none."""
        ...

    def damage(self, partition: TopicPartition) -> str | None:
        """Where and why the log that is read ends before its file does, or lacks a file; None where it is whole."""
        ...

    def loss(self, partition: TopicPartition) -> str | None:
        """The same, where it has cost records for certain: a torn write at the end, as crashes leave them, is none."""
        ...

    def offset(self, partition: TopicPartition, spec: int) -> int | None:
        """The offset of one of the names above, or of the first record at or after a timestamp; None for none."""
        ...

    def offsets(self, asked: Sequence[tuple[TopicPartition, int]]) -> Iterable[int | KafkapyError | None]:
        """The same of many, in their order; an error in the place of what cannot be told."""
        ...

    def config_resources(self, resource_type: int) -> list[str]:
        """The names of the resources of a type that have, or could have, configs; "" is the default of all brokers."""
        ...

    def config_entries(self, resource_type: int, names: Sequence[str], synonyms: bool = False) -> Entries:
        """Every config of resources, with the source of its value and, if asked for, all its synonyms; an error in the
        place of a resource that cannot be told."""
        ...

    def log_dir_brokers(self) -> list[int]:
        """The brokers whose log dirs can be told."""
        ...

    def log_dirs(self, brokers: Collection[int] | None = None) -> list[LogDir]:
        """Every log dir, or those of some brokers."""
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

    def topic_to_write(self, topic: str, tell: Callable[[str], object]) -> int:
        """How many partitions a topic has; one that does not exist is made with the brokers' defaults, if they make
        topics, and ``tell`` hears of it."""
        ...

    def sender(self, topic: str, options: ProducerOptions, failed: Failed, identity: ProducerIdentity) -> Sender:
        """Who brings a producer's batches to a topic; ``failed`` is told of how many records were refused, and why."""
        ...

    def new_producer_id(self) -> int:
        """A producer id that nobody has used."""
        ...

    def groups(self) -> Groups:
        """Who keeps the groups and their offsets."""
        ...

    def transactions(self) -> Transactions:
        """Who keeps the transactions."""
        ...

    def producers(self, partitions: Sequence[TopicPartition], broker_id: int | None = None) -> Producers:
        """The producers that partitions know, as their leaders tell or one broker."""
        ...

    def administration(self) -> Administration:
        """Who tells of the cluster as a whole."""
        ...

    def replica_control(self) -> ReplicaControl:
        """Who elects leaders and moves replicas."""
        ...

    def replica_diff(self) -> ReplicaDiff:
        """Who compares the copies of partitions."""
        ...

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset up to ``before`` (-1: the high watermark); where it stands now."""
        ...

    def delete_records_of(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | KafkapyError]:
        """The same of many partitions; an error in the place of one that was left alone."""
        ...

    def flush(self) -> None:
        """Bring everything that was appended to disk."""
        ...

    def close(self) -> None:
        """Leave the cluster as a clean stop would."""
        ...
