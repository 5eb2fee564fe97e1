"""A segment that is written: batches at the end of the .log, and an entry in the indexes now and then.

Invariant, Kafka 4.x's rule, batch by batch: when more than ``index.interval.bytes`` were added since the last entry,
a batch gets an offset entry (its last offset, its position) and, if the largest timestamp grew since the last one, a
time entry (that timestamp, the last offset of the batch that brought it). The first batch never has an entry. When the
segment is rolled or closed, a last time entry is forced. So Kafka and kafkapy make the same index bytes of the same
batches.

After a crash ``recover`` walks the log from its start, cuts it before the first batch that is torn or fails its
checksum, makes the indexes anew by the same rule, and tells the producer state and the leader epochs what it met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError, DamagedFileError
from kafkapy.formats import transaction_index
from kafkapy.formats.abstract_index import MAX_RELATIVE_OFFSET
from kafkapy.formats.offset_index import ENTRY as OFFSET_ENTRY
from kafkapy.formats.offset_index import OffsetIndex
from kafkapy.formats.time_index import ENTRY as TIME_ENTRY
from kafkapy.formats.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.batch import batch_bytes, walk
from kafkapy.log.index_file import IndexFile, truncated_count
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX, SEGMENT_SUFFIXES, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX
from kafkapy.log.segment_reader import SegmentEnd, SegmentReader
from kafkapy.log.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.log.config import LogConfig
    from kafkapy.log.files import Files

    Visit = Callable[[BatchHeader, Callable[[], bytes]], None]


class RollParams(NamedTuple):
    """What is about to be appended."""

    size: int
    max_timestamp: int
    last_offset: int
    now: int


class LogSegment(SegmentReader):
    """``created`` and ``jitter_ms`` decide when it is rolled by time."""

    def __init__(
        self,
        directory: str,
        base_offset: int,
        config: LogConfig,
        files: Files,
        created: int = 0,
        jitter_ms: int = 0,
        state: str = "",
    ) -> None:
        super().__init__(directory, base_offset, state=state)
        self._config = config
        self._files = files
        self._created = created
        self._jitter_ms = jitter_ms
        self._offsets = IndexFile(self.path(INDEX_SUFFIX), OffsetIndex, base_offset, files)
        self._times = IndexFile(self.path(TIME_INDEX_SUFFIX), TimeIndex, base_offset, files)
        self._bytes_since_last_index_entry = 0
        self._max_timestamp: TimestampOffset | None = None
        self._first_timestamp: int | None = None
        self._txns_changed = False

    def create(self) -> None:
        """Make the files of a segment that is not there yet."""
        self._files.append(self.log_path, b"")
        self._offsets.save()
        self._times.save()
        self._files.fsync_dir(self.directory)

    @property
    def offset_index(self) -> OffsetIndex:
        return self._offsets.index

    @property
    def time_index(self) -> TimeIndex:
        return self._times.index

    @property
    def max_timestamp(self) -> TimestampOffset:
        if self._max_timestamp is None:
            self._max_timestamp = self.time_index.last_entry()
        return self._max_timestamp

    def append(self, data: bytes, headers: Sequence[BatchHeader]) -> None:
        """Add whole batches with one write; ``headers`` are theirs, in order."""
        position = self.size
        self._files.append(self.log_path, data)
        self.size += len(data)
        if position == 0:
            self._first_timestamp = headers[0].max_timestamp
        for header in headers:
            self._index(header, position)
            position += header.size

    def append_aborted_txn(self, txn: AbortedTxn) -> None:
        """Remember a transaction whose abort marker is in this segment."""
        self._files.append(self.path(TXN_INDEX_SUFFIX), transaction_index.encode([txn]))
        self._txns_changed = True

    def should_roll(self, params: RollParams) -> bool:
        """Whether the batches belong into a new segment."""
        return (
            self.size > self._config.segment_bytes - params.size
            or self._offsets.count >= self._config.segment_index_bytes // OFFSET_ENTRY.size
            or self._times.count >= self._config.segment_index_bytes // TIME_ENTRY.size - 1
            or not 0 <= params.last_offset - self.base_offset <= MAX_RELATIVE_OFFSET
            or (self.size > 0 and self._time_waited(params) > self._config.max_segment_ms - self._jitter_ms)
        )

    def become_inactive(self) -> None:
        """Force the last time entry, and bring all to disk; nothing is appended after it."""
        self._append_time(self.max_timestamp)
        self.flush()

    def flush(self) -> None:
        """Return when the batches, and their index entries, would survive the machine."""
        self._files.fsync(self.log_path)
        for index in (self._offsets, self._times):
            if index.save():
                self._files.fsync(index.path)
        if self._txns_changed:
            self._files.fsync(self.path(TXN_INDEX_SUFFIX))
            self._txns_changed = False

    def release(self) -> None:
        """Let go of the open files."""
        for suffix in SEGMENT_SUFFIXES:
            self._files.release(self.path(suffix))

    def set_modified(self, time_ms: int) -> None:
        """Date its files, as compaction does: what it wrote is as old as what it read."""
        for suffix in (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            self._files.set_modified(self.path(suffix), time_ms)

    def remove(self) -> None:
        """Remove its files, those that are there."""
        for suffix in SEGMENT_SUFFIXES:
            self._files.unlink(self.path(suffix))
        self.size = 0

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch with ``offset`` and all after it; the number of bytes that went."""
        return self.cut(SegmentEnd(offset, next((position for position, _ in self.headers(offset)), self.size)))

    def cut(self, end: SegmentEnd) -> int:
        """Let the segment end there: at a batch with that offset, or behind the last good one; the number of bytes that
        went."""
        offset = end.offset
        self._offsets.truncate(truncated_count(self.offset_index, offset, 0))
        self._times.truncate(truncated_count(self.time_index, offset, 1))
        self._truncate_txns(offset)
        removed = self._truncate_log(end.position)
        self._offsets.save()
        self._times.save()
        self._first_timestamp = None
        self._bytes_since_last_index_entry = 0
        self._max_timestamp = self._largest_after(self.time_index.last_entry())
        return removed

    def recover(self, visit: Visit) -> int:
        """Rebuild the indexes and cut off a bad end; the number of bytes that went.

        ``visit`` gets the header of each good batch, and a way to its bytes.
        """
        self._offsets.truncate(0)
        self._times.truncate(0)
        self._keep_txns(0)
        self._max_timestamp = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self._bytes_since_last_index_entry = valid_bytes = 0
        with Window(self.log_path) as window:
            try:
                for position, header in walk(window, verify=True):
                    self._check_in_range(header, position)
                    self._index(header, position)
                    valid_bytes = position + header.size
                    visit(header, lambda header=header: batch_bytes(window, header.size))  # type: ignore[misc]
            except CorruptRecordError:
                pass  # the log ends here
        removed = self._truncate_log(valid_bytes)
        self._append_time(self._max_timestamp)
        self._bytes_since_last_index_entry = 0
        self.flush()
        return removed

    def _index(self, header: BatchHeader, position: int) -> None:
        last_offset = header.base_offset + header.last_offset_delta
        if header.max_timestamp > self.max_timestamp.timestamp:
            self._max_timestamp = TimestampOffset(header.max_timestamp, last_offset)
        if self._bytes_since_last_index_entry > self._config.index_interval_bytes:
            self._offsets.entries.extend(OFFSET_ENTRY.pack(last_offset - self.base_offset, position))
            self._append_time(self.max_timestamp)
            self._bytes_since_last_index_entry = 0
        self._bytes_since_last_index_entry += header.size

    def _append_time(self, largest: TimestampOffset) -> None:
        entries = self._times.entries
        last = TIME_ENTRY.unpack_from(entries, len(entries) - TIME_ENTRY.size)[0] if entries else NO_TIMESTAMP
        if largest.timestamp > last:
            entries.extend(TIME_ENTRY.pack(largest.timestamp, largest.offset - self.base_offset))

    def _time_waited(self, params: RollParams) -> int:
        if self._first_timestamp is None:
            header = next((header for _, header in self.headers(self.base_offset)), None)
            self._first_timestamp = NO_TIMESTAMP if header is None else header.max_timestamp
        if self._first_timestamp >= 0:
            return params.max_timestamp - self._first_timestamp
        return params.now - self._created

    def _truncate_log(self, size: int) -> int:
        removed = self.size - size
        if removed:
            self._files.truncate(self.log_path, size)
            self.size = size
        return removed

    def _truncate_txns(self, offset: int) -> None:
        self._keep_txns(sum(txn.last_offset < offset for txn in self.transaction_index))

    def _keep_txns(self, count: int) -> None:
        size = count * len(transaction_index.encode([AbortedTxn(0, 0, 0, 0)]))
        if size < len(self.transaction_index.buffer):
            self._files.truncate(self.path(TXN_INDEX_SUFFIX), size)
            self._txns_changed = True

    def _check_in_range(self, header: BatchHeader, position: int) -> None:
        if not 0 <= header.last_offset - self.base_offset <= MAX_RELATIVE_OFFSET:
            reason = f"offset {header.last_offset} does not belong in a segment that begins at {self.base_offset}"
            raise DamagedFileError(self.log_path, position, reason)
