"""What a plan is checked for before anything is touched, as Kafka's tool does: its brokers and its partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.near_misses import hinting, missing_number, partition_hint

EXISTING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create a "
    "new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)


def check_brokers(image: MetadataImage, live: Collection[int], plan: Assignment) -> None:
    """Refuse a plan that gives a broker something that is not up."""
    for broker in missing_brokers(image, live, plan):
        refused = KafkaError("AdminCommandFailedException", f"Unknown broker id {broker}")
        refused.hint = missing_number("broker", f"{broker} that runs", live)
        raise refused


def missing_brokers(image: MetadataImage, live: Collection[int], plan: Assignment) -> list[int]:
    """The brokers that a plan gives replicas to and that are not up; one that is down may keep what it has."""
    given: set[int] = set()
    for partition, replicas in plan.items():
        topic = image.topics.get(partition.topic)
        state = None if topic is None else topic.partitions.get(partition.partition)
        held = () if state is None else set(state.replicas).difference(state.adding_replicas)
        given.update(set(replicas).difference(held))
    return sorted(given.difference(live))


def check_partitions(image: MetadataImage, partitions: Iterable[TopicPartition]) -> None:
    """Refuse partitions that are not there."""
    wanted, topics = sorted(partitions), image.topics
    for partition in wanted:
        if partition.topic not in topics:
            refused = from_admin(KafkaError("UnknownTopicOrPartitionException", f"Topic {partition.topic} not found."))
            raise hinting(refused, "topic", partition.topic, topics)
    missing = [each for each in wanted if each.partition not in topics[each.topic].partitions]
    if missing:
        message = f"Unable to find partition: {', '.join(map(str, missing))}"
        refused = from_admin(KafkaError("UnknownTopicOrPartitionException", message))
        refused.hint = partition_hint(*missing[0], topics)
        raise refused


def refusal(title: str, refused: Mapping[TopicPartition, KafkaError]) -> KafkaError:
    """What the controller refused, a line for each partition."""
    return terse("\n".join([title, *(f"{partition}: {error}" for partition, error in sorted(refused.items()))]))


def terse(message: str) -> KafkaError:
    """An error that Kafka's tool tells without more words."""
    return KafkaError("TerseException", message)


def from_admin(error: KafkaError) -> KafkaError:
    """An error as it comes out of Kafka's client."""
    return KafkaError(error.name, f"org.apache.kafka.common.errors.{error.name}: {error}")
