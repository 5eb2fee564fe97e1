"""A running cluster, behind the interface that every command uses.

What is asked of it becomes requests; each family of them has a module of its own here. The metadata is what the cluster
said when it was first asked, and is asked for anew after every change that was made through this object. A topic that
was made through it is in it: brokers hear of topics one after the other, and the one that is asked may be late.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import EARLIEST, Appended, LogDir
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.library.network import Address
from kafkapy.errors import KafkaError, KafkapyError, Unsupported
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.backends.batch_sender import Failed
    from kafkapy.backends.live.fetching import LiveFetcher
    from kafkapy.backends.live.live_administration import LiveAdministration
    from kafkapy.backends.live.live_groups import LiveGroups
    from kafkapy.backends.live.live_replica_control import LiveReplicaControl
    from kafkapy.backends.live.live_replica_diff import LiveReplicaDiff
    from kafkapy.backends.live.live_sender import LiveSender
    from kafkapy.backends.live.live_transactions import LiveTransactions
    from kafkapy.backends.producer_identity import ProducerIdentity
    from kafkapy.backends.producer_options import ProducerOptions
    from kafkapy.backends.producers import Producers
    from kafkapy.backends.replicas import Replica
    from kafkapy.log.batch import Batch
    from kafkapy.log.partition_reader import PartitionReader
    from kafkapy.metadata.changes import Change
    from kafkapy.metadata.configs.effective import ConfigEntry
    from kafkapy.metadata.image import MetadataImage

FILES_ONLY = "it needs the brokers' files: use --log-dirs"


class LiveCluster:
    """The brokers that the bootstrap servers belong to, or with ``of_controllers`` the controllers."""

    has_metadata = True
    where = "the running cluster"

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig, of_controllers: bool = False) -> None:
        self._bootstrap = bootstrap
        self._of_controllers = of_controllers
        self.client = Client(bootstrap, config, of_controllers)
        self._image: MetadataImage | None = None
        self._made: dict[str, float] = {}

    def anew(self, timeout_ms: int, setting: str) -> LiveCluster:
        """The same cluster over new connections, with settings that are not read again; one thing may take no longer
        than so, and ``setting`` is to be named as the reason. Whoever asks again and again tells itself of outages."""
        config = self.client.config._replace(tells_long_waits=False)
        if timeout_ms < config.api_timeout_ms:
            config = config._replace(api_timeout_ms=timeout_ms, api_timeout_setting=setting)
        return LiveCluster(self._bootstrap, config, self._of_controllers)

    @property
    def live_brokers(self) -> frozenset[int]:
        return frozenset(self.client.nodes())

    @property
    def now(self) -> int:
        return int(time.time() * 1000)

    def image(self) -> MetadataImage:
        """The metadata, each section of it fetched when it is first looked at."""
        if self._image is None:
            from kafkapy.backends.live.live_image import live_image

            self._image = live_image(self.client, self._made)
        return self._image

    def forget_metadata(self) -> None:
        """Ask anew when somebody looks."""
        self._image = None

    def config_entries(
        self, resource_type: int, names: Sequence[str], synonyms: bool = False
    ) -> dict[str, list[ConfigEntry] | KafkapyError]:
        """Every config of resources, with where each value comes from; an error for a resource that cannot be told."""
        from kafkapy.backends.live.live_configs import config_entries

        return config_entries(self.client, resource_type, names, synonyms)

    def config_resources(self, resource_type: int) -> list[str]:
        """The resources of a type; all groups, whether they have configs or not."""
        from kafkapy.backends.live.live_configs import list_config_resources
        from kafkapy.metadata.image import BROKER, BROKER_LOGGER, GROUP, TOPIC

        if resource_type == TOPIC:
            return sorted(self.image().topics)
        if resource_type in (BROKER, BROKER_LOGGER):
            return [*map(str, sorted(self.client.nodes())), ""]
        names = list_config_resources(self.client, resource_type)
        others = [group.group_id for group in self.groups().list()] if resource_type == GROUP else []
        return sorted({*names, *others})

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

    def fetcher(self, committed: bool, tell: Callable[[str], object], channel: str = "") -> LiveFetcher:
        """Who fetches from the leaders of many partitions at once."""
        from kafkapy.backends.live.fetching import LiveFetcher

        return LiveFetcher(self.client, committed, tell, channel)

    def salvage(self, partition: TopicPartition, tell: Callable[[str], object]) -> Iterator[Batch]:
        """What the leader serves: a broker leaves out nothing that it can read."""
        from kafkapy.backends.live.fetching import fetch_batches

        return fetch_batches(self.client, partition, self.offset(partition, EARLIEST) or 0, committed=False)

    def log_dir_brokers(self) -> list[int]:
        return sorted(self.client.nodes())

    def log_dirs(self, brokers: Collection[int] | None = None) -> list[LogDir]:
        from kafkapy.backends.live.live_log_dirs import describe_log_dirs

        return describe_log_dirs(self.client, brokers)

    def administration(self) -> LiveAdministration:
        from kafkapy.backends.live.live_administration import LiveAdministration

        return LiveAdministration(self.client)

    def replica_control(self) -> LiveReplicaControl:
        from kafkapy.backends.live.live_replica_control import LiveReplicaControl

        return LiveReplicaControl(self)

    def replica_diff(self) -> LiveReplicaDiff:
        from kafkapy.backends.live.live_replica_diff import LiveReplicaDiff

        return LiveReplicaDiff(self)

    def apply(self, *changes: Change) -> None:
        """Make the changes, those of one kind in one request; a running cluster knows no all-or-none."""
        from kafkapy.backends.live.live_changes import apply
        from kafkapy.metadata.changes import CreateTopic

        made = [change.name for change in changes if isinstance(change, CreateTopic)]
        self._image = None
        try:
            apply(self.client, changes)
        except KafkaError as error:
            if error.name == "TopicExistsException" and len(changes) == 1:
                self._expect(made)
            raise
        self._expect(made)

    def _expect(self, topics: Sequence[str]) -> None:
        """Have the metadata wait for topics that are there."""
        until = time.monotonic() + self.client.config.api_timeout_ms / 1000
        self._made |= dict.fromkeys(topics, until)

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        from kafkapy.backends.live.live_producing import produce

        return produce(self.client, partition, batch, acks)

    def topic_to_write(self, topic: str, tell: Callable[[str], object]) -> int:
        """How many partitions a topic has; asking for it lets the brokers make it, where they are set up so."""
        from kafkapy.backends.live.topic_creation import topic_to_write

        return topic_to_write(self.client, topic, tell)

    def sender(self, topic: str, options: ProducerOptions, failed: Failed, identity: ProducerIdentity) -> LiveSender:
        """Who sends batches to the leaders of their partitions, several at a time."""
        from kafkapy.backends.live.live_sender import LiveSender

        is_v2 = identity.transactional_id is None or self.transactions().is_v2
        return LiveSender(self.client, topic, options, failed, identity, is_v2)

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

    def producers(self, partitions: Sequence[TopicPartition], broker_id: int | None = None) -> Producers:
        from kafkapy.backends.live.live_producers import describe_producers

        return describe_producers(self.client, partitions, broker_id)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        found = self.delete_records_of({partition: before})[partition]
        if isinstance(found, KafkapyError):
            raise found
        return found

    def delete_records_of(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | KafkapyError]:
        """The same of many partitions: one request a broker."""
        from kafkapy.backends.live.live_changes import delete_records

        return delete_records(self.client, offsets)

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        raise Unsupported("reading the files of a partition", "a running cluster", FILES_ONLY)

    def damage(self, partition: TopicPartition) -> str | None:
        """Brokers look after that themselves."""
        return None

    def loss(self, partition: TopicPartition) -> str | None:
        return None

    def replica_places(self) -> list[tuple[int | None, Replica]]:
        raise Unsupported("looking for a partition's directories", "a running cluster", FILES_ONLY)

    def flush(self) -> None:
        """Brokers answer when a batch is where acks asks for it; there is nothing more to wait for."""

    def close(self) -> None:
        """Hang up."""
        self.client.close()
