"""What a coordinator needs of the cluster it runs in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import Change
from kafkapy.metadata.image import MetadataImage


class CoordinatorCluster(Protocol):
    """A cluster that can be written."""

    @property
    def now(self) -> int:
        """The time, in ms."""
        ...

    def image(self) -> MetadataImage:
        """The metadata."""
        ...

    def apply(self, *changes: Change) -> None:
        """Make all changes or none."""
        ...

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """Every copy of a partition's log, the one that counts first; an error where there is none."""
        ...

    def append_as_coordinator(self, partition: TopicPartition, batch: bytes, transaction_version: int) -> object:
        """Append, without what only clients are held to; markers are checked by the version of their transaction."""
        ...

    def sync(self, partitions: Iterable[TopicPartition]) -> None:
        """Return when all that was appended to these partitions would survive the machine."""
        ...

    def new_producer_id(self) -> int:
        """A producer id that nobody has used."""
        ...
