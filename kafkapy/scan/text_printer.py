"""A dump as DumpLogSegments' own text.

Kafka prints a line in several steps, so an error in the middle of one leaves its beginning on stdout. The same
beginning is printed here: whoever catches the error flushes what was written.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.formats.compression import Buffer
from kafkapy.formats.java_text import java_utf8_pieces
from kafkapy.formats.message_set import Message
from kafkapy.formats.record_batch import BatchHeader
from kafkapy.kernel.kernel import TEXT, Columns, LineWriter
from kafkapy.kernel.lines import batch_start, text_head
from kafkapy.output.sink import Sink
from kafkapy.scan.large_batch import LargeRecord
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.record_parser import payload_parser, record_parser

LINE_END = b"\n"


def key_and_value(columns: Columns, body: Buffer, row: int) -> tuple[bytes | None, bytes | None]:
    """The key and the value of a decoded record."""
    start, size = columns.key_start[row], columns.key_size[row]
    key = None if size < 0 else bytes(body[start : start + size])
    start, size = columns.value_start[row], columns.value_size[row]
    return key, None if size < 0 else bytes(body[start : start + size])


class TextPrinter:
    """Writes Kafka's lines."""

    def __init__(self, options: DumpOptions, sink: Sink) -> None:
        self._timestamp_type = ""
        self._data = options.print_data_log
        self._metadata = not options.skip_record_metadata
        self._parse = record_parser(options)
        self._parse_text = self._parse or payload_parser(options.key_decoder, options.value_decoder)
        self.writer = LineWriter(sink.write, TEXT, options.deep, self._data, self._metadata)

    @property
    def fast(self) -> bool:
        """Whether the kernel can write records by itself."""
        return self._parse is None or not self._data

    @property
    def takes_pieces(self) -> bool:
        """Whether a record may come in pieces."""
        return self.fast

    def line(self, text: str) -> None:
        """Write a line that is not about a batch."""
        self.writer.raw(text.encode("utf-8", "surrogateescape") + LINE_END)

    def batch(self, header: BatchHeader, position: int, valid: bool) -> None:
        """Write a batch's line."""
        self._timestamp_type = header.timestamp_type
        self.writer.batch(header, position, valid)

    def batch_of_unknown_codec(self, header: BatchHeader) -> None:
        """Write what Kafka prints of a batch before it sees that it does not know the codec."""
        self.writer.raw(batch_start(header))

    def records(self, _header: BatchHeader, columns: Columns, body: Buffer, selection: Buffer | None) -> None:
        """Write the chosen records of a batch."""
        if self.fast:
            self.writer.records(columns, body, selection)
            return
        for row in range(columns.count):
            if selection is None or selection[row]:
                if self._metadata:
                    self.writer.head(columns, body, row)
                key, value = key_and_value(columns, body, row)
                self._payload(columns.offset[row], key, value)

    def large_record(self, columns: Columns, record: LargeRecord) -> None:
        """Write a record whose parts come in pieces."""
        span, pieces = record.span, self._write_pieces
        if self._metadata:
            self.writer.raw(
                text_head(
                    self._timestamp_type, columns.offset[0], columns.timestamp[0], max(span.key_size, -1),
                    max(span.value_size, -1), columns.sequence[0],
                )
            )  # fmt: skip
            for number, key in enumerate(record.header_keys()):
                pieces(b"," if number else b"", key)
            self.writer.raw(b"]")
        prefix = b" " if self._metadata else b"| "
        if self._data and span.key_size >= 0:
            pieces(prefix + b"key: ", record.key())
            prefix = b" "
        if self._data and span.value_size >= 0:
            pieces(prefix + b"payload: ", record.value())
        self.writer.raw(LINE_END)

    def _write_pieces(self, prefix: bytes, pieces: Iterable[bytes]) -> None:
        self.writer.raw(prefix)
        for piece in java_utf8_pieces(pieces):
            self.writer.raw(piece)

    def control(self, _header: BatchHeader, columns: Columns, body: Buffer, selection: Buffer | None) -> None:
        """Write the chosen control records of a batch; without metadata, Kafka leaves an empty line for each."""
        from kafkapy.formats import control_record

        for row in range(columns.count):
            if selection is None or selection[row]:
                if self._metadata:
                    self.writer.head(columns, body, row)
                    key, value = key_and_value(columns, body, row)
                    self.writer.raw(b" " + control_record.describe(key, value).encode())
                self.writer.raw(LINE_END)

    def message_batch(self, message: Message, position: int) -> None:
        """Write the line of a v0 or v1 message."""
        self.writer.raw(f"offset: {message.offset}".encode())
        message.check_magic()
        self.line(
            f" position: {position} {message.timestamp_type}: {message.timestamp}"
            f" size: {len(message.data) + 12} magic: {message.magic} compresscodec: {message.codec.label}"
            f" crc: {message.crc} isvalid: {str(message.is_valid).lower()}"
        )

    def message(self, outer: Message, message: Message, _position: int) -> None:
        """Write a v0 or v1 message as a record, with the timestamp type of the one it was compressed in."""
        if self._metadata:
            self.writer.raw(
                f"| offset: {message.offset} {outer.timestamp_type}: {message.timestamp}"
                f" keySize: {message.key_size} valueSize: {message.value_size}"
                f" isValid: {str(message.is_valid).lower()} crc: {message.crc}".encode()
            )
        if not self._data:
            self.writer.raw(LINE_END)
            return
        key, value = message.key, message.value
        self._payload(message.offset, None if key is None else bytes(key), None if value is None else bytes(value))

    def _payload(self, offset: int, key: bytes | None, value: bytes | None) -> None:
        prefix = " " if self._metadata else "| "
        key_text, value_text = self._parse_text(offset, key, value)
        if key_text is not None:
            self.writer.raw(f"{prefix}key: {key_text}".encode("utf-8", "replace"))
            prefix = " "
        if value_text is not None:
            self.writer.raw(f"{prefix}payload: {value_text}".encode("utf-8", "replace"))
        self.writer.raw(LINE_END)

    def finish(self) -> None:
        """Hand on all that was written."""
        self.writer.flush()
