"""Index files: their entries, and whether the log agrees with them.

Every entry of an .index names a batch: the batch at its position must end with its offset. Every entry of a
.timeindex names a batch too, through the .index: that batch must exist and its largest timestamp must be the entry's.
What disagrees is kept for the report at the end. Kafka's tool creates a missing .index and dies over it; here nothing
is ever written.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kafkapy.errors import CorruptIndexError, CorruptRecordError, DamagedFileError, FormatError
from kafkapy.formats.offset_index import OffsetIndex
from kafkapy.formats.time_index import TimeIndex, TimestampOffset
from kafkapy.log.batches import Entry, last_offset, next_entry
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX
from kafkapy.log.window import Window
from kafkapy.scan.batch_times import max_record_timestamp
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.report import Report
from kafkapy.scan.rows import Emit, OffsetIndexRow, TimeIndexRow

NO_TIMESTAMP = -1


def beside(path: str, suffix: str) -> str:
    """The file of the same segment with another suffix."""
    return os.path.join(os.path.dirname(path), os.path.basename(path).split(".")[0] + suffix)


@contextmanager
def mapped(path: str) -> Iterator[mmap.mmap | bytes]:
    """A file's bytes, without reading them all."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def dump_offset_index(path: str, base_offset: int, options: DumpOptions, report: Report, emit: Emit) -> None:
    """Print an .index and compare each entry with the batch at its position."""
    with Window(beside(path, LOG_SUFFIX)) as log, mapped(path) as data:
        index = OffsetIndex(base_offset, data)
        if index.entry_count == 0:
            emit(f"{path} is empty.", None)
            return
        if options.index_sanity_check:
            _check(index, path)
            emit(f"{path} passed sanity check.", None)
            return
        for number, entry in enumerate(index):
            found = _last_offset_at(log, entry.position, options.max_message_size, path, number * index.ENTRY.size)
            if found != entry.offset:
                report.index_mismatch(path, entry.offset, found)
            if not options.verify_index_only:
                row = OffsetIndexRow(path, entry.offset, entry.position, found, found == entry.offset)
                emit(f"offset: {entry.offset} position: {entry.position}", row)


def _last_offset_at(log: Window, position: int, size: int, path: str, index_position: int) -> int:
    """The last offset of the batch at ``position`` of the log, looking at ``size`` bytes."""
    if not 0 <= position <= log.file_size:
        raise DamagedFileError(
            path, index_position, f"an entry points to position {position} of a log of {log.file_size} bytes"
        )
    log.limit = min(position + size, log.file_size)
    log.seek(position)
    try:
        entry = next_entry(log)
        if entry is None:
            raise CorruptRecordError(f"no whole batch at position {position} of the log")
        return last_offset(log, entry)
    except FormatError as error:
        raise DamagedFileError(path, index_position, str(error)) from None


def _check(index: OffsetIndex | TimeIndex, path: str) -> None:
    try:
        index.sanity_check(os.path.abspath(path))
    except CorruptIndexError as error:
        raise DamagedFileError(path, (index.entry_count - 1) * index.ENTRY.size, str(error)) from None


def dump_time_index(path: str, base_offset: int, options: DumpOptions, report: Report, emit: Emit) -> None:
    """Print a .timeindex and compare each entry with the batch that its offset leads to."""
    index_path = beside(path, INDEX_SUFFIX)
    log_path = beside(path, LOG_SUFFIX)
    with Window(log_path) as log, Window(log_path) as chain, mapped(index_path) as index_data, mapped(path) as data:
        times = TimeIndex(base_offset, data)
        if options.index_sanity_check:
            _check(times, path)
            emit(f"{path} passed sanity check.", None)
            return
        checker = _TimeChecker(path, log, chain, OffsetIndex(base_offset, index_data), report)
        for number, entry in enumerate(times):
            checker.check(entry, number * times.ENTRY.size)
            if not options.verify_index_only:
                row = TimeIndexRow(path, entry.timestamp, entry.offset)
                emit(f"timestamp: {entry.timestamp} offset: {entry.offset}", row)


class _TimeChecker:
    """Compares time index entries with the log, in the order they stand in the file."""

    def __init__(self, path: str, log: Window, chain: Window, index: OffsetIndex, report: Report) -> None:
        self._path, self._log, self._chain, self._index, self._report = path, log, chain, index, report
        self._previous = NO_TIMESTAMP
        self._walked = False

    def check(self, entry: TimestampOffset, index_position: int) -> None:
        """Find the batch with the entry's offset and compare its largest timestamp."""
        start = self._index.lookup_over_slots(entry.offset).position
        if not 0 <= start <= self._log.file_size:
            raise DamagedFileError(
                self._path,
                index_position,
                f"the offset index leads to position {start} of a log of {self._log.file_size} bytes",
            )
        try:
            self._check_rest(start)
            batch = self._first_batch_with(entry.offset, start)
            if batch is None:
                self._report.offset_not_found(self._path, entry.offset, -1)
            elif last_offset(self._log, batch) != entry.offset:
                self._report.offset_not_found(self._path, entry.offset, last_offset(self._log, batch))
            else:
                self._compare(entry, batch)
        except FormatError as error:
            raise DamagedFileError(self._path, index_position, f"the log cannot be read: {error}") from None
        self._previous = entry.timestamp

    def _compare(self, entry: TimestampOffset, batch: Entry) -> None:
        found = max(NO_TIMESTAMP, max_record_timestamp(self._log, batch))
        if found != entry.timestamp:
            self._report.time_mismatch(self._path, entry.timestamp, found)
        if self._previous >= entry.timestamp:
            self._report.time_out_of_order(self._path, entry.timestamp, self._previous)

    def _first_batch_with(self, offset: int, start: int) -> Entry | None:
        self._log.seek(start)
        while (batch := next_entry(self._log)) is not None:
            if last_offset(self._log, batch) >= offset:
                return batch
            self._log.seek(batch.end)
        return None

    def _check_rest(self, start: int) -> None:
        """Fail where the walk from here to the end of the log fails, as Kafka's does for every entry.

        A walk that ended well stands for every place that it passed: ``_chain`` follows it. Any other place, which only
        a wrong index leads to, needs a walk of its own.
        """
        if self._walked:
            while self._chain.position < start and (batch := next_entry(self._chain)) is not None:
                self._chain.seek(batch.end)
            if self._chain.position == start:
                return
        self._log.seek(start)
        while (batch := next_entry(self._log)) is not None:
            self._log.seek(batch.end)
        if not self._walked:
            self._chain.seek(start)
            self._walked = True
