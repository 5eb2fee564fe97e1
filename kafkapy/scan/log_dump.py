"""One .log or .checkpoint file, batch by batch, to a printer.

The kernel writes runs of ordinary batches by itself. Here are the batches it leaves: compressed and control batches, v0
and v1 messages, batches larger than a window, and damage. What Kafka's tool prints before it dies is printed here too:

- an uncompressed batch is read record by record, so the records before a broken one come out;
- a compressed batch and a compressed message set are decompressed and checked whole before the first record comes out;
- bytes after the last whole batch are counted, not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkapy.errors import CorruptRecordError, DamagedFileError, FormatError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Buffer, Codec, codec_for_id
from kafkapy.formats.message_set import Message, inner_messages
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    HEADER_SIZE,
    LOG_OVERHEAD,
    BatchHeader,
    wrap_int64,
)
from kafkapy.kernel import problems
from kafkapy.kernel.kernel import Columns, check_records, dump_batches
from kafkapy.log.batches import Entry, is_cut_off, next_entry, read_header
from kafkapy.log.inflater import Inflater
from kafkapy.log.window import MAX_WINDOW, Window
from kafkapy.scan.large_batch import Body, LargeRecord, spans

if TYPE_CHECKING:
    from kafkapy.scan.filters import RecordFilter
    from kafkapy.scan.printer import Printer


class LogDump:
    """Reads one file through a window and prints it."""

    def __init__(
        self,
        path: str,
        window: Window,
        printer: Printer,
        deep: bool,
        record_filter: RecordFilter | None = None,
        found_gap: Callable[[int, int], object] = lambda previous, offset: None,
        advanced: Callable[[int], object] = lambda amount: None,
    ) -> None:
        self._path = path
        self._window = window
        self._printer = printer
        self._deep = deep
        self._filter = record_filter
        self._found_gap = found_gap
        self._advanced = advanced
        self.stopped_early = False
        self._columns = Columns()
        self._inflater = Inflater()

    def run(self) -> int:
        """Print up to the last whole batch; the number of bytes after it. Damage is a DamagedFileError."""
        while self.step():
            pass
        return self._window.remaining

    def step(self) -> bool:
        """Print the next batch, or all that the kernel takes at once; False where no whole batch follows."""
        try:
            self._run_kernel()
            entry = next_entry(self._window)
        except FormatError as error:
            raise DamagedFileError(self._path, self._window.position, str(error)) from None
        if entry is None:
            return False
        if self._filter is not None and self._filter.is_past(entry):
            self.stopped_early = True
            return False
        self.print_next(entry)
        return True

    def print_next(self, entry: Entry) -> None:
        """Print the batch or message where the window stands, and move on."""
        try:
            if not self._window.ensure(min(entry.size, MAX_WINDOW)):
                raise CorruptRecordError("the file shrank while it was read")
            if entry.is_legacy:
                self._print_message(entry)
            else:
                self._print_batch(entry)
        except FormatError as error:
            raise DamagedFileError(self._path, entry.position, str(error)) from None
        self._window.seek(entry.end)
        self._advanced(entry.size)

    def _run_kernel(self) -> None:
        window, columns = self._window, self._columns
        if self._filter is not None or not self._printer.fast:
            return
        while not is_cut_off(window) or window.fill():
            left_at = dump_batches(
                self._printer.writer, columns, window.buffer, window.start, window.end, window.position, self._deep,
                self._found_gap, self._inflater.inflate,
            )  # fmt: skip
            moved = left_at - window.start
            window.skip_to(left_at)
            self._advanced(moved)
            if columns.problem:
                raise CorruptRecordError(problems.TEXTS[columns.problem])
            if not moved:
                return

    def _print_batch(self, entry: Entry) -> None:
        header = read_header(self._window, entry)
        if header.attributes & CODEC_MASK > Codec.ZSTD:
            self._printer.batch_of_unknown_codec(header)
            codec_for_id(header.attributes & CODEC_MASK)
        if self._filter is not None and not self._filter.keeps_batch(header):
            return
        valid = self._is_valid(entry, header)
        if not (self._filter is not None and self._deep):
            self._printer.batch(header, entry.position, valid)
        if not self._deep or header.record_count == 0:
            return
        if entry.size < HEADER_SIZE:
            raise CorruptRecordError(f"a batch of {entry.size} bytes is too small to have records")
        if header.record_count < 0:
            raise CorruptRecordError(f"Found invalid record count {header.record_count} in magic v{entry.magic} batch")
        self._print_body(entry, header, valid)

    def _is_valid(self, entry: Entry, header: BatchHeader) -> bool:
        if entry.size < HEADER_SIZE:
            return False
        start, size = self._window.start, min(entry.size, self._window.available)
        crc = crc32c(self._window.view[start + ATTRIBUTES_POSITION : start + size])
        for piece in self._window.pieces(entry.position + size, entry.end):
            crc = crc32c(piece, crc)
        return bool(crc == header.crc)

    def _print_body(self, entry: Entry, header: BatchHeader, valid: bool) -> None:
        window = self._window
        if entry.size <= window.available:
            start, end = window.start + HEADER_SIZE, window.start + entry.size
            if header.codec is Codec.NONE:
                self._print_records(entry, header, valid, window.buffer, start, end)
                return
            body = self._inflater.decompress(header.codec, window.view[start:end])
            if body is not None:
                problem = check_records(self._columns, header, body)
                if problem:
                    raise CorruptRecordError(problems.TEXTS[problem])
                self._print_records(entry, header, valid, body, 0, len(body))
                return
        self._print_streamed(entry, header, valid)

    def _print_records(
        self, entry: Entry, header: BatchHeader, valid: bool, body: Buffer, start: int, end: int
    ) -> None:
        columns, records, announced = self._columns, header.record_count, self._filter is None
        while records:
            start = columns.decode(header, body, start, end, records, True)
            records -= columns.count
            announced = self._print_columns(entry, header, valid, body, announced)
            if columns.problem:
                raise CorruptRecordError(problems.TEXTS[columns.problem])

    def _print_streamed(self, entry: Entry, header: BatchHeader, valid: bool) -> None:
        body = Body(self._window, entry, header.codec)
        if header.codec is not Codec.NONE:
            for _ in spans(body.open(), header.record_count):
                pass
        ahead, follow = body.open(), body.open()
        announced = self._filter is None
        for span in spans(ahead, header.record_count):
            if span.size > MAX_WINDOW and self._filter is None and not header.is_control and self._printer.takes_pieces:
                self._print_large_record(header, LargeRecord(body, span, follow))
                continue
            data = follow.take(span.size)
            self._columns.decode(header, data, 0, len(data), 1, False)
            announced = self._print_columns(entry, header, valid, data, announced)

    def _print_large_record(self, header: BatchHeader, record: LargeRecord) -> None:
        skeleton = record.without_data()
        self._columns.decode(header, skeleton, 0, len(skeleton), 1, False)
        self._columns.gaps(self._found_gap)
        self._printer.large_record(self._columns, record)
        record.close()

    def _print_columns(self, entry: Entry, header: BatchHeader, valid: bool, body: Buffer, announced: bool) -> bool:
        """Print the decoded records; whether the line of their batch is printed now."""
        columns, selection = self._columns, None
        columns.gaps(self._found_gap)
        if self._filter is not None:
            selection = self._filter.select(columns, body)
            if not any(selection):
                return announced
            if not announced:
                self._printer.batch(header, entry.position, valid)
        write = self._printer.control if header.is_control else self._printer.records
        write(header, columns, body, selection)
        return True

    def _print_message(self, entry: Entry) -> None:
        start = self._window.start + LOG_OVERHEAD
        if entry.size > self._window.available:
            raise CorruptRecordError(f"a message of {entry.size} bytes is larger than kafkapy reads ({MAX_WINDOW})")
        message = Message(entry.offset, self._window.view[start : start + entry.size - LOG_OVERHEAD])
        chosen = self._filter is None or self._filter.keeps_message(message)
        if not self._deep or self._filter is None:
            if chosen:
                self._printer.message_batch(message, entry.position)
            if not self._deep:
                return
        announced = self._filter is None
        for inner in (message,) if message.codec is Codec.NONE else inner_messages(message):
            self._note_offset(inner.offset)
            if self._filter is not None and not self._filter.keeps_message(inner):
                continue
            if not announced:
                self._printer.message_batch(message, entry.position)
                announced = True
            self._printer.message(message, inner, entry.position)

    def _note_offset(self, offset: int) -> None:
        previous = self._columns.previous_offset
        if offset != wrap_int64(previous + 1):
            self._found_gap(previous, offset)
        self._columns.previous_offset = offset
