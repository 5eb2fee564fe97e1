"""The lines of Kafka's group commands about what they changed: resets, deleted groups, deleted offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kafkapy.errors import KafkaError
from kafkapy.formats.java_exceptions import exception_text
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.group_lines import GROUP, PARTITION, TOPIC
from kafkapy.output.printf_table import Column, printf_table, width_of

if TYPE_CHECKING:
    from kafkapy.backends.offset_targets import Reset

_TOP_LEVEL = frozenset(
    ("InvalidGroupIdException", "GroupIdNotFoundException", "GroupAuthorizationException", "GroupNotEmptyException")
)
_PARTITION_LEVEL = frozenset(
    ("GroupSubscribedToTopicException", "TopicAuthorizationException", "UnknownTopicOrPartitionException")
)
WHOLE_TOPIC = -1


def reset_lines(plans: Mapping[str, Iterable[Reset]]) -> Iterator[str]:
    """The table of resets."""
    yield ""
    if plans:
        group = Column("GROUP", width_of(plans, GROUP.width))
        rows = [(name, *reset.partition, reset.new.offset) for name, resets in plans.items() for reset in resets]
        yield from printf_table((group, TOPIC, PARTITION, Column("NEW-OFFSET", 0)), rows)


def streams_reset_lines(plans: Mapping[str, Iterable[Reset]]) -> Iterator[str]:
    """The same, as StreamsGroupCommand has it."""
    yield ""
    if plans:
        columns = Column("GROUP", 30), Column("TOPIC", 30), PARTITION, Column("NEW-OFFSET", 15)
        rows = [(name, *reset.partition, reset.new.offset) for name, resets in plans.items() for reset in resets]
        yield from printf_table(columns, rows)


def deletion_lines(groups: Mapping[str, KafkaError | None], kind: str = "consumer") -> Iterator[str]:
    """Which groups of a kind were deleted, and why the others were not."""
    deleted = ", ".join(f"'{group}'" for group, error in groups.items() if error is None)
    failed = {group: error for group, error in groups.items() if error is not None}
    if not failed:
        yield f"Deletion of requested {kind} groups ({deleted}) was successful."
        return
    yield from ("", f"Error: Deletion of some {kind} groups failed:")
    for group, error in failed.items():
        yield f"* Group '{group}' could not be deleted due to: {exception_text(error)}"
    if deleted:
        end = "." if kind == "streams" else ""
        yield from ("", f"These {kind} groups were deleted successfully: {deleted}{end}")


def offset_deletion_lines(
    group: str, partitions: Mapping[TopicPartition, KafkaError | None], error: KafkaError | None
) -> Iterator[str]:
    """What became of each partition's offset; ``WHOLE_TOPIC`` is the number for a topic that is not there. ``error`` is
    the first that the coordinator answered."""
    if error is None:
        yield f"Request succeeded for deleting offsets from group {group}."
    else:
        yield from ("", f"Error: {_why(error)}")
    yield ""
    rows = [
        (topic, None if number == WHOLE_TOPIC else number, f"Error: {exception_text(error)}" if error else "Successful")
        for (topic, number), error in sorted(partitions.items(), key=lambda each: f"{each[0].topic}{each[0].partition}")
    ]
    yield from printf_table((TOPIC, PARTITION, Column("STATUS", 15)), rows)


def share_offset_deletion_lines(topics: Mapping[str, KafkaError | None], error: KafkaError | None) -> Iterator[str]:
    """What became of a share group in each topic. ``error`` is the first that the coordinator answered."""
    if error is not None and error.name in _TOP_LEVEL:
        yield from ("", f"Error: {error}")
    elif error is not None and error.name not in _PARTITION_LEVEL:
        yield from ("", f"Error: Encounter some unknown error: {exception_text(error)}")
    yield ""
    rows = [(topic, "Successful" if why is None else f"Error: {why}") for topic, why in sorted(topics.items())]
    yield from printf_table((TOPIC, Column("STATUS", 0)), rows)


def _why(error: KafkaError) -> str:
    if error.name in _TOP_LEVEL:
        return str(error)
    if error.name in _PARTITION_LEVEL:
        return "Encountered some partition-level error, see the follow-up details."
    return f"Encountered some unknown error: {error.name}"
