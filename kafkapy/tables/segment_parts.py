"""Byte ranges of segments: how a log is split, so that one large segment keeps every core busy.

Invariant: the parts of a log do not overlap, each begins and ends where a batch does, and together they hold every
batch that a scan can have rows of. They are cut at entries of the .index with which the log agrees; without such
entries a segment is one part.

A lower bound of time goes by the .timeindex, as a broker does: the last entry of a segment that is closed is its
largest timestamp, and before any entry nothing is later than it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.errors import KafkapyError
from kafkapy.formats.offset_index import OffsetIndex, OffsetPosition
from kafkapy.formats.record_batch import BatchHeader
from kafkapy.log.config import MAX_LONG
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.segment_reader import SegmentReader
from kafkapy.tables.opening import absent, chosen_logs, losses, open_paths
from kafkapy.tables.scan import Mode, Scan
from kafkapy.tables.table import Split


class LogPart(NamedTuple):
    """The bytes ``start`` to ``end`` of a .log, of which the records from ``first_offset`` to ``end_offset`` count. The
    path is empty where there is no .log."""

    path: str
    start: int
    end: int
    first_offset: int
    end_offset: int
    aborted: tuple[tuple[int, int, int], ...] = ()
    """Producer id, first and last offset of transactions to leave out."""
    tail: str | None = None
    """Why the log ends here though its file goes on, or is not here at all, or None; such a part has no bytes."""

    @property
    def has_bytes(self) -> bool:
        """Whether there is anything to read."""
        return self.start < self.end

    def is_aborted(self, producer_id: int, offset: int) -> bool:
        """Whether a transactional batch is of a transaction to leave out."""
        return any(producer == producer_id and first <= offset <= last for producer, first, last in self.aborted)

    def leaves_out(self, header: BatchHeader) -> bool:
        """The same of any batch; markers stay."""
        is_data = header.is_transactional and not header.is_control
        return is_data and self.is_aborted(header.producer_id, header.base_offset)


def log_splits(scan: Scan, is_named: bool = True) -> list[Split]:
    """The parts of every log that a scan is about; with failfast an error where records are lost for certain.
    ``is_named`` where topics or partitions that the scan names are those that somebody asked for."""
    cluster = open_paths(scan.paths)
    logs = list(chosen_logs(cluster, scan))
    is_asked_for = is_named and names_partitions(scan)
    check_losses(cluster, scan, logs, is_asked_for)
    splits = [
        Split(log.partition.topic, log.partition.partition, part.end - part.start, part)
        for log in logs
        for part in log_parts(cluster, log, scan)
    ]
    return [*splits, *absent_splits(cluster, scan, is_asked_for)]


def names_partitions(scan: Scan) -> bool:
    """Whether a scan is about some topics or partitions only."""
    return (scan.topics, scan.partitions) != (None, None)


def check_losses(cluster: LogDirsCluster, scan: Scan, logs: Sequence[PartitionReader], is_named: bool) -> None:
    """With failfast, an error where records are lost for certain."""
    lost = losses(absent(cluster, scan), scan, logs, is_named) if scan.mode is Mode.FAILFAST else []
    if lost:
        raise lost_records(lost)


def lost_records(lost: Sequence[str]) -> KafkapyError:
    """What failfast says of losses."""
    more = f" (and {len(lost) - 1} more like that)" if len(lost) > 1 else ""
    return KafkapyError(f"{lost[0]}{more}: the mode {Mode.DROPMALFORMED} reads what is left")


def absent_splits(cluster: LogDirsCluster, scan: Scan, is_named: bool) -> list[Split]:
    """For permissive, a split for each partition of which no copy is here: it has one row, which says so."""
    if scan.mode is not Mode.PERMISSIVE:
        return []
    missing = absent(cluster, scan)
    return [
        Split(*partition, 0, LogPart("", 0, 0, 0, 0, tail=missing.problem(partition)))
        for partition in missing.missed(is_named)
    ]


def log_parts(cluster: LogDirsCluster, log: PartitionReader, scan: Scan) -> Iterator[LogPart]:
    """The parts of one log, in order; the last of all also has what is wrong with the log's end, for permissive."""
    last_offset = log.log_end_offset
    if scan.committed:
        last_offset = log.last_stable_offset(cluster.high_watermark(log.partition, log))
    start = max(log.log_start_offset, scan.offsets.start or 0)
    end = last_offset if scan.offsets.end is None else min(last_offset, scan.offsets.end)
    aborted = tuple(
        (txn.producer_id, txn.first_offset, txn.last_offset)
        for txn in (log.aborted_transactions(start, end) if scan.committed and start < end else ())
    )
    following = [segment.base_offset for segment in log.segments[1:]]
    for segment, next_base in zip(log.segments, [*following, log.log_end_offset], strict=bool(log.segments)):
        if next_base <= start or segment.base_offset >= end or _is_too_old(segment, scan.timestamps.start):
            continue
        own = tuple(txn for txn in aborted if txn[1] < next_base and txn[2] >= segment.base_offset)
        first = max(start, _first_offset(segment, scan.timestamps.start))
        is_whole = first <= segment.base_offset and end >= next_base
        for begin, until in pairwise(_cuts(segment, None if is_whole else (first, end), scan.split_bytes)):
            yield LogPart(segment.log_path, begin, until, start, end, own)
    if scan.mode is Mode.PERMISSIVE and end == log.log_end_offset and log.damage is not None:
        last = log.segments[-1] if log.segments else None
        path, position = ("", 0) if last is None else (last.log_path, last.end().position)
        yield LogPart(path, position, position, start, end, tail=log.damage)


def _is_too_old(segment: SegmentReader, since: int | None) -> bool:
    return since is not None and segment.max_timestamp.timestamp < since


def _first_offset(segment: SegmentReader, since: int | None) -> int:
    """Before it nothing is at or after ``since``, an entry's timestamp being the largest so far."""
    return segment.base_offset if since is None else segment.time_index.lookup(since - 1).offset


def _cuts(segment: SegmentReader, offsets: tuple[int, int] | None, size: int) -> list[int]:
    """Where parts begin, and the last one ends. Without ``offsets`` all of the segment is meant, and if it is no larger
    than a part its index is not even opened: there may be a million segments."""
    begin, until = 0, segment.size if segment.closed else segment.end().position
    if offsets is None and until <= size:
        return [begin, until] if until else []
    index = segment.offset_index
    entries = range(index.written_count)
    if offsets is not None:
        first, end = offsets
        begin = next(iter(segment.boundaries([index.lookup(first)])), 0)
        past = bisect_left(entries, max(end, 1) - 1, key=lambda number: index.entry(number).offset) + 1
        until = next(iter(segment.boundaries(_entries(index, range(past, min(past + 1, len(entries)))))), until)
    wanted, position = [], begin
    while (number := bisect_left(entries, position + size, key=lambda each: index.entry(each).position)) < len(entries):
        position = index.entry(number).position
        if position >= until:
            break
        wanted.append(number)
    between = [each for each in segment.boundaries(_entries(index, wanted)) if begin < each < until]
    return [begin, *between, until] if until > begin else []


def _entries(index: OffsetIndex, numbers: Sequence[int]) -> Iterator[OffsetPosition]:
    return map(index.entry, numbers)


def bounds(part: LogPart, scan: Scan) -> tuple[int, int, int, int]:
    """First and end offset, first and end timestamp, as the kernel takes them; who asks for a time wants one."""
    first_time, end_time = -MAX_LONG - 1, MAX_LONG
    if scan.timestamps.start is not None or scan.timestamps.end is not None:
        first_time = max(0, scan.timestamps.start or 0)
        end_time = MAX_LONG if scan.timestamps.end is None else scan.timestamps.end
    return part.first_offset, part.end_offset, first_time, end_time
