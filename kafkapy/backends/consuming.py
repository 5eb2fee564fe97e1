"""Consuming partitions: from which offset on, which records, and how to wait for more.

A consumer has a position in each of its partitions, the offset of the next record. A pass goes through the partitions
in order, each from its position to its end as it is now; whoever follows makes another pass after a pause. Kafka
promises no order between partitions, so this one is as good as any, and it is always the same; but brokers that run are
asked at the same time, and what comes first is handed out first.

Not handed out: control records, and in the batch where a position lies, the records before it. What cannot be read ends
the reading of its partition and of no other: one without a leader or a copy from the start on, one with a batch that
fails its checksum when all before it has been handed out, one whose end is damaged where the good part ends. Each is
told, and ``is_whole`` is no longer true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import EARLIEST, LATEST, Cluster
from kafkapy.errors import CorruptRecordError, FormatError, KafkaError, KafkapyError, UsageError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.java_parsing import parse_long
from kafkapy.formats.record_batch import ATTRIBUTES_POSITION, Record
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topic_description import INTERNAL_TOPICS
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean

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
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        """``tell`` hears of what is not read, and why."""
        self._cluster = cluster
        self._partitions = list(partitions)
        self._fetcher = cluster.fetcher(committed, tell)
        self._tell = tell
        self._reset: int | None = None
        self._positions: dict[TopicPartition, int] = {}
        self._damages: dict[TopicPartition, str] = {}
        self.is_whole = True

    def seek(self, start: StartAt) -> list[str]:
        """Go to where every partition is to be read from; what had to be corrected."""
        self._reset = start.reset
        corrected = []
        for partition, found in zip(self._partitions[:], all_bounds(self._cluster, self._partitions), strict=True):
            if isinstance(found, KafkapyError):
                self._give_up(partition, f"{partition} is not read: {found}")
                continue
            self._positions[partition], line = within(found, partition, start)
            corrected += [line] if line is not None else []
        return corrected

    def poll(self, wait: bool = True) -> Iterator[Fetched]:
        """All that is there now; without ``wait``, what has come of it."""
        positions = self._positions
        for partition, batch, error in self._fetcher.to_end(positions) if wait else self._fetcher.poll(positions):
            if partition not in positions:
                continue
            try:
                if error is not None:
                    raise error
                assert batch is not None
                fetched = fetched_of(partition, batch, positions[partition])
            except KafkapyError as broken:
                self._recover(partition, broken)
                continue
            positions[partition] = fetched.next_offset
            if fetched.records:
                yield fetched
        for partition in list(self._partitions):
            self._look_for_damage(partition)

    def wait(self, seconds: float, sleep: Callable[[float], object]) -> None:
        """Wait for more."""
        self._fetcher.wait(seconds, sleep)

    def _recover(self, partition: TopicPartition, error: KafkapyError) -> None:
        """Go on elsewhere in a partition whose log has lost the position, if that is allowed; else give it up."""
        if not is_out_of_range(error):
            self._give_up(partition, self._broken_off(partition, str(error)))
            return
        start = StartAt(self._positions[partition], self._reset)
        self._positions[partition], line = resolve(self._cluster, partition, start)
        if line is not None:
            self._tell(line)

    def _look_for_damage(self, partition: TopicPartition) -> None:
        """Whoever follows looks again: a torn end may have been cut off meanwhile, and more been appended."""
        damage = self._cluster.damage(partition)
        if damage is not None and damage != self._damages.get(partition):
            self.is_whole = False
            self._damages[partition] = damage
            self._tell(self._broken_off(partition, damage))

    def _broken_off(self, partition: TopicPartition, why: str) -> str:
        return f"{partition} is read up to offset {self._positions[partition]} only: {why}"

    def _give_up(self, partition: TopicPartition, line: str) -> None:
        self.is_whole = False
        self._partitions.remove(partition)
        self._positions.pop(partition, None)
        self._tell(line)


def resolve(cluster: Cluster, partition: TopicPartition, start: StartAt) -> tuple[int, str | None]:
    """The offset where a partition is to be read from, and a line about it where that had to be corrected."""
    return within(_bounds(cluster, partition), partition, start)


Bounds = tuple[int, int]


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


def fetch(cluster: Cluster, partition: TopicPartition, position: int, committed: bool = False) -> Iterator[Fetched]:
    """Batch by batch what is there now from ``position`` on; a control batch comes without records."""
    for batch in cluster.read(partition, position, committed):
        yield fetched_of(partition, batch, position)


def fetched_of(partition: TopicPartition, batch: Batch, position: int) -> Fetched:
    """The records of a batch from ``position`` on; of a control batch none."""
    header = batch.header
    records = [] if header.is_control else _records(partition, batch, position)
    return Fetched(partition, _timestamp_type(batch), records, header.last_offset + 1, header.partition_leader_epoch)


def is_out_of_range(error: KafkapyError) -> bool:
    """Whether a log does not have the offset that it was asked for."""
    return isinstance(error, KafkaError) and error.name == "OffsetOutOfRangeException"


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
        for fetched in consumer.poll(wait=False):
            yield fetched
            last = clock()
        yield None
        pause = POLL_INTERVAL_MS / 1000
        if timeout_ms is not None:
            left = timeout_ms / 1000 - (clock() - last)
            if left <= 0:
                return
            pause = min(pause, left)
        consumer.wait(pause, sleep)


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
