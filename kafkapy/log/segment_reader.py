"""A segment that is only read: ``%020d.log`` with its indexes, which are hints.

Invariant: offsets increase along the log. An index entry that the log does not agree with is not followed, so a
missing, stale or preallocated index makes reading slower and never wrong.

After a crash the end of the log may be torn. ``end`` walks from the last index entry and ends behind the last batch
whose checksum is right; where the file goes on behind it, it knows why that is not read. A damaged batch that good ones
follow is part of the log, so that whoever reads comes upon it and can say so; the recovery of a broker that was not
stopped cleanly would cut there, and lose what follows. Behind a size that is wrong no batch can be found: reading ends
there with an error, unless nobody asked for more.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError, DamagedFileError
from kafkapy.formats.offset_index import OffsetIndex, OffsetPosition
from kafkapy.formats.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from kafkapy.formats.transaction_index import TransactionIndex
from kafkapy.log.batch import Batch, batch_bytes, is_good, walk, why_bad
from kafkapy.log.batches import why_torn
from kafkapy.log.index_file import read_written
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX, SegmentFile
from kafkapy.log.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkapy.formats.record_batch import BatchHeader


PREALLOCATION_UNIT = 1 << 20


class SegmentEnd(NamedTuple):
    """Where the good batches end: the next offset, the byte, and why what follows is not read (None: nothing does)."""

    offset: int
    position: int
    reason: str | None = None


class SegmentReader:
    """``closed`` says that a later segment follows, so that its time index ends with its largest timestamp.

    ``state`` is what its files' names end with while it is not part of the log, such as ``.cleaned``.
    """

    def __init__(self, directory: str, base_offset: int, closed: bool = False, state: str = "") -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.closed = closed
        self.state = state
        self.log_path = self.path(LOG_SUFFIX)
        self.size = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None

    def path(self, suffix: str) -> str:
        """The path of one of the segment's files."""
        return os.path.join(self.directory, SegmentFile(self.base_offset, suffix, self.state).name)

    @property
    def offset_index(self) -> OffsetIndex:
        """The .index."""
        if self._offset_index is None:
            self._offset_index = OffsetIndex(self.base_offset, read_written(self.path(INDEX_SUFFIX), OffsetIndex))
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        """The .timeindex."""
        if self._time_index is None:
            self._time_index = TimeIndex(self.base_offset, read_written(self.path(TIME_INDEX_SUFFIX), TimeIndex))
        return self._time_index

    def headers(self, from_offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each batch that ends at or after ``from_offset``."""
        for window, header in self.walk_from(from_offset):
            if header.last_offset >= from_offset:
                yield window.position, header

    def read(self, start_offset: int, upper_bound: int | None = None) -> Iterator[Batch]:
        """The batches from the one with ``start_offset`` on, up to the one with ``upper_bound``, exclusive.

        Where they cannot be found any more before that, a DamagedFileError says where and why.
        """
        if upper_bound is not None and start_offset >= upper_bound:
            return
        for window, header in self.walk_from(start_offset, whole=True):
            if max(header.base_offset, header.last_offset) < start_offset:  # a damaged batch may end before it begins
                continue
            if upper_bound is not None and header.base_offset >= upper_bound:
                return
            yield Batch(header, window.position, batch_bytes(window, header.size))
            if upper_bound is not None and header.last_offset + 1 >= upper_bound:
                return  # what follows may be torn, and nobody asked for it

    def next_offset(self) -> int:
        """The offset after the last good batch."""
        return self.end().offset

    def end(self) -> SegmentEnd:
        """Where the good batches end."""
        end = SegmentEnd(self.base_offset, 0)
        if self.size:
            end = self._end_from(self.offset_index.last_entry().offset)
            if not end.position:  # all that the last index entry leads to is damaged
                end = self._end_from(self.base_offset)
        return end

    def _end_from(self, start: int) -> SegmentEnd:
        end = SegmentEnd(self.base_offset, 0)
        try:
            for window, header in self.walk_from(start, whole=True):
                if is_good(header, batch_bytes(window, header.size)):
                    end = SegmentEnd(header.last_offset + 1, window.position + header.size)
                elif end.reason is None:
                    end = end._replace(reason=why_bad(header))
        except DamagedFileError as error:
            if end.reason is None:
                end = end._replace(reason=error.reason)
        return end

    def is_preallocated(self, position: int) -> bool:
        """Whether there is nothing from ``position`` on but the space that a broker sets aside with log.preallocate.

        It makes a file as large as a segment may get. A crash leaves zeros too, yet not up to such a round size.
        """
        if self.size % PREALLOCATION_UNIT:
            return False
        with open(self.log_path, "rb") as file:
            file.seek(position)
            return not any(chunk.strip(b"\0") for chunk in iter(lambda: file.read(PREALLOCATION_UNIT), b""))

    @property
    def max_timestamp(self) -> TimestampOffset:
        """The largest timestamp, and the last offset of the first batch that has it; NO_TIMESTAMP where none has."""
        indexed = self.time_index.last_entry()
        if self.closed and self.time_index.written_count:
            return indexed
        if self.time_index.written_count and not self._has_timestamp(indexed):
            indexed = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        return self._largest_after(indexed)

    def _has_timestamp(self, indexed: TimestampOffset) -> bool:
        try:
            _, header = next(self.headers(indexed.offset), (0, None))
        except DamagedFileError:
            return False
        return header is not None and (header.max_timestamp, header.last_offset) == indexed

    def _largest_after(self, largest: TimestampOffset) -> TimestampOffset:
        try:
            for _, header in self.headers(largest.offset):
                if header.max_timestamp > largest.timestamp:
                    largest = TimestampOffset(header.max_timestamp, header.last_offset)
        except DamagedFileError:
            pass
        return largest

    @property
    def largest_timestamp(self) -> int:
        """The largest timestamp, or the file's age where the records have none, as messages of magic 0."""
        timestamp = self.max_timestamp.timestamp
        return timestamp if timestamp > NO_TIMESTAMP else self.modified

    @property
    def modified(self) -> int:
        """When the log was written to, in ms; compaction leaves it as it was."""
        return os.stat(self.log_path).st_mtime_ns // 1_000_000

    def find_offset_by_timestamp(self, timestamp: int, starting_offset: int) -> TimestampOffset | None:
        """The first record at or after ``starting_offset`` that is at or after ``timestamp``."""
        start = max(self.time_index.lookup(timestamp).offset, starting_offset)
        for window, header in self.walk_from(start):
            if header.max_timestamp < timestamp or header.last_offset < starting_offset:
                continue
            for record in Batch(header, window.position, batch_bytes(window, header.size)).records():
                if record.timestamp >= timestamp and record.offset >= starting_offset:
                    return TimestampOffset(record.timestamp, record.offset)
        return None

    def offset_of_max_timestamp(self) -> TimestampOffset | None:
        """The largest timestamp and the first record that has it."""
        largest = self.max_timestamp
        if largest.timestamp == NO_TIMESTAMP:
            return None
        batch = next(self.read(largest.offset))
        found = (record.offset for record in batch.records() if record.timestamp == largest.timestamp)
        offset = next(found, None)
        return None if offset is None else TimestampOffset(largest.timestamp, offset)

    @property
    def transaction_index(self) -> TransactionIndex:
        """The .txnindex; most segments have none."""
        path = self.path(TXN_INDEX_SUFFIX)
        try:
            with open(path, "rb") as file:
                return TransactionIndex(self.base_offset, file.read(), path)
        except FileNotFoundError:
            return TransactionIndex(self.base_offset, b"", path)

    def walk_from(self, offset: int, whole: bool = False) -> Iterator[tuple[Window, BatchHeader]]:
        """Batches from the index entry for ``offset`` on, so perhaps some that end before it.

        The walk ends before a torn batch; with ``whole`` that is an error, as any other damage is.
        """
        hint = self.offset_index.lookup(offset)
        with Window(self.log_path, limit=self.size) as window:
            window.seek(hint.position if self._agrees(window, hint) else 0)
            try:
                for _, header in walk(window):
                    yield window, header
            except CorruptRecordError as error:
                raise DamagedFileError(self.log_path, window.position, str(error)) from None
            if whole and window.remaining:
                raise DamagedFileError(self.log_path, window.position, why_torn(window))

    def boundaries(self, entries: Iterable[OffsetPosition]) -> Iterator[int]:
        """The positions of index entries at which the log has that batch."""
        with Window(self.log_path, limit=self.size) as window:
            yield from (entry.position for entry in entries if self._agrees(window, entry))

    def _agrees(self, window: Window, entry: OffsetPosition) -> bool:
        if not 0 < entry.position < self.size:
            return False
        window.seek(entry.position)
        try:
            return next((header.last_offset == entry.offset for _, header in walk(window)), False)
        except CorruptRecordError:
            return False
