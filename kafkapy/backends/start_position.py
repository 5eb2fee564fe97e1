"""Where a partition is read from: what options say, held against where its log begins and ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.backends.cluster import EARLIEST, LATEST, Cluster
from kafkapy.errors import FormatError, KafkaError, KafkapyError, UsageError
from kafkapy.formats.java_parsing import parse_long
from kafkapy.log.topic_partition import TopicPartition

RESETS = {"earliest": EARLIEST, "latest": LATEST, "none": None}

Bounds = tuple[int, int]
"""Where a log begins and ends."""


class StartAt(NamedTuple):
    """``offset`` is an offset, EARLIEST or LATEST. Where a log does not have it, it is read from ``reset`` on (EARLIEST
    or LATEST; None: that is an error)."""

    offset: int
    reset: int | None

    @classmethod
    def of(cls, offset: str | None, from_beginning: bool, auto_offset_reset: str | None) -> StartAt:
        """What the options --offset and --from-beginning and the consumer config ``auto.offset.reset`` mean."""
        reset = parse_reset(from_beginning, auto_offset_reset)
        if offset is not None:
            return cls(_parse_offset(offset), reset)
        if reset is None:
            raise KafkaError(
                "NoOffsetForPartitionException", "Undefined offset with no reset policy: auto.offset.reset is none"
            )
        return cls(reset, reset)


def parse_reset(from_beginning: bool, auto_offset_reset: str | None) -> int | None:
    """EARLIEST, LATEST, or None where a missing offset is an error."""
    if auto_offset_reset is None:
        auto_offset_reset = "earliest" if from_beginning else "latest"
    if from_beginning and auto_offset_reset != "earliest":
        raise UsageError(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={auto_offset_reset}', "
            "please remove one option"
        )
    if auto_offset_reset not in RESETS:
        raise UsageError(
            f"Invalid value {auto_offset_reset} for configuration auto.offset.reset: it must be one of "
            f"{', '.join(RESETS)}"
        )
    return RESETS[auto_offset_reset]


def _parse_offset(text: str) -> int:
    if text.lower() in ("earliest", "latest"):
        return EARLIEST if text.lower() == "earliest" else LATEST
    try:
        offset = parse_long(text)
    except FormatError:
        offset = -1
    if offset < 0:
        raise UsageError(
            f"The provided offset value '{text}' is incorrect. Valid values are 'earliest', 'latest', or a "
            "non-negative long"
        )
    return offset


def resolve(cluster: Cluster, partition: TopicPartition, start: StartAt) -> tuple[int, str | None]:
    """The offset where a partition is to be read from, and a line about it where that had to be corrected."""
    return within(_bounds(cluster, partition), partition, start)


def all_bounds(cluster: Cluster, partitions: Iterable[TopicPartition]) -> list[Bounds | KafkapyError]:
    """Where each partition begins and ends, or why that is not known."""
    asked = [(partition, spec) for partition in partitions for spec in (EARLIEST, LATEST)]
    found = list(cluster.offsets(asked))
    return [_both(first, last) for first, last in zip(found[::2], found[1::2], strict=True)]


def _both(first: int | KafkapyError | None, last: int | KafkapyError | None) -> Bounds | KafkapyError:
    if isinstance(first, KafkapyError):
        return first
    return last if isinstance(last, KafkapyError) else (first or 0, last or 0)


def _bounds(cluster: Cluster, partition: TopicPartition) -> Bounds:
    """Where a partition begins and ends."""
    (found,) = all_bounds(cluster, [partition])
    if isinstance(found, KafkapyError):
        raise found
    return found


def within(bounds: Bounds, partition: TopicPartition, start: StartAt) -> tuple[int, str | None]:
    """The same, where it is known from where to where the partition goes."""
    earliest, latest = bounds
    named = {EARLIEST: earliest, LATEST: latest}
    offset = named.get(start.offset, start.offset)
    if earliest <= offset <= latest:
        return offset, None
    if start.reset is None:
        raise _out_of_range(partition, offset)
    found = named[start.reset]
    return found, f"Fetch position {offset} is out of range for partition {partition}, resetting offset to {found}"


def _out_of_range(partition: TopicPartition, offset: int) -> KafkaError:
    return KafkaError(
        "OffsetOutOfRangeException",
        f"Fetch position {offset} is out of range for partition {partition} and no reset policy is configured",
    )
