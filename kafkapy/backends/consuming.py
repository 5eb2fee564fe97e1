"""Consuming partitions: from which offset on, which records, and how to wait for more.

A consumer has a position in each of its partitions, the offset of the next record. A pass goes through the partitions
in order, each from its position to its end as it is now; whoever follows makes another pass after a pause. Kafka
promises no order between partitions, so this one is as good as any, and it is always the same.

Not handed out: control records, and in the batch where a position lies, the records before it. A batch that fails its
checksum ends the reading with an error; all that came before it has been handed out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import EARLIEST, LATEST, Cluster
from kafkapy.errors import CorruptRecordError, FormatError, KafkaError, UsageError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.java_parsing import parse_long
from kafkapy.formats.record_batch import ATTRIBUTES_POSITION, Record
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topic_description import INTERNAL_TOPICS

POLL_INTERVAL_MS = 100
UNLIMITED = -1
RESETS = {"earliest": EARLIEST, "latest": LATEST, "none": None}
ISOLATION_LEVELS = ("read_committed", "read_uncommitted")


class Fetched(NamedTuple):
    """Records of one batch; ``timestamp_type`` is None where the format had no timestamps (magic 0). ``next_offset`` is
    where one goes on after the batch; what a group commits with it is the batch's leader epoch."""

    partition: TopicPartition
    timestamp_type: str | None
    records: list[Record]
    next_offset: int = -1
    leader_epoch: int = -1


class Limits(NamedTuple):
    """When to stop, and what to read: ``committed`` leaves out what was not. The timeout matters to who follows."""

    max_messages: int = UNLIMITED
    timeout_ms: int | None = None
    follow: bool = False
    committed: bool = False


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


def is_committed(isolation_level: str | None) -> bool:
    """Whether only what was committed is to be read; the default is no."""
    if isolation_level not in (None, *ISOLATION_LEVELS):
        raise UsageError(
            f"Invalid value {isolation_level} for configuration isolation.level: String must be one of: "
            f"{', '.join(ISOLATION_LEVELS)}"
        )
    return isolation_level == ISOLATION_LEVELS[0]


def partitions_of(
    image: MetadataImage, topic: str | None, include: str | None, partition: int | None, exclude_internal: bool = True
) -> list[TopicPartition]:
    """The partitions that the options name, in order. ``include`` is a regular expression for whole names."""
    if include is not None:
        return _partitions_of_matching(image, include, exclude_internal)
    found = image.topics.get(topic or "")
    if found is None:
        raise KafkaError("UnknownTopicOrPartitionException", f"Topic '{topic}' does not exist")
    if partition is None:
        return [TopicPartition(found.name, number) for number in sorted(found.partitions)]
    if partition not in found.partitions:
        count = len(found.partitions)
        raise KafkaError(
            "UnknownTopicOrPartitionException", f"Topic '{topic}' has no partition {partition}: it has {count}"
        )
    return [TopicPartition(found.name, partition)]


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


class Consumer:
    """Positions in partitions, and the records from there on."""

    def __init__(
        self,
        cluster: Cluster,
        partitions: Iterable[TopicPartition],
        committed: bool = False,
    ) -> None:
        self._cluster = cluster
        self._partitions = list(partitions)
        self._committed = committed
        self._positions: dict[TopicPartition, int] = {}

    def seek(self, start: StartAt) -> list[str]:
        """Go to where every partition is to be read from; what had to be corrected."""
        corrected = []
        for partition in self._partitions:
            self._positions[partition], line = resolve(self._cluster, partition, start)
            corrected += [line] if line is not None else []
        return corrected

    def poll(self) -> Iterator[Fetched]:
        """All that is there now."""
        for partition in self._partitions:
            for fetched in fetch(self._cluster, partition, self._positions[partition], self._committed):
                self._positions[partition] = fetched.next_offset
                if fetched.records:
                    yield fetched


def resolve(cluster: Cluster, partition: TopicPartition, start: StartAt) -> tuple[int, str | None]:
    """The offset where a partition is to be read from, and a line about it where that had to be corrected."""
    earliest, latest = cluster.offset(partition, EARLIEST) or 0, cluster.offset(partition, LATEST) or 0
    named = {EARLIEST: earliest, LATEST: latest}
    offset = named.get(start.offset, start.offset)
    if earliest <= offset <= latest:
        return offset, None
    if start.reset is None:
        raise _out_of_range(partition, offset)
    found = named[start.reset]
    return found, f"Fetch position {offset} is out of range for partition {partition}, resetting offset to {found}"


def fetch(cluster: Cluster, partition: TopicPartition, position: int, committed: bool = False) -> Iterator[Fetched]:
    """Batch by batch what is there now from ``position`` on; a control batch comes without records."""
    for batch in cluster.read(partition, position, committed):
        records = [] if batch.header.is_control else _records(partition, batch, position)
        header = batch.header
        yield Fetched(partition, _timestamp_type(batch), records, header.last_offset + 1, header.partition_leader_epoch)


def _records(partition: TopicPartition, batch: Batch, position: int) -> list[Record]:
    try:
        _ensure_valid(batch)
        records = list(batch_records(batch))
    except FormatError as error:
        base = batch.header.base_offset
        raise CorruptRecordError(
            f"Record batch for partition {partition} at offset {base} is invalid, cause: {error}"
        ) from None
    if records and records[0].offset < position:
        records = [record for record in records if record.offset >= position]
    return records


def follow(
    consumer: Consumer, timeout_ms: int | None, clock: Callable[[], float], sleep: Callable[[float], object]
) -> Iterator[Fetched | None]:
    """Pass after pass, with a None before each pause, until nothing has come for ``timeout_ms`` (None: for ever)."""
    last = clock()
    while True:
        for fetched in consumer.poll():
            yield fetched
            last = clock()
        yield None
        pause = POLL_INTERVAL_MS / 1000
        if timeout_ms is not None:
            left = timeout_ms / 1000 - (clock() - last)
            if left <= 0:
                return
            pause = min(pause, left)
        sleep(pause)


def limited(fetched: Iterable[Fetched | None], max_messages: int) -> Iterator[Fetched | None]:
    """The first ``max_messages`` records; nothing more is read than what holds them."""
    left = max_messages
    if max_messages == UNLIMITED:
        yield from fetched
        return
    if left <= 0:
        return
    for each in fetched:
        if each is None:
            yield None
            continue
        yield each if len(each.records) <= left else each._replace(records=each.records[:left])
        left -= len(each.records)
        if left <= 0:
            return


def _timestamp_type(batch: Batch) -> str | None:
    return None if batch.header.magic == 0 else batch.header.timestamp_type


def _ensure_valid(batch: Batch) -> None:
    """Check a batch's checksum; that of an old message is checked where it is read."""
    if batch.header.magic < 2:
        return

    computed = crc32c(memoryview(batch.data)[ATTRIBUTES_POSITION:])
    if computed != batch.header.crc:
        raise CorruptRecordError(f"Record is corrupt (stored crc = {batch.header.crc}, computed crc = {computed})")


def _out_of_range(partition: TopicPartition, offset: int) -> KafkaError:
    return KafkaError(
        "OffsetOutOfRangeException",
        f"Fetch position {offset} is out of range for partition {partition} and no reset policy is configured",
    )
