"""The rows that throughput is made of, out of a cluster: headers of batches, and segments.

Of files only headers are looked at, unless compression is to be measured. The time index tells where to begin and to
end: of a time there are the records from the first one at or after its start to the first one at or after its end. A
batch whose size is wrong hides what is behind it in its segment, and is told, as is a log that ends before its file
does. Checksums are not looked at. Brokers send no headers without their records: see ``fetched_batches``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.replicas import whole_copy
from kafkapy.errors import DamagedFileError, FormatError, KafkaError, Unsupported
from kafkapy.formats.compression import Codec, decompress
from kafkapy.formats.message_set import Message
from kafkapy.formats.record_batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader
from kafkapy.lag.batch_flow import BatchRow
from kafkapy.lag.log_answers import Tell
from kafkapy.lag.retention_forecast import SegmentRow
from kafkapy.log.batch import batch_bytes
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.segment_reader import SegmentReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.log.window import Window

UNKNOWN_CODEC = "unknown"


class Stretch(NamedTuple):
    """A time: from ``start`` to ``end``, exclusive; None is without a bound."""

    start: int | None = None
    end: int | None = None


class Wanted(NamedTuple):
    """Which topics, of when, and whether to tell how well batches are compressed. ``is_narrow`` where somebody named
    topics, or when to begin: not all that there is."""

    topic: Callable[[str], bool]
    stretch: Stretch
    measures: bool
    is_narrow: bool


def all_batch_rows(cluster: Cluster, wanted: Wanted, tell: Tell) -> Iterator[BatchRow]:
    """The wanted batches of a cluster."""
    try:
        for _, log in partition_logs(cluster, wanted.topic):
            yield from batch_rows(log, wanted.stretch, wanted.measures, tell)
    except Unsupported:  # nobody has the files of a running cluster
        from kafkapy.lag.fetched_batches import fetched_rows

        yield from fetched_rows(cluster, wanted, tell)


def partition_logs(cluster: Cluster, wants: Callable[[str], bool]) -> Iterator[tuple[TopicPartition, PartitionReader]]:
    """The logs of the wanted topics, the copy that counts of each; ``absent_partitions`` tells which are not here."""
    for name, topic in sorted(cluster.image().topics.items()):
        for number in sorted(topic.partitions) if wants(name) else ():
            partition = TopicPartition(name, number)
            try:
                reader = whole_copy(cluster.copies(partition))
            except KafkaError:
                continue
            if reader is not None:
                yield partition, reader


def batch_rows(log: PartitionReader, stretch: Stretch, measures: bool, tell: Tell) -> Iterator[BatchRow]:
    """The batches of a time."""
    start, end = _bounds(log, stretch)
    is_damaged = False
    following = [segment.base_offset for segment in log.segments[1:]]
    for segment, next_base in zip(log.segments, [*following, log.log_end_offset], strict=True):
        if start >= end or next_base <= start or segment.base_offset >= end:
            continue
        try:
            for window, header in segment.walk_from(start, whole=True):
                if start <= header.last_offset and header.base_offset < end:
                    yield _row_of(log.partition, segment, window, header, measures, tell)
                if header.last_offset + 1 >= end:
                    break  # what follows the end of the log is told as its damage
        except DamagedFileError as error:
            is_damaged = True
            tell(str(error))
    if not is_damaged and end == log.log_end_offset and log.damage is not None:
        tell(log.damage)


def segment_rows(log: PartitionReader) -> list[SegmentRow]:
    """The segments, as retention sees them."""
    rows = [SegmentRow(each.base_offset, each.size, each.largest_timestamp) for each in log.segments]
    if rows and rows[-1].size:
        first = next((header for _, header in log.segments[-1].headers(rows[-1].base_offset)), None)
        rows[-1] = rows[-1]._replace(first_timestamp=None if first is None else first.max_timestamp)
    return rows


def growth(log: PartitionReader, stretch: Stretch, now: int, tell: Tell) -> float | None:
    """Bytes a second that came in, up to now or the end of the time; None where nothing tells when it began."""
    size, start = 0, stretch.start
    for row in batch_rows(log, stretch, False, tell):
        size += row.size
        if stretch.start is None and row.timestamp >= 0:
            start = row.timestamp if start is None else min(start, row.timestamp)
    end = now if stretch.end is None else min(stretch.end, now)
    return None if start is None or end <= start else size * 1000 / (end - start)


def _bounds(log: PartitionReader, stretch: Stretch) -> tuple[int, int]:
    start, end = log.log_start_offset, log.log_end_offset
    if stretch.start is not None:
        first = log.offset_for_timestamp(stretch.start)
        start = end if first is None else first.offset
    if stretch.end is not None:
        past = log.offset_for_timestamp(stretch.end)
        end = end if past is None else past.offset
    return start, end


def _row_of(
    partition: TopicPartition, segment: SegmentReader, window: Window, header: BatchHeader, measures: bool, tell: Tell
) -> BatchRow:
    def damage(error: FormatError) -> None:
        tell(str(DamagedFileError(segment.log_path, window.position, str(error))))

    data = (lambda: batch_bytes(window, header.size)) if measures else None
    return batch_row(partition, header, data, damage)


def batch_row(
    partition: TopicPartition,
    header: BatchHeader,
    data: Callable[[], bytes] | None,
    damage: Callable[[FormatError], object],
) -> BatchRow:
    """The row of a batch; it is decompressed where there is ``data``, and ``damage`` hears if that fails."""
    label, body = UNKNOWN_CODEC, header.size - (HEADER_SIZE if header.magic >= 2 else LOG_OVERHEAD)
    uncompressed: int | None = None
    try:
        label = header.codec.label
        if header.codec is Codec.NONE:
            uncompressed = body
        elif data is not None:
            uncompressed = _measured(header, data())
    except FormatError as error:
        damage(error)
    return BatchRow(
        partition, header.base_offset, header.last_offset, header.max_timestamp, header.record_count, header.size,
        label, header.producer_id, header.is_control, body, uncompressed,
    )  # fmt: skip


def _measured(header: BatchHeader, data: bytes) -> int:
    if header.magic >= 2:
        return len(decompress(header.codec, data[HEADER_SIZE:]))
    message = Message(header.base_offset, memoryview(data)[LOG_OVERHEAD:])
    return len(decompress(header.codec, message.value or b"", header.magic))
