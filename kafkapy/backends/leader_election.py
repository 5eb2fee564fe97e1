"""Elections on request, each partition for itself, as a controller answers them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.elections import PREFERRED
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster

NOT_NEEDED = "ElectionNotNeededException"


class ElectionResult(NamedTuple):
    """``leader`` is who leads now, None where nobody does or it is not known; ``error`` why nobody was elected."""

    partition: TopicPartition
    leader: int | None
    error: KafkaError | None

    @property
    def is_needed(self) -> bool:
        """Whether the partition did not have the leader already that it should have."""
        return self.error is None or self.error.name != NOT_NEEDED

    @property
    def is_failure(self) -> bool:
        return self.error is not None and self.is_needed


def elect_leaders(
    cluster: Cluster, election: str, partitions: Iterable[TopicPartition] | None = None, tell_leaders: bool = True
) -> list[ElectionResult]:
    """Elect, in order of the partitions; None asks for all, and tells only of those that need an election. Who leads
    now is looked up only with ``tell_leaders``."""
    control = cluster.replica_control()
    errors = control.elect(election, None if partitions is None else sorted(partitions))
    leaders: dict[TopicPartition, int | None] = {}
    if tell_leaders and errors:
        control.await_elected(election, [partition for partition, error in errors.items() if error is None])
        leaders = {partition: _leader(cluster.image(), partition) for partition in errors}
    return [ElectionResult(partition, leaders.get(partition), error) for partition, error in errors.items()]


def partitions_in_need(image: MetadataImage, election: str) -> list[TopicPartition]:
    """The partitions whose leader is not the preferred one, or with an unclean election those without any."""
    return sorted(
        TopicPartition(topic.name, number)
        for topic in image.topics.values()
        for number, registration in topic.partitions.items()
        if needs(registration, election)
    )


def needs(registration: PartitionRegistration, election: str) -> bool:
    """Whether a partition needs an election."""
    if election == PREFERRED:
        return registration.leader != registration.preferred_replica
    return registration.leader == NO_LEADER


def are_elected(image: MetadataImage, election: str, partitions: Collection[TopicPartition]) -> bool:
    """Whether none of the partitions that are still there needs the election any more."""
    found = [image.topics[topic].partitions.get(number) for topic, number in partitions if topic in image.topics]
    return not any(needs(each, election) for each in found if each is not None)


def _leader(image: MetadataImage, partition: TopicPartition) -> int | None:
    topic = image.topics.get(partition.topic)
    registration: PartitionRegistration | None = None
    if topic is not None:
        registration = topic.partitions.get(partition.partition)
    return None if registration is None or registration.leader == NO_LEADER else registration.leader
