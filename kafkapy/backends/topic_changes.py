"""What TopicCommand asks of a cluster, as changes; with its own checks, in its own words."""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int, split
from kafkapy.metadata.changes import DEFAULT, CreatePartitions, CreateTopic
from kafkapy.metadata.configs.topic_configs import check_topic_configs
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topic_names import has_collision_chars

COLLISION_WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)
MAX_REPLICATION_FACTOR = 32767


def create_topic(
    name: str, partitions: int | None, replication_factor: int | None, assignment: str | None, configs: Iterable[str]
) -> CreateTopic:
    """The change that creates a topic; configs and assignment are checked first, as TopicCommand does."""
    replicas = parse_assignment(assignment or "")
    parsed = parse_configs(configs)
    check_topic_configs(parsed)
    return CreateTopic(
        name,
        DEFAULT if partitions is None else partitions,
        DEFAULT if replication_factor is None else replication_factor,
        replicas,
        parsed,
    )


def check_counts(partitions: int | None, replication_factor: int | None) -> None:
    """Refuse counts that no topic can have."""
    if replication_factor is not None and not 1 <= replication_factor <= MAX_REPLICATION_FACTOR:
        message = f"The replication factor must be between 1 and {MAX_REPLICATION_FACTOR} inclusive"
        raise KafkaError("IllegalArgumentException", message)
    if partitions is not None and partitions < 1:
        raise KafkaError("IllegalArgumentException", "The partitions must be greater than 0")


def create_partitions(image: MetadataImage, topic: str, count: int, assignment: str | None) -> CreatePartitions:
    """The change that gives a topic more partitions; an assignment begins with those that exist, which are skipped."""
    new = parse_assignment(assignment)[len(image.topics[topic].partitions) :] if assignment else None
    return CreatePartitions(topic, count, new)


def warning(name: str) -> list[str]:
    """What TopicCommand prints before it creates a topic with such a name."""
    return [COLLISION_WARNING] if has_collision_chars(name) else []


def parse_assignment(text: str) -> tuple[tuple[int, ...], ...]:
    """``1:2,2:3``: the replicas of each partition; none for an empty text."""
    partitions = [_brokers(part) for part in split(text, ",")] if text else []
    for number, brokers in enumerate(partitions):
        duplicates = sorted({broker for broker in brokers if brokers.count(broker) > 1})
        if duplicates:
            listed = ",".join(map(str, duplicates))
            raise _refused(f"Partition replica lists may not contain duplicate entries: {listed}")
        if len(brokers) != len(partitions[0]):
            raise _refused(f"Partition {number} has different replication factor: {list(brokers)}")
    return tuple(partitions)


def parse_configs(configs: Iterable[str]) -> dict[str, str]:
    """``name=value`` pairs; Kafka refuses a value with another ``=`` in it, and one that is empty."""
    parsed = {}
    for config in configs:
        parts = [part.strip() for part in config.split("=")]
        if len(parts) != 2 or not parts[1]:
            raise KafkaError(
                "IllegalArgumentException",
                'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".',
            )
        parsed[parts[0]] = parts[1]
    return parsed


def _brokers(text: str) -> tuple[int, ...]:
    return tuple(_broker_id(part.strip()) for part in split(text, ":"))


def _broker_id(text: str) -> int:
    try:
        return parse_int(text)
    except FormatError:
        raise KafkaError("NumberFormatException", f'For input string: "{text}"') from None


def _refused(message: str) -> KafkaError:
    return KafkaError("AdminCommandFailedException", message)
