"""Which partitions a consumer reads: those of a topic, one of them, or those of all topics with such a name."""

from __future__ import annotations

import re

from kafkapy.backends.cluster import EARLIEST, Cluster
from kafkapy.errors import KafkaError, UsageError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topic_description import INTERNAL_TOPICS
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean


def partitions_of(
    image: MetadataImage, topic: str | None, include: str | None, partition: int | None, exclude_internal: bool = True
) -> list[TopicPartition]:
    """The partitions that the options name, in order. ``include`` is a regular expression for whole names."""
    if include is not None:
        return _partitions_of_matching(image, include, exclude_internal)
    found = image.topics.get(topic or "")
    if found is None:
        hint = did_you_mean(topic or "", image.topics, VERY_SIMILAR)
        raise KafkaError("UnknownTopicOrPartitionException", f"Topic '{topic}' does not exist{hint}")
    if partition is None:
        return [TopicPartition(found.name, number) for number in sorted(found.partitions)]
    if partition not in found.partitions:
        count = len(found.partitions)
        raise KafkaError(
            "UnknownTopicOrPartitionException", f"Topic '{topic}' has no partition {partition}: it has {count}"
        )
    return [TopicPartition(found.name, partition)]


def check_visible(cluster: Cluster, topic: str) -> None:
    """Refuse, as Kafka's consumer does, a topic that is not listed because this user may not see it: whoever asks for
    it by name is told so."""
    if topic not in cluster.image().topics:
        (found,) = cluster.offsets([(TopicPartition(topic, 0), EARLIEST)])
        if isinstance(found, KafkaError) and found.name == "TopicAuthorizationException":
            raise KafkaError(found.name, f"Not authorized to access topics: [{topic}]")


def _partitions_of_matching(image: MetadataImage, include: str, exclude_internal: bool) -> list[TopicPartition]:
    try:
        pattern = re.compile(include)
    except re.error as error:
        raise UsageError(f"{include} is an invalid regex: {error}") from None
    return [
        TopicPartition(name, number)
        for name, topic in sorted(image.topics.items())
        if pattern.fullmatch(name) and not (exclude_internal and name in INTERNAL_TOPICS)
        for number in sorted(topic.partitions)
    ]
