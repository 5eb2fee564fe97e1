"""Elections on request, each partition for itself, as a controller answers them.

A cluster makes several changes all or not at all. So the elections are asked for together, and where one is refused in
two halves, and so on down to the one: a few batches in the metadata log, and an answer for every partition. Killed in
between, some partitions have their new leader and the others their old one; asked again, the rest is elected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import ElectLeader
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
    cluster: Cluster, election: str, partitions: Iterable[TopicPartition] | None = None
) -> list[ElectionResult]:
    """Elect, in order of the partitions; None asks for all, and tells only of those that need an election."""
    wanted = partitions_in_need(cluster.image(), election) if partitions is None else sorted(partitions)
    errors = dict(_elect(cluster, [ElectLeader(topic, number, election) for topic, number in wanted]))
    image = cluster.image()
    return [ElectionResult(partition, _leader(image, partition), errors.get(partition)) for partition in wanted]


def partitions_in_need(image: MetadataImage, election: str) -> list[TopicPartition]:
    """The partitions whose leader is not the preferred one, or with an unclean election those without any."""
    return sorted(
        TopicPartition(topic.name, number)
        for topic in image.topics.values()
        for number, registration in topic.partitions.items()
        if (
            registration.leader != registration.preferred_replica
            if election == PREFERRED
            else registration.leader == NO_LEADER
        )
    )


def _elect(cluster: Cluster, changes: Sequence[ElectLeader]) -> Iterator[tuple[TopicPartition, KafkaError]]:
    """What was refused, and why."""
    if not changes:
        return
    try:
        cluster.apply(*changes)
    except KafkaError as error:
        if len(changes) == 1:
            yield TopicPartition(changes[0].topic, changes[0].partition), error
            return
        middle = len(changes) // 2
        yield from _elect(cluster, changes[:middle])
        yield from _elect(cluster, changes[middle:])


def _leader(image: MetadataImage, partition: TopicPartition) -> int | None:
    topic = image.topics.get(partition.topic)
    registration: PartitionRegistration | None = None
    if topic is not None:
        registration = topic.partitions.get(partition.partition)
    return None if registration is None or registration.leader == NO_LEADER else registration.leader
