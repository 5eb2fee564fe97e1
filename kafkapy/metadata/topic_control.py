"""Creating topics and partitions and deleting topics: the checks in Kafka's order, then the records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata import topic_names
from kafkapy.metadata.changes import DEFAULT, AlterConfigs, CreatePartitions, CreateTopic, DeleteTopic
from kafkapy.metadata.config_control import CheckConfig, clear_elr_records, config_changes
from kafkapy.metadata.elections import Cluster
from kafkapy.metadata.image import TOPIC, MetadataImage
from kafkapy.metadata.placement import Draws, PlacementSpec, Placer, UsableBroker
from kafkapy.metadata.records import new_record
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage, partition_record, topic_record
from kafkapy.near_misses import hinting_number

MAX_PARTITIONS_PER_BATCH = 10_000
UNKNOWN_TOPIC_OR_PARTITION = "This server does not host this topic-partition."


class TopicControl(NamedTuple):
    image: MetadataImage
    cluster: Cluster
    random: Draws
    placer: Placer
    new_uuid: Callable[[], str]
    default_partitions: int
    default_replication_factor: int

    def create_topic(self, change: CreateTopic, check_config: CheckConfig) -> list[MetadataRecord]:
        """The topic, its configs and its partitions."""
        self._check_count(change)
        if change.name in self.image.topics:
            raise KafkaError("TopicExistsException", f"Topic '{change.name}' already exists.")
        topic_names.validate(change.name)
        topic_names.check_collision(change.name, self.image.topics)
        configs: list[MetadataRecord] = []
        if change.configs:
            configs = config_changes(self.image, AlterConfigs(TOPIC, change.name, change.configs))
            check_config(TOPIC, change.name, change.configs)
        partitions = self._manual(change) if change.assignments else self._placed(change)
        topic_id = self.new_uuid()
        return [
            topic_record(change.name, topic_id),
            *configs,
            *clear_elr_records(self.image, configs),
            *self._partition_records(topic_id, 0, partitions),
        ]

    def create_partitions(self, change: CreatePartitions) -> list[MetadataRecord]:
        topic = self._topic(change.topic)
        present = len(topic.partitions)
        _check_increase(change, present)
        replication_factor = len(topic.partitions[0].replicas)
        if change.assignments is not None:
            partitions = [
                self._assigned(number, replicas, replication_factor)
                for number, replicas in enumerate(change.assignments, present)
            ]
        else:
            spec = PlacementSpec(
                present, change.partitions - present, replication_factor, topic.partitions[0].preferred_replica
            )
            partitions = self._registered(self.placer(self._usable(), spec, self.random), replication_factor)
        return self._partition_records(topic.id, present, partitions)

    def delete_topic(self, change: DeleteTopic) -> list[MetadataRecord]:
        return [new_record("RemoveTopicRecord", 0, {"topicId": self._topic(change.topic).id})]

    def _topic(self, name: str) -> TopicImage:
        topic = self.image.topics.get(name)
        if topic is None:
            raise KafkaError("UnknownTopicOrPartitionException", UNKNOWN_TOPIC_OR_PARTITION)
        return topic

    def _check_count(self, change: CreateTopic) -> None:
        count = self.default_partitions if change.partitions == DEFAULT else change.partitions
        if (len(change.assignments) or count) > MAX_PARTITIONS_PER_BATCH:
            raise KafkaError("PolicyViolationException", "Excessively large number of partitions per request.")

    def _manual(self, change: CreateTopic) -> list[PartitionRegistration]:
        for count, name in ((change.replication_factor, "replication factor"), (change.partitions, "numPartitions")):
            if count != DEFAULT:
                raise KafkaError(
                    "InvalidRequestException",
                    f"A manual partition assignment was specified, but {name} was not set to -1.",
                )
        partitions: list[PartitionRegistration] = []
        for number, replicas in enumerate(change.assignments):
            before = len(change.assignments[number - 1]) if number else None
            partitions.append(self._assigned(number, replicas, before))
        return partitions

    def _assigned(self, number: int, replicas: Sequence[int], replication_factor: int | None) -> PartitionRegistration:
        """A partition where the user wants it."""
        check_manual_assignment(self.cluster, replicas, replication_factor)
        if not any(replica in self.cluster.live for replica in replicas):
            raise KafkaError(
                "InvalidReplicaAssignmentException",
                f"All brokers specified in the manual partition assignment for partition {number} are fenced or in "
                "controlled shutdown.",
            )
        return self._new_partition(replicas)

    def _placed(self, change: CreateTopic) -> list[PartitionRegistration]:
        if change.replication_factor < DEFAULT or change.replication_factor == 0:
            raise KafkaError(
                "InvalidReplicationFactorException",
                "Replication factor must be larger than 0, or -1 to use the default value.",
            )
        if change.partitions < DEFAULT or change.partitions == 0:
            raise KafkaError(
                "InvalidPartitionsException", "Number of partitions was set to an invalid non-positive value."
            )
        count = self.default_partitions if change.partitions == DEFAULT else change.partitions
        replication_factor = change.replication_factor
        if replication_factor == DEFAULT:
            replication_factor = self.default_replication_factor
        try:
            placed = self.placer(self._usable(), PlacementSpec(0, count, replication_factor), self.random)
        except KafkaError as error:
            raise _unplaceable(replication_factor, str(error)) from error
        return self._registered(placed, replication_factor)

    def _registered(self, placed: list[tuple[int, ...]], replication_factor: int) -> list[PartitionRegistration]:
        for replicas in placed:
            if not any(replica in self.cluster.live for replica in replicas):
                raise _unplaceable(replication_factor, "All brokers are currently fenced or in controlled shutdown.")
        return [self._new_partition(replicas) for replicas in placed]

    def _new_partition(self, replicas: Sequence[int]) -> PartitionRegistration:
        isr = tuple(replica for replica in replicas if replica in self.cluster.live)
        directories = tuple(map(self.cluster.default_directory, replicas))
        return PartitionRegistration(tuple(replicas), directories, isr, leader=isr[0])

    def _partition_records(
        self, topic_id: str, first: int, partitions: list[PartitionRegistration]
    ) -> list[MetadataRecord]:
        return [
            partition_record(topic_id, number, partition, self.image.metadata_version)
            for number, partition in enumerate(partitions, first)
        ]

    def _usable(self) -> list[UsableBroker]:
        """Brokers that are shutting down or have no log dir for new replicas are left out, fenced ones are not."""
        return [
            UsableBroker(broker.id, broker.rack, broker.id not in self.cluster.live)
            for broker in self.cluster.brokers.values()
            if broker.has_uncordoned_directories
            and (broker.id in self.cluster.live or not broker.in_controlled_shutdown)
        ]


def check_manual_assignment(cluster: Cluster, replicas: Sequence[int], replication_factor: int | None) -> None:
    """Refuses replicas that are none, unknown, the same twice, or not as many as the partitions before have."""
    if not replicas:
        raise _invalid_assignment("includes an empty replica list.")
    previous = None
    for broker_id in sorted(replicas):
        if broker_id not in cluster.brokers:
            refused = _invalid_assignment(f"includes broker {broker_id}, but no such broker is registered.")
            raise hinting_number(refused, "broker", broker_id, cluster.brokers)
        if broker_id == previous:
            raise _invalid_assignment(f"includes the broker {broker_id} more than once.")
        previous = broker_id
    if replication_factor is not None and len(replicas) != replication_factor:
        raise _invalid_assignment(
            f"includes a partition with {len(replicas)} replica(s), but this is not consistent with previous "
            f"partitions, which have {replication_factor} replica(s)."
        )


def _check_increase(change: CreatePartitions, present: int) -> None:
    if change.partitions == present:
        raise KafkaError("InvalidPartitionsException", f"Topic already has {present} partition(s).")
    if change.partitions < present:
        raise KafkaError(
            "InvalidPartitionsException",
            f"The topic {change.topic} currently has {present} partition(s); {change.partitions} would not be an "
            "increase.",
        )
    additional = change.partitions - present
    if change.assignments is not None and len(change.assignments) != additional:
        raise KafkaError(
            "InvalidReplicaAssignmentException",
            f"Attempted to add {additional} additional partition(s), but only {len(change.assignments)} "
            "assignment(s) were specified.",
        )


def _invalid_assignment(what: str) -> KafkaError:
    return KafkaError("InvalidReplicaAssignmentException", f"The manual partition assignment {what}")


def _unplaceable(replication_factor: int, reason: str) -> KafkaError:
    return KafkaError(
        "InvalidReplicationFactorException",
        f"Unable to replicate the partition {replication_factor} time(s): {reason}",
    )
