"""A running cluster, behind the interface that every command uses.

What is asked of it becomes requests; each family of them has a module of its own here. The metadata is what the cluster
said when it was first asked, and is asked for anew after every change that was made through this object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import Appended, LogDir
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.network import Address
from kafkapy.backends.replicas import Replica
from kafkapy.errors import KafkaError, KafkapyError, Unsupported
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import Change
from kafkapy.metadata.configs.effective import ConfigEntry
from kafkapy.metadata.image import MetadataImage

if TYPE_CHECKING:
    from kafkapy.backends.live.live_groups import LiveGroups
    from kafkapy.backends.live.live_transactions import LiveTransactions
    from kafkapy.log.partition_reader import PartitionReader

FILES_ONLY = "it needs the brokers' files: use --log-dirs"


class LiveCluster:
    """The brokers that the bootstrap servers belong to."""

    has_metadata = True

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig) -> None:
        self.client = Client(bootstrap, config)
        self._image: MetadataImage | None = None

    @property
    def live_brokers(self) -> frozenset[int]:
        return frozenset(self.client.nodes())

    def image(self) -> MetadataImage:
        """The metadata, each section of it fetched when it is first looked at."""
        if self._image is None:
            from kafkapy.backends.live.live_image import live_image

            self._image = live_image(self.client)
        return self._image

    def config_entries(self, resource_type: int, names: Sequence[str]) -> dict[str, list[ConfigEntry] | KafkaError]:
        """Every config of resources, with where each value comes from; an error for a resource that cannot be told."""
        from kafkapy.backends.live.live_configs import config_entries

        return config_entries(self.client, resource_type, names)

    def offset(self, partition: TopicPartition, spec: int) -> int | None:
        (found,) = self.offsets([(partition, spec)])
        if isinstance(found, KafkapyError):
            raise found
        return found

    def offsets(self, asked: Sequence[tuple[TopicPartition, int]]) -> list[int | KafkapyError | None]:
        """Many offsets at once: one request a broker."""
        from kafkapy.backends.live.live_offsets import list_offsets

        return list_offsets(self.client, asked)

    def read(self, partition: TopicPartition, start: int, committed: bool = False) -> Iterator[Batch]:
        from kafkapy.backends.live.fetching import fetch_batches

        return fetch_batches(self.client, partition, start, committed)

    def log_dirs(self) -> list[LogDir]:
        from kafkapy.backends.live.live_log_dirs import describe_log_dirs

        return describe_log_dirs(self.client)

    def apply(self, *changes: Change) -> None:
        """Make the changes, those of one kind in one request; a running cluster knows no all-or-none."""
        from kafkapy.backends.live.live_changes import apply

        try:
            apply(self.client, changes)
        finally:
            self._image = None

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        from kafkapy.backends.live.live_producing import produce

        return produce(self.client, partition, batch, acks)

    def new_producer_id(self) -> int:
        from kafkapy.backends.live.live_producing import init_producer_id

        return init_producer_id(self.client)

    @cached_property
    def _groups(self) -> LiveGroups:
        from kafkapy.backends.live.live_groups import LiveGroups

        return LiveGroups(self.client)

    def groups(self) -> LiveGroups:
        return self._groups

    @cached_property
    def _transactions(self) -> LiveTransactions:
        from kafkapy.backends.live.live_transactions import LiveTransactions

        return LiveTransactions(self.client)

    def transactions(self) -> LiveTransactions:
        return self._transactions

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        from kafkapy.backends.live.live_changes import delete_records

        return delete_records(self.client, partition, before)

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        raise Unsupported("reading the files of a partition", "a running cluster", FILES_ONLY)

    def replica_places(self) -> list[tuple[int | None, Replica]]:
        raise Unsupported("looking for a partition's directories", "a running cluster", FILES_ONLY)

    def flush(self) -> None:
        """Brokers answer when a batch is where acks asks for it; there is nothing more to wait for."""

    def close(self) -> None:
        """Hang up."""
        self.client.close()
