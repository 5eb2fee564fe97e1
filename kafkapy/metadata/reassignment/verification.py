"""How far the moves of a plan are: what ReassignPartitionsCommand --verify tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import LogDirs
from kafkapy.metadata.topics_image import PartitionRegistration

COMPLETED = "completed"
IN_PROGRESS = "in progress"
OTHER_REPLICAS = "other replicas"
OTHER_LOG_DIR = "other log dir"
NOT_FOUND = "not found"

NONE_YET = PartitionRegistration((), (), ())


class PartitionState(NamedTuple):
    """A partition of a plan. Of one that does not exist the registration has no replicas."""

    partition: TopicPartition
    target: tuple[int, ...]
    registration: PartitionRegistration

    @property
    def state(self) -> str:
        if self.registration.is_reassigning:
            return IN_PROGRESS
        return COMPLETED if self.registration.replicas == self.target else OTHER_REPLICAS


class LogDirMoveState(NamedTuple):
    """A replica of a plan that names its log dir; ``future`` is the one that it is being moved to."""

    partition: TopicPartition
    broker_id: int
    target: str
    current: str | None
    future: str | None

    @property
    def state(self) -> str:
        if self.current is None:
            return NOT_FOUND
        if self.future is not None:
            return IN_PROGRESS
        return COMPLETED if self.current == self.target else OTHER_LOG_DIR

    @property
    def is_done(self) -> bool:
        """Whether nothing is going to change any more; Kafka hopes for a replica that it does not find."""
        return self.state in (COMPLETED, OTHER_LOG_DIR)


def partition_states(
    image: MetadataImage, targets: Assignment, under_way: Mapping[TopicPartition, PartitionRegistration]
) -> Iterator[PartitionState]:
    """In the order of partitions; what is not under way has arrived somewhere, whatever the image says."""
    for partition in sorted(targets):
        topic = image.topics.get(partition.topic) if partition not in under_way else None
        found = None if topic is None else topic.partitions.get(partition.partition)
        arrived = (found or NONE_YET)._replace(adding_replicas=(), removing_replicas=())
        yield PartitionState(partition, targets[partition], under_way.get(partition, arrived))


def log_dir_move_states(targets: LogDirs, current: LogDirs, future: LogDirs) -> Iterator[LogDirMoveState]:
    """In the order of brokers, then of partitions."""
    for partition, broker in sorted(targets, key=lambda replica: (replica[1], replica[0])):
        key = (partition, broker)
        yield LogDirMoveState(partition, broker, targets[key], current.get(key), future.get(key))


def targets_of(registration: PartitionRegistration) -> tuple[int, ...]:
    """The replicas that a partition has when its reassignment is complete."""
    return tuple(broker for broker in registration.replicas if broker not in registration.removing_replicas)


def is_going_on(under_way: Mapping[TopicPartition, PartitionRegistration], plan: Assignment) -> bool:
    """Whether all that moves is part of a plan: executing it again goes on with it, and disturbs nobody."""
    return all(plan.get(partition) == targets_of(state) for partition, state in under_way.items())
