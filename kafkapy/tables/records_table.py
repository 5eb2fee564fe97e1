"""``records``: a row for each record that producers wrote, and for each marker of a transaction (``control``).

Rows are those from the log's start to its end; of a committed scan up to the last stable offset and without the
records of aborted transactions. Message formats 0 and 1 have no producer, sequence, headers or leader epoch (-1, none).

Runs of ordinary batches go through the kernel, which leaves the rest: old formats, batches larger than a window, and
damage. A batch with a wrong checksum is damage and is stepped over; behind a size that cannot be, the rest of the part
is. A torn write at the end of the log is what any crash leaves: only permissive tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from kafkapy.errors import CorruptRecordError, DamagedFileError, FormatError
from kafkapy.formats.compression import Codec, decompress
from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, BatchOptions, decode_header, encode_batch
from kafkapy.kernel import problems
from kafkapy.kernel.buffer_names import HEADERS, KEY, VALUE
from kafkapy.kernel.kernel import Columns, RecordBuffers, gather_batches
from kafkapy.log.batch import batch_bytes, is_good, legacy_header, read_records, why_bad
from kafkapy.log.batches import Entry, is_cut_off, next_entry, read_header, why_torn
from kafkapy.log.inflater import Inflater
from kafkapy.log.window import Window
from kafkapy.tables.damage_rows import DamageRows
from kafkapy.tables.record_arrays import SCHEMA, RecordArrays
from kafkapy.tables.scan import Scan
from kafkapy.tables.segment_parts import LogPart, bounds, log_splits
from kafkapy.tables.table import Split, Table, Tell, read_schema, unheard

FIRST_ROWS = 1024
MOST_ROWS = 1 << 16
MOST_BYTES = 1 << 24
FIELDS = {"key": KEY, "value": VALUE, "headers": HEADERS}


class RecordsTable:
    """The table."""

    name = "records"
    schema = SCHEMA

    def splits(self, scan: Scan) -> list[Split]:
        """Byte ranges of segments."""
        return log_splits(scan)

    def read(self, scan: Scan, split: Split, tell: Tell = unheard) -> Iterator[pa.RecordBatch]:
        """The records of a byte range; few in the first batch, since who wants few stops there."""
        schema = read_schema(self, scan)
        damages = DamageRows(self, scan, split, tell)
        arrays = RecordArrays(schema, split.topic, split.partition)
        part: LogPart = split.part
        if part.has_bytes:
            with Window(part.path, part.end, part.start) as window:
                for buffers in _PartReader(window, part, scan, schema, damages).read():
                    yield arrays.batch(buffers)
        damages.end(part)
        yield from damages.batches()


class _PartReader:
    """Fills buffers from one part."""

    def __init__(self, window: Window, part: LogPart, scan: Scan, schema: pa.Schema, damages: DamageRows) -> None:
        self._window = window
        self._part = part
        self._damages = damages
        fields = sum(bit for name, bit in FIELDS.items() if name in schema.names)
        self._buffers = RecordBuffers(fields, bounds(part, scan), MOST_BYTES)
        self._columns = Columns()
        self._inflater = Inflater()
        self._rows = FIRST_ROWS
        self._is_left_out = part.is_aborted if part.aborted else None

    def read(self) -> Iterator[RecordBuffers]:
        """Buffers that are full, and at the end what is left."""
        while self._window.remaining:
            self._gather()
            if self._buffers.is_full(self._rows):
                yield self._buffers
                self._rows = min(MOST_ROWS, 4 * self._rows)
            elif self._window.remaining:
                yield from self._look_closer()
        if self._buffers.count:
            yield self._buffers

    def _gather(self) -> None:
        """What the kernel takes, until it leaves something or the buffers are full."""
        window = self._window
        while not is_cut_off(window) or window.fill():
            left_at = gather_batches(
                self._buffers, self._columns, window.buffer, window.start, window.end, window.position, self._rows,
                self._inflater.inflate, self._is_left_out,
            )  # fmt: skip
            moved = left_at - window.start
            window.skip_to(left_at)
            if not moved or self._buffers.is_full(self._rows):
                return

    def _look_closer(self) -> Iterator[RecordBuffers]:
        """One batch that the kernel left."""
        window = self._window
        try:
            entry = next_entry(window)
        except FormatError as error:
            self._lose_rest(str(error))
            return
        if entry is None:
            self._lose_rest(why_torn(window))
            return
        try:
            yield from self._add_entry(entry)
        except FormatError as error:
            damage = DamagedFileError(self._part.path, entry.position, str(error))
            self._damages.found(damage, entry.end, self._offsets(entry))
        window.seek(entry.end)

    def _offsets(self, entry: Entry) -> range:
        """What a damaged batch says that it holds, if that can be."""
        data = self._window.peek(entry.position, HEADER_SIZE)
        if entry.is_legacy or entry.size < HEADER_SIZE or len(data) < HEADER_SIZE:
            return range(0)
        last = decode_header(data).last_offset
        return range(entry.offset, last + 1) if entry.offset <= last < self._part.end_offset else range(0)

    def _lose_rest(self, reason: str) -> None:
        position = self._window.position
        self._damages.found(DamagedFileError(self._part.path, position, reason), self._part.end)
        self._window.seek(self._window.limit)

    def _add_entry(self, entry: Entry) -> Iterator[RecordBuffers]:
        data = batch_bytes(self._window, entry.size)
        if len(data) < entry.size:
            raise CorruptRecordError("the file shrank while it was read")
        if entry.is_legacy:
            header, data = _as_batch(entry, data)
        else:
            header = read_header(self._window, entry)
            if not is_good(header, data):
                raise CorruptRecordError(why_bad(header))
            if self._part.leaves_out(header):
                return
        yield from self._add_body(header, entry.position, data)

    def _add_body(self, header: BatchHeader, position: int, data: bytes) -> Iterator[RecordBuffers]:
        """All records of a batch or, where one is damaged, none."""
        if header.record_count < 0:
            raise CorruptRecordError(f"Found invalid record count {header.record_count} in magic v{header.magic} batch")
        body = data[HEADER_SIZE:]
        if header.codec is not Codec.NONE:
            body = decompress(header.codec, body)
        for add in (False, True):
            start, records = 0, header.record_count
            while records:
                start = self._columns.decode(header, body, start, len(body), records, True)
                if self._columns.problem:
                    raise CorruptRecordError(problems.TEXTS[self._columns.problem])
                records -= self._columns.count
                if add:
                    self._buffers.add(self._columns, header, position, body)
                    if self._buffers.is_full(self._rows):
                        yield self._buffers


def _as_batch(entry: Entry, data: bytes) -> tuple[BatchHeader, bytes]:
    """A message of format 0 or 1, or the messages inside one, as a batch of today's format."""
    header = legacy_header(data)
    if not is_good(header, data):
        raise CorruptRecordError(why_bad(header))
    records = list(read_records(header, data))
    if not records:
        raise CorruptRecordError("a compressed message set without messages")
    batch = encode_batch(records, BatchOptions(records[0].offset))
    own = BatchHeader(
        records[0].offset,
        len(batch) - 12,
        attributes=header.attributes & ~7,
        last_offset_delta=records[-1].offset - records[0].offset,
        base_timestamp=records[0].timestamp,
        max_timestamp=max(record.timestamp for record in records),
        record_count=len(records),
    )
    return own, batch


TABLE: Table = RecordsTable()
