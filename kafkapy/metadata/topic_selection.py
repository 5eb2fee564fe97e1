"""Which topics an option names.

TopicCommand and GetOffsetShell match Java regular expressions against whole names; commas mean "or", spaces and the
quotes around a pattern are dropped. Java's expressions are Python's for what topic names can hold; what Python cannot
compile is refused in Kafka's words.
"""

from __future__ import annotations

import re

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topic_description import INTERNAL_TOPICS
from kafkapy.metadata.topics_image import TopicImage
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean


def include_list(text: str) -> re.Pattern[str]:
    """The expression that an include list stands for."""
    pattern = text.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        return re.compile(pattern)
    except re.error:
        raise KafkaError("RuntimeException", f"{pattern} is an invalid regex.") from None


def check_matches(image: MetadataImage, topic: str) -> None:
    """Refuse what is like the name of no topic."""
    if not select_topics(image, topic):
        hint = did_you_mean(topic, image.topics, VERY_SIMILAR)
        raise KafkapyError(f"there is no topic whose name matches '{topic}'{hint}")


def select_topics(
    image: MetadataImage, topic: str | None, topic_id: str | None = None, exclude_internal: bool = False
) -> list[TopicImage]:
    """The topics that are meant, by name."""
    if topic_id is not None:
        found = next((each for each in image.topics.values() if each.id == topic_id), None)
        return [] if found is None else [found]
    pattern = None if topic is None else include_list(topic)
    return [
        each
        for name, each in sorted(image.topics.items())
        if (pattern is None or pattern.fullmatch(name)) and not (exclude_internal and name in INTERNAL_TOPICS)
    ]
