"""``index_entries``: a row for every entry of .index (``kind`` offset), .timeindex (time) and .txnindex (transaction).

``offset`` is what an entry leads to, ``position`` and ``timestamp`` what it says of it; an aborted transaction has its
four numbers instead. Columns of other kinds are null. Entries are those that were written: the zeros that a broker sets
aside behind them are no rows, nor is what a crash left out, which recovery adds.

Damage is what a broker would not trust: entries that do not increase, that lead past the end of their log, or that are
cut off. It ends its file; the others are read.

Of a scan, topics, partitions and broker choose whose files are read; offsets and timestamps bound the columns of those
names, so that with them entries that have none are no rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from kafkapy.errors import CorruptIndexError, DamagedFileError
from kafkapy.formats.offset_index import OffsetIndex, OffsetPosition
from kafkapy.formats.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from kafkapy.log.names import INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX
from kafkapy.log.segment_reader import SegmentReader
from kafkapy.tables.arrow_rows import TIMESTAMP, row_batches
from kafkapy.tables.damage_rows import DamageRows
from kafkapy.tables.opening import chosen_logs, open_paths
from kafkapy.tables.scan import Range, Scan
from kafkapy.tables.segment_parts import LogPart, absent_splits, check_losses, names_partitions
from kafkapy.tables.shared_splits import shared_splits
from kafkapy.tables.table import Split, Table, Tell, read_schema, unheard

SUFFIXES = (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX)
TXN_COLUMNS = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
TXN_ENTRY_SIZE = 34

Row = dict[str, Any]
Found = Callable[[DamagedFileError], None]


class IndexEntriesTable:
    """The table."""

    name = "index_entries"
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("file", pa.string()),
            ("kind", pa.string()),
            ("entry", pa.int64()),
            ("offset", pa.int64()),
            ("position", pa.int32()),
            ("timestamp", TIMESTAMP),
            ("producer_id", pa.int64()),
            ("first_offset", pa.int64()),
            ("last_offset", pa.int64()),
            ("last_stable_offset", pa.int64()),
        ]
    )

    def splits(self, scan: Scan) -> list[Split]:
        """The segments of each partition, small ones together."""
        cluster = open_paths(scan.paths)
        logs, is_named = list(chosen_logs(cluster, scan)), names_partitions(scan)
        check_losses(cluster, scan, logs, is_named)
        parts = (
            Split(
                log.partition.topic, log.partition.partition, _size(segment), (segment.directory, segment.base_offset)
            )
            for log in logs
            for segment in log.segments
        )
        return shared_splits([*parts, *absent_splits(cluster, scan, is_named)], scan)

    def read(self, scan: Scan, split: Split, tell: Tell = unheard) -> Iterator[pa.RecordBatch]:
        """The entries of these segments' indexes."""
        schema = read_schema(self, scan)
        for own in split.part:
            damages = DamageRows(self, scan, own, tell)
            if isinstance(own.part, LogPart):
                damages.end(own.part)
                yield from damages.batches()
                continue
            place = {"topic": own.topic, "partition": own.partition}
            rows = (place | row for row in _rows(SegmentReader(*own.part), damages.found))
            yield from row_batches(schema, (row for row in rows if _is_wanted(row, scan)))
            yield from damages.batches()


def _size(segment: SegmentReader) -> int:
    """Of what was written: an active index has 10 MiB set aside."""
    return min(segment.size, sum(_file_size(segment.path(suffix)) for suffix in SUFFIXES))


def _file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _is_wanted(row: Row, scan: Scan) -> bool:
    return _is_within(row.get("offset"), scan.offsets) and _is_within(row.get("timestamp"), scan.timestamps)


def _is_within(value: int | None, bounds: Range) -> bool:
    if bounds == Range():
        return True
    return (
        value is not None
        and (bounds.start is None or value >= bounds.start)
        and (bounds.end is None or value < bounds.end)
    )


def _rows(segment: SegmentReader, found: Found) -> Iterator[Row]:
    for read in (_offset_entries, _time_entries, _transaction_entries):
        try:
            yield from read(segment)
        except DamagedFileError as error:
            found(error)


def _offset_entries(segment: SegmentReader) -> Iterator[Row]:
    path, size = segment.path(INDEX_SUFFIX), OffsetIndex.ENTRY.size
    before = OffsetPosition(-1, -1)
    for number, entry in enumerate(segment.offset_index):
        if entry.position > segment.size:
            reason = f"entry {number} leads to position {entry.position} of a log of {segment.size} bytes"
            raise DamagedFileError(path, number * size, reason)
        if entry.offset <= before.offset or entry.position <= before.position:
            raise _not_in_order(path, number, size)
        before = entry
        yield {"file": path, "kind": "offset", "entry": number, "offset": entry.offset, "position": entry.position}
    _check_end(path, size)


def _time_entries(segment: SegmentReader) -> Iterator[Row]:
    path, size = segment.path(TIME_INDEX_SUFFIX), TimeIndex.ENTRY.size
    before = TimestampOffset(NO_TIMESTAMP - 1, -1)
    for number, entry in enumerate(segment.time_index):
        if entry.timestamp <= before.timestamp or entry.offset < before.offset:
            raise _not_in_order(path, number, size)
        before = entry
        yield {"file": path, "kind": "time", "entry": number, "offset": entry.offset, "timestamp": entry.timestamp}
    _check_end(path, size)


def _transaction_entries(segment: SegmentReader) -> Iterator[Row]:
    path, number = segment.path(TXN_INDEX_SUFFIX), 0
    try:
        for txn in segment.transaction_index:
            yield {"file": path, "kind": "transaction", "entry": number, **dict(zip(TXN_COLUMNS, txn, strict=False))}
            number += 1
    except CorruptIndexError as error:
        raise DamagedFileError(path, number * TXN_ENTRY_SIZE, str(error)) from None
    _check_end(path, TXN_ENTRY_SIZE)


def _not_in_order(path: str, number: int, size: int) -> DamagedFileError:
    return DamagedFileError(path, number * size, f"entry {number} is not behind the one before it")


def _check_end(path: str, entry_size: int) -> None:
    cut_off = _file_size(path) % entry_size
    if cut_off:
        raise DamagedFileError(path, _file_size(path) - cut_off, f"{cut_off} bytes are no entry")


TABLE: Table = IndexEntriesTable()
