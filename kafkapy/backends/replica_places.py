"""Where the replicas of a cluster directory lie: the log dirs of the brokers that are alive, opened to be written.

The metadata says which brokers have a replica, and in which log dir. Where it does not say which log dir of a broker it
is, it is the one that has the partition, else the one with the fewest partitions. Brokers that do not run have no part
in this: their directories are left as they are, and put right when they are started.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.errors import KafkaError
from kafkapy.formats.uuid import DIRECTORY_UNASSIGNED
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AssignReplicaToDir
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs


class ReplicaPlaces:
    """``image`` is the metadata as it is now; ``lost`` are the partitions of which every copy is gone, with what to
    tell of them (lost_replicas.py)."""

    def __init__(self, image: Callable[[], MetadataImage]) -> None:
        self._image = image
        self.lost: dict[TopicPartition, str] = {}
        self._by_broker: dict[int, dict[str, BrokerLogs]] = {}

    # ---- log dirs

    def add_broker(self, broker_id: int, logs: Mapping[str, BrokerLogs]) -> None:
        """A broker's log dirs, by directory id."""
        self._by_broker[broker_id] = dict(logs)

    def remove_broker(self, broker_id: int) -> list[BrokerLogs]:
        """A broker goes: its log dirs, which are to be closed."""
        return list(self._by_broker.pop(broker_id).values())

    @property
    def brokers(self) -> list[int]:
        """The brokers whose log dirs are open: those that are alive, and one that is being started."""
        return sorted(self._by_broker)

    def of_broker(self, broker_id: int) -> dict[str, BrokerLogs]:
        """The log dirs of a broker, by their ids."""
        return self._by_broker.get(broker_id, {})

    def all_logs(self) -> list[BrokerLogs]:
        """The log dirs of all brokers."""
        return [logs for own in self._by_broker.values() for logs in own.values()]

    def in_log_dir(self, log_dir: str) -> BrokerLogs:
        """The logs of one log dir."""
        return next(logs for logs in self.all_logs() if logs.log_dir == log_dir)

    # ---- partitions

    def all_partitions(self) -> list[TopicPartition]:
        """Every partition of the metadata."""
        topics = self._image().topics
        return sorted(TopicPartition(name, number) for name, topic in topics.items() for number in topic.partitions)

    def usable_partitions(self) -> list[TopicPartition]:
        """Every partition but the lost ones."""
        return [partition for partition in self.all_partitions() if partition not in self.lost]

    def registration(self, partition: TopicPartition) -> PartitionRegistration:
        """What the metadata says of a partition."""
        registration = find_registration(self._image(), partition)
        if registration is None:
            raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
        return registration

    def of(
        self, partition: TopicPartition, registration: PartitionRegistration | None = None
    ) -> Iterator[tuple[int, BrokerLogs]]:
        """The brokers of a partition's replicas and the log dirs it lies in, as far as they are open."""
        found = self.registration(partition) if registration is None else registration
        for broker_id, directory in zip(found.replicas, found.directories, strict=True):
            own = self.of_broker(broker_id)
            if directory in own:
                yield broker_id, own[directory]
            elif own:
                yield broker_id, _assumed(partition, [*own.values()])

    def directory_of(self, partition: TopicPartition, broker_id: int) -> str:
        """The id of the log dir in which a broker has a partition."""
        logs = dict(self.of(partition))[broker_id]
        return next(directory for directory, each in self.of_broker(broker_id).items() if each is logs)

    def unassigned(self) -> Iterator[AssignReplicaToDir]:
        """What brokers with several log dirs have to tell the controller: where the replicas lie that it left to them
        to place."""
        several = {broker_id for broker_id, own in self._by_broker.items() if len(own) > 1}
        for partition in self.all_partitions() if several else ():
            registration = self.registration(partition)
            for broker_id, directory in zip(registration.replicas, registration.directories, strict=True):
                if broker_id in several and directory == DIRECTORY_UNASSIGNED:
                    yield AssignReplicaToDir(*partition, broker_id, self.directory_of(partition, broker_id))

    def missing(self, logs: Sequence[BrokerLogs] | None = None) -> dict[TopicPartition, dict[int, BrokerLogs]]:
        """The replicas that are in sync or eligible and have no directory, by partition and broker, with where they
        should lie. ``logs`` are those to be looked at, by default all."""
        found: dict[TopicPartition, dict[int, BrokerLogs]] = defaultdict(dict)
        wanted = {each.log_dir for each in (self.all_logs() if logs is None else logs)}
        for partition in self._not_everywhere():
            registration = self.registration(partition)
            for broker_id, each in self.of(partition, registration):
                is_missing = partition not in each.present and each.log_dir in wanted
                if is_missing and broker_id in registration.isr + registration.elr:
                    found[partition][broker_id] = each
        return dict(found)

    def _not_everywhere(self) -> list[TopicPartition]:
        """The partitions that some broker does not have in any of its log dirs, or in the wrong one."""
        present = {directory: logs.present for own in self._by_broker.values() for directory, logs in own.items()}
        nowhere: set[TopicPartition] = set()
        return sorted(
            TopicPartition(name, number)
            for name, topic in self._image().topics.items()
            for number, registration in topic.partitions.items()
            if any((name, number) not in present.get(each, nowhere) for each in registration.directories)
        )

    def kept_offset(self, partition: TopicPartition, broker_id: int) -> int:
        """How far a replica once went, by the checkpoints of its broker; 0 where they do not know of it."""
        return max((max(logs.checkpointed(partition)) for logs in self.of_broker(broker_id).values()), default=0)


def find_registration(image: MetadataImage, partition: TopicPartition) -> PartitionRegistration | None:
    """What the metadata says of a partition; None where it has none."""
    topic = image.topics.get(partition.topic)
    return None if topic is None else topic.partitions.get(partition.partition)


def assigned_directory(image: MetadataImage, partition: TopicPartition, broker_id: int) -> str | None:
    """The id of the log dir in which a broker is to have a partition; None where it is to have none."""
    registration = find_registration(image, partition)
    if registration is None or broker_id not in registration.replicas:
        return None
    return registration.directory(broker_id)


def _assumed(partition: TopicPartition, own: list[BrokerLogs]) -> BrokerLogs:
    if len(own) == 1:
        return own[0]
    return next((each for each in own if each.has(partition)), min(own, key=lambda each: len(each.present)))
