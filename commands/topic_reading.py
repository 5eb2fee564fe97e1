"""``kafkapy topics --list`` and ``--describe``."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.output.output_format import Output

from .tool_errors import say

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection

PARTITION_FILTERS = {
    "under-replicated-partitions": "is_under_replicated",
    "unavailable-partitions": "is_unavailable",
    "under-min-isr-partitions": "is_under_min_isr",
    "at-min-isr-partitions": "is_at_min_isr",
}


class Wanted(NamedTuple):
    """Which topics are to be described."""

    topic: str | None
    topic_id: str | None
    exclude_internal: bool
    if_exists: bool


def run_list(chosen: "Selection", topic: str | None, exclude_internal: bool, output: Output) -> None:
    """Print the names of topics."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.topic_selection import select_topics
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(chosen)) as opened:
        found = select_topics(opened.image(), topic, None, exclude_internal)
        print_rows(output, [(each.name, {"type": "topic", "topic": each.name}) for each in found] or [("", None)])


def run_describe(chosen: "Selection", wanted: Wanted, asked: list[str], only_overrides: bool, output: Output) -> None:
    """Print topics with their partitions; ``asked`` are the filters of these."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.image import TOPIC
    from kafkapy.metadata.topic_description import describe_topics
    from kafkapy.metadata.topic_selection import select_topics
    from kafkapy.output.printing import print_rows

    topic, topic_id, exclude_internal, if_exists = wanted._replace(topic_id=_topic_id(wanted.topic_id))
    if topic is not None and topic_id is not None and if_exists:
        used = "Only topic id will be used when both --topic and --topic-id are specified"
        say(f"{used} and topicId is not Uuid.ZERO_UUID", output)
    with closing(open_cluster(chosen)) as opened:
        image = opened.image()
        found = select_topics(image, topic, topic_id, exclude_internal)
        if not found and (topic or topic_id) and not if_exists:
            raise (
                missing("TopicId", topic_id, image.topics_by_id)
                if topic_id
                else missing("Topic", topic or "", image.topics)
            )
        configs = opened.config_entries(TOPIC, [each.name for each in found])
        # Those whose configs are refused come last, so that the others are shown before the error.
        found.sort(key=lambda each: isinstance(configs[each.name], KafkapyError))
        described = describe_topics(opened.live_brokers, found, configs, opened.has_metadata)
        print_rows(output, _rows(described, asked, only_overrides, by_id=topic_id is not None))


def _topic_id(text: str | None) -> str | None:
    """An id, in Kafka's spelling; that of zeros stands for none."""
    from kafkapy.errors import SchemaError
    from kafkapy.formats.uuid import ZERO_UUID, uuid_bytes, uuid_text

    try:
        topic_id = None if text is None else uuid_text(uuid_bytes(text))
    except SchemaError as error:
        raise KafkaError("IllegalArgumentException", str(error)) from None
    return None if topic_id == ZERO_UUID else topic_id


def _rows(
    described: Any, asked: list[str], only_overrides: bool, by_id: bool
) -> Iterator[tuple[str | None, dict[str, Any] | None]]:
    """Lines and rows of topics and their partitions; a filter of partitions leaves the topics' own lines out, and a
    topic has a row of its own only where its partitions have none.

    Kafka does not ask for the ELRs of a topic that is named by its id.
    """
    from kafkapy.output.topic_lines import partition_line, topic_line, unknown_partition_line

    for topic in described:
        known = all(partition.known for partition in topic.partitions)
        if only_overrides and not topic.has_overrides:
            continue
        if not asked:
            factor, configs = (topic.replication_factor, topic.configs) if known else (None, None)
            line = topic_line(topic.name, topic.topic_id, len(topic.partitions), factor, configs)
            yield line, _topic_row(topic, factor) if only_overrides else None
        for partition in () if only_overrides else topic.partitions:
            if asked and not any(getattr(partition, name) for name in asked):
                continue
            row = _partition_row(topic, partition)
            if not partition.known:
                yield unknown_partition_line(topic.name, partition.partition), row
                continue
            moving = partition.adding_replicas or partition.removing_replicas
            line = partition_line(
                topic.name, partition.partition, partition.leader, partition.replicas, partition.isr,
                None if by_id else partition.elr, None if by_id else partition.last_known_elr,
                (partition.adding_replicas, partition.removing_replicas) if moving else None,
            )  # fmt: skip
            yield line, row


def _partition_row(topic: Any, partition: Any) -> dict[str, Any]:
    """A partition, with what it shares with its topic; null is what only metadata could tell."""
    known = partition.known
    return {
        "type": "partition",
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "partition": partition.partition,
        "leader": partition.leader,
        "replicas": list(partition.replicas) if known else None,
        "isr": list(partition.isr) if known else None,
        "elr": list(partition.elr) if known else None,
        "last_known_elr": list(partition.last_known_elr) if known else None,
        "adding_replicas": list(partition.adding_replicas),
        "removing_replicas": list(partition.removing_replicas),
        "configs": {config.name: config.value for config in topic.configs} if known else None,
    }


def _topic_row(topic: Any, replication_factor: int | None) -> dict[str, Any]:
    """A topic without its partitions."""
    return {
        "type": "topic",
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "partitions": len(topic.partitions),
        "replication_factor": replication_factor,
        "configs": {config.name: config.value for config in topic.configs},
    }


def missing(what: str, name: str, known: Iterable[str] = ()) -> KafkaError:
    """That a topic or an id is not there, in the words of TopicCommand."""
    from kafkapy.near_misses import hinting

    error = KafkaError("IllegalArgumentException", f"{what} '{name}' does not exist as expected")
    return hinting(error, what.replace("Id", " id").lower(), name, known)
