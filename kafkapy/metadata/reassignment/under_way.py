"""The reassignments under way: partitions that have replicas to add or to remove."""

from __future__ import annotations

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration


def reassignments_under_way(image: MetadataImage) -> dict[TopicPartition, PartitionRegistration]:
    """All of them, by partition."""
    return {
        TopicPartition(name, number): partition
        for name, topic in sorted(image.topics.items())
        for number, partition in sorted(topic.partitions.items())
        if partition.is_reassigning
    }
