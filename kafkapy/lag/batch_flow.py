"""What came into partitions, by the headers of batches: rows of batches in, rows of throughput out.

A batch counts at the time of its latest record, whole. Its records are those that its header tells; of what compaction
removed nothing is known, and a compressed message of a Kafka before 0.11 counts as one record. The bytes are those on
disk. How well a batch is compressed is only known where somebody decompressed it; a batch without a codec is as large
as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kafkapy.formats.record_batch import NO_PRODUCER_ID
from kafkapy.log.topic_partition import TopicPartition

NO_CODEC = "none"


class BatchRow(NamedTuple):
    """A batch of a partition. ``body`` is the size of the records in it, ``uncompressed`` what that was before
    compression, None if not known."""

    partition: TopicPartition
    base_offset: int
    last_offset: int
    timestamp: int
    records: int
    size: int
    codec: str = NO_CODEC
    producer_id: int = NO_PRODUCER_ID
    is_control: bool = False
    body: int = 0
    uncompressed: int | None = None


class Flow(NamedTuple):
    """What came in: of a topic, partition or producer (None: of all), in all the time or from ``start`` to ``end``,
    exclusive. ``compressed`` and ``uncompressed`` are the sizes of the records on disk and as they were before, 0 where
    that is not known of all batches."""

    topic: str | None
    partition: int | None
    producer_id: int | None
    start: int | None
    end: int | None
    batches: int
    records: int
    bytes: int
    first_timestamp: int | None
    last_timestamp: int | None
    codecs: tuple[tuple[str, int], ...]
    largest_batch: int
    compressed: int
    uncompressed: int

    @property
    def seconds(self) -> float | None:
        """The time that it came in; None where that is a moment."""
        first, last = (self.start, self.end) if self.start is not None else (self.first_timestamp, self.last_timestamp)
        return None if first is None or last is None or last <= first else (last - first) / 1000

    def rate(self, amount: int) -> float | None:
        """So many a second."""
        return None if self.seconds is None else amount / self.seconds

    @property
    def compression_ratio(self) -> float | None:
        """How many bytes a byte on disk stands for."""
        return self.uncompressed / self.compressed if self.compressed else None


class _Sum:
    def __init__(self) -> None:
        self.batches = self.records = self.bytes = self.largest = self.compressed = self.uncompressed = 0
        self.is_measured = True
        self.first: int | None = None
        self.last: int | None = None
        self.codecs: dict[str, int] = {}

    def add(self, row: BatchRow) -> None:
        self.batches += 1
        self.records += row.records
        self.bytes += row.size
        self.largest = max(self.largest, row.size)
        self.codecs[row.codec] = self.codecs.get(row.codec, 0) + 1
        if row.timestamp >= 0:
            self.first = row.timestamp if self.first is None else min(self.first, row.timestamp)
            self.last = row.timestamp if self.last is None else max(self.last, row.timestamp)
        if row.uncompressed is None:
            self.is_measured = False
        else:
            self.compressed += row.body
            self.uncompressed += row.uncompressed

    def merge(self, other: _Sum) -> None:
        self.batches += other.batches
        self.records += other.records
        self.bytes += other.bytes
        self.largest = max(self.largest, other.largest)
        self.compressed += other.compressed
        self.uncompressed += other.uncompressed
        self.is_measured = self.is_measured and other.is_measured
        self.first = min((each for each in (self.first, other.first) if each is not None), default=None)
        self.last = max((each for each in (self.last, other.last) if each is not None), default=None)
        for codec, batches in other.codecs.items():
            self.codecs[codec] = self.codecs.get(codec, 0) + batches

    def flow(self, of: tuple[str | None, int | None, int | None], start: int | None, end: int | None) -> Flow:
        codecs = tuple(sorted(self.codecs.items(), key=lambda each: (-each[1], each[0])))
        return Flow(
            *of, start, end, self.batches, self.records, self.bytes, self.first, self.last, codecs, self.largest,
            *((self.compressed, self.uncompressed) if self.is_measured else (0, 0)),
        )  # fmt: skip


Of = tuple[str | None, int | None, int | None]
NameOf = Callable[[BatchRow], Of]


def of_topic(row: BatchRow) -> Of:
    """Its topic."""
    return row.partition.topic, None, None


def of_partition(row: BatchRow) -> Of:
    """Its partition."""
    return row.partition.topic, row.partition.partition, None


def of_producer(row: BatchRow) -> Of:
    """Who sent it to which topic; all that have no producer id are one."""
    return row.partition.topic, None, row.producer_id


class Flows:
    """Adds up what came in, of all the time or, with a step, of each stretch of it. Batches without a timestamp are in
    no stretch. Sums of different rows can be merged."""

    def __init__(self, name_of: NameOf, step_ms: int | None = None) -> None:
        self._name_of = name_of
        self._step_ms = step_ms
        self._sums: dict[tuple[int | None, Of], _Sum] = {}

    def add(self, rows: Iterable[BatchRow]) -> None:
        """Count batches."""
        for row in rows:
            if self._step_ms is not None and row.timestamp < 0:
                continue
            start = None if self._step_ms is None else row.timestamp - row.timestamp % self._step_ms
            self._sum(start, self._name_of(row)).add(row)

    def merge(self, other: Flows) -> None:
        """Count what somebody else has added up."""
        for (start, of), each in other._sums.items():
            self._sum(start, of).merge(each)

    def _sum(self, start: int | None, of: Of) -> _Sum:
        if (start, of) not in self._sums:
            self._sums[start, of] = _Sum()
        return self._sums[start, of]

    def flows(self) -> list[Flow]:
        """What came in, the largest first; with a step, in the order of time."""
        found = [
            each.flow(of, start, None if start is None or self._step_ms is None else start + self._step_ms)
            for (start, of), each in self._sums.items()
        ]
        return sorted(found, key=lambda row: (row.start or 0, -row.bytes, row.topic, row.partition, row.producer_id))


def flows(rows: Iterable[BatchRow], name_of: NameOf, step_ms: int | None = None) -> list[Flow]:
    """What came in, of rows that are all here."""
    sums = Flows(name_of, step_ms)
    sums.add(rows)
    return sums.flows()


def largest(found: Iterable[Flow], count: int) -> list[Flow]:
    """Only those of the topics, partitions or producers that have most bytes in all the time."""
    flows = list(found)
    totals: dict[Of, int] = {}
    for each in flows:
        of = each.topic, each.partition, each.producer_id
        totals[of] = totals.get(of, 0) + each.bytes
    kept = set(sorted(totals, key=lambda of: -totals[of])[:count])
    return [each for each in flows if (each.topic, each.partition, each.producer_id) in kept]
