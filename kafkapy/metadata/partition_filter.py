"""Which partitions, and which of their offsets, GetOffsetShell is asked for.

    --topic-partitions   rules with commas between them, of which one must hold; a rule is TOPIC[:PARTITIONS]
        TOPIC            a regular expression without colon and comma; nothing means any topic
        PARTITIONS       n | a-b (a inclusive, b exclusive) | a- | -b | - or nothing for all
    --topic, --partitions
                         one expression and a list of numbers; nothing means all
    --time               a name, its number, or a timestamp

What is malformed raises a KafkaError with the words of GetOffsetShell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int, parse_long, split
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.offset_specs import OFFSET_SPECS
from kafkapy.metadata.topic_description import INTERNAL_TOPICS
from kafkapy.metadata.topic_selection import include_list

_RULE = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")
_NO_UPPER_BOUND = 2**31 - 1


class PartitionRule(NamedTuple):
    """Partitions by number, of the topics that match."""

    topic: re.Pattern[str]
    holds: Callable[[int], bool]

    def matches(self, partition: TopicPartition) -> bool:
        return self.topic.fullmatch(partition.topic) is not None and self.holds(partition.partition)


def parse_rules(text: str) -> list[PartitionRule]:
    """The rules of ``--topic-partitions``."""
    return [_parse_rule(rule) for rule in split(text, ",")]


def _parse_rule(text: str) -> PartitionRule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise KafkaError(
            "RuntimeException", f"org.apache.kafka.tools.TerseException: Invalid rule specification: {text}"
        )
    topic, number, lower, upper = match.groups()
    pattern = include_list(topic or ".*")
    if number:
        return PartitionRule(pattern, _number(number).__eq__)
    numbers = range(_number(lower) if lower else 0, _number(upper) if upper else _NO_UPPER_BOUND)
    return PartitionRule(pattern, numbers.__contains__)


def topic_and_partitions(topic: str | None, partitions: str | None) -> list[PartitionRule]:
    """The one rule that ``--topic`` and ``--partitions`` make."""
    try:
        numbers = {parse_int(number) for number in split(partitions, ",")} if partitions else set()
    except FormatError:
        raise KafkaError(
            "TerseException",
            f"--partitions expects a comma separated list of numeric partition ids, but received: {partitions}",
        ) from None
    pattern = include_list(".*" if topic is None else topic)
    return [PartitionRule(pattern, lambda number: not numbers or number in numbers)]


def parse_offset_spec(text: str) -> int:
    """The number of ``--time``."""
    if text in OFFSET_SPECS:
        return OFFSET_SPECS[text]
    try:
        return parse_long(text)
    except FormatError:
        names = " / ".join(f"{number} or {name}" for name, number in OFFSET_SPECS.items())
        raise KafkaError(
            "TerseException",
            f"Malformed time argument {text}. Please use {names}, or a specified long format timestamp",
        ) from None


def select_partitions(
    image: MetadataImage, rules: list[PartitionRule], exclude_internal: bool = False
) -> list[TopicPartition]:
    """The partitions for which a rule holds, in GetOffsetShell's order: that of the text, so 10 is before 2."""
    found = [each for each in _partitions(image, exclude_internal) if any(rule.matches(each) for rule in rules)]
    if not found:
        raise KafkaError("TerseException", "Could not match any topic-partitions with the specified filters")
    return sorted(found, key=str)


def _partitions(image: MetadataImage, exclude_internal: bool) -> Iterator[TopicPartition]:
    for name, topic in image.topics.items():
        if not (exclude_internal and name in INTERNAL_TOPICS):
            for number in topic.partitions:
                yield TopicPartition(name, number)


def _number(text: str) -> int:
    try:
        return parse_int(text)
    except FormatError as error:
        raise KafkaError("NumberFormatException", str(error)) from None
