"""How a record is found: the steps of Kafka's search by offset or by timestamp, with what each read.

By offset:
    segment        the last one whose base offset is not above the target
    offset index   binary search for the last entry not above it: (relative offset, position in the .log)
    batches        from that position on, header by header, up to the first that ends at or after the target
    record         the first at or after the target; not the target itself where compaction removed that

By timestamp there are two steps before:
    segment        the first whose largest timestamp, the last entry of its .timeindex, reaches the target
    time index     binary search for the last entry not above it: every record that is later comes after its offset

Kafka searches the last 8 KiB of an index first, since most lookups are near the end and those pages are warm. An index
is a hint: where the log does not agree with the entry, the scan begins at the start of the segment.

A search only reads. ``bytes_read`` of a step is what that step needs of the file: 8 or 12 bytes an index entry, the
header of a batch that is passed over, the whole of the batch that has the record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.abstract_index import AbstractIndex
from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, Record
from kafkapy.formats.time_index import ENTRY as TIME_ENTRY
from kafkapy.log.batch import Batch, batch_bytes
from kafkapy.log.log_view import LogView
from kafkapy.log.names import INDEX_SUFFIX, TIME_INDEX_SUFFIX
from kafkapy.log.segment_reader import SegmentReader

WARM_BYTES = 8192


class SegmentStep(NamedTuple):
    """A segment that was looked at; ``largest_timestamp`` only in a search by timestamp."""

    file: str
    base_offset: int
    size: int
    largest_timestamp: int | None
    chosen: bool
    bytes_read: int = 0


class Probe(NamedTuple):
    """An index entry that was looked at: of an .index (offset, position), of a .timeindex (timestamp, offset)."""

    slot: int
    key: int
    value: int


class IndexStep(NamedTuple):
    """A binary search; ``found`` is None where the target is before the first entry."""

    file: str
    kind: str
    base_offset: int
    entry_count: int
    target: int
    probes: tuple[Probe, ...]
    found: Probe | None
    bytes_read: int


class BatchStep(NamedTuple):
    """A batch of the scan; the last one of a successful search is ``chosen``."""

    file: str
    position: int
    size: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    chosen: bool
    bytes_read: int


class RecordStep(NamedTuple):
    """What was found: the record, and the batch it is in, which was read already."""

    file: str
    record: Record
    timestamp_type: str
    batch_position: int
    bytes_read: int = 0


Step = SegmentStep | IndexStep | BatchStep | RecordStep


class Lookup(NamedTuple):
    """A whole search; the last step is a RecordStep, unless there is no such record."""

    steps: tuple[Step, ...]
    log_size: int

    @property
    def record(self) -> Record | None:
        """What was found."""
        last = self.steps[-1] if self.steps else None
        return last.record if isinstance(last, RecordStep) else None

    @property
    def index_bytes(self) -> int:
        """What was read of indexes; the largest timestamp of a segment comes out of one."""
        return sum(step.bytes_read for step in self.steps if isinstance(step, SegmentStep | IndexStep))

    @property
    def log_bytes(self) -> int:
        """What was read of .log files."""
        return sum(step.bytes_read for step in self.steps if isinstance(step, BatchStep))


def lookup_offset(log: LogView[Any], offset: int) -> Lookup:
    """The search for the record at ``offset``, or the next one that is left."""
    if not log.log_start_offset <= offset < log.log_end_offset:
        raise KafkaError(
            "OffsetOutOfRangeException",
            f"offset {offset} is out of range: {log.partition} has offsets from {log.log_start_offset} to "
            f"{log.log_end_offset}, exclusive",
        )
    return Lookup(tuple(_offset_steps(log, offset)), log.size)


def lookup_timestamp(log: LogView[Any], timestamp: int) -> Lookup:
    """The search for the first record at or after ``timestamp``."""
    return Lookup(tuple(_timestamp_steps(log, timestamp)), log.size)


def _offset_steps(log: LogView[Any], offset: int) -> Iterator[Step]:
    first = max(number for number, segment in enumerate(log.segments) if number == 0 or segment.base_offset <= offset)
    for segment in log.segments[first:]:
        yield SegmentStep(_name(segment.log_path), segment.base_offset, segment.size, None, True)
        for step in _scan(segment, offset, offset, None):
            yield step
            if isinstance(step, RecordStep):
                return


def _timestamp_steps(log: LogView[Any], timestamp: int) -> Iterator[Step]:
    for segment in log.segments:
        largest = segment.largest_timestamp
        name = _name(segment.log_path)
        yield SegmentStep(name, segment.base_offset, segment.size, largest, largest >= timestamp, TIME_ENTRY.size)
        if largest < timestamp:
            continue
        by_time = _search(segment, TIME_INDEX_SUFFIX, segment.time_index, timestamp)
        yield by_time
        start = segment.base_offset if by_time.found is None else by_time.found.value
        for step in _scan(segment, max(start, log.log_start_offset), log.log_start_offset, timestamp):
            yield step
            if isinstance(step, RecordStep):
                return


def _scan(segment: SegmentReader, start: int, at_least: int, timestamp: int | None) -> Iterator[Step]:
    """The offset index, then batches from where it points to the first record that will do."""
    yield _search(segment, INDEX_SUFFIX, segment.offset_index, start)
    file = _name(segment.log_path)
    for window, header in segment.walk_from(start):
        will_do = header.last_offset >= at_least and (timestamp is None or header.max_timestamp >= timestamp)
        record = None
        if will_do:
            batch = Batch(header, window.position, batch_bytes(window, header.size))
            record = _first_record(batch, at_least, timestamp)
        yield _batch_step(file, window.position, header, record is not None, will_do)
        if record is not None:
            yield RecordStep(file, record, header.timestamp_type, window.position)
            return


def _first_record(batch: Batch, at_least: int, timestamp: int | None) -> Record | None:
    for record in batch.records():
        if record.offset >= at_least and (timestamp is None or record.timestamp >= timestamp):
            return record
    return None


def _batch_step(file: str, position: int, header: BatchHeader, chosen: bool, read_whole: bool) -> BatchStep:
    return BatchStep(
        file,
        position,
        header.size,
        header.base_offset,
        header.last_offset,
        header.max_timestamp,
        chosen,
        header.size if read_whole else min(header.size, HEADER_SIZE),
    )


def _search(segment: SegmentReader, suffix: str, index: AbstractIndex[Any], target: int) -> IndexStep:
    probes: dict[int, Probe] = {}

    def probe(slot: int) -> int:
        probes[slot] = Probe(slot, *index.entry(slot))
        return probes[slot].key

    found = _largest_lower_bound(index.written_count, WARM_BYTES // index.ENTRY.size, target, probe)
    return IndexStep(
        _name(segment.path(suffix)),
        "time" if suffix == TIME_INDEX_SUFFIX else "offset",
        segment.base_offset,
        index.written_count,
        target,
        tuple(probes.values()),
        None if found is None else Probe(found, *index.entry(found)),
        len(probes) * index.ENTRY.size,
    )


def _largest_lower_bound(count: int, warm: int, target: int, probe: Callable[[int], int]) -> int | None:
    """Kafka's search, step by step: the warm end of the index first, then the rest."""
    if count == 0:
        return None
    first_warm = max(0, count - 1 - warm)
    if probe(first_warm) < target:
        low, high = first_warm, count - 1
    elif probe(0) > target:
        return None
    else:
        low, high = 0, first_warm
    while low < high:
        middle = (low + high + 1) // 2
        key = probe(middle)
        if key == target:
            return middle
        low, high = (low, middle - 1) if key > target else (middle, high)
    return low


def _name(path: str) -> str:
    return os.path.basename(path)
