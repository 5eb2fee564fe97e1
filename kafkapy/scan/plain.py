"""The scan kernel in plain Python: what runs where nothing could be compiled, and the definition of what it prints.

``_kernel.pyx`` has the same classes and functions, compiled; ``kernel.py`` chooses. The same tests run over both, and
their output is compared byte by byte.

    Columns         up to ``capacity`` decoded records of one batch, a list a field. Starts and sizes point into the
                    body they were decoded from; a size of -1 is null
    LineWriter      batches and records as lines: Kafka's text, or JSON rows
    dump_batches    the common case in one call: all plain v2 batches of a window, up to one that needs a closer look
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Buffer
from kafkapy.formats.java_text import java_utf8
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CONTROL,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    BatchHeader,
    increment_sequence,
    wrap_int64,
)
from kafkapy.scan import problems
from kafkapy.scan.lines import CODECS, batch_line, json_batch, json_batch_of_record, text_head

COMPILED = False
CAPACITY = 4096
LONGEST_LENGTH = 5

TEXT, JSON_LINES, JSON_ARRAY = 0, 1, 2


class Columns:
    """Decoded records, a list a field."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.previous_offset = -1
        self._clear()

    def _clear(self) -> None:
        self.count = 0
        self.problem = problems.NONE
        self.offset: list[int] = []
        self.timestamp: list[int] = []
        self.sequence: list[int] = []
        self.key_start: list[int] = []
        self.key_size: list[int] = []
        self.value_start: list[int] = []
        self.value_size: list[int] = []
        self.headers_start: list[int] = []
        self.header_count: list[int] = []

    def decode(self, header: BatchHeader, body: Buffer, start: int, end: int, records: int, complete: bool) -> int:
        """Decode up to ``capacity`` of the ``records`` left, from ``start``; the position after the last one.

        ``complete`` says that the batch ends at ``end``. Whole records before a problem are kept.
        """
        self._clear()
        position = start
        for left in range(records, max(records - self.capacity, 0), -1):
            try:
                length, first = _length(body, position, end)
            except (IndexError, ValueError) as error:
                self.problem = problems.NEED_MORE if isinstance(error, IndexError) else problems.INVALID_RECORD
                break
            after = first + length
            if length < 0 or after > end:
                self.problem = problems.INVALID_RECORD if length < 0 else problems.NEED_MORE
                break
            if not self._record(header, body, first + 1, after):
                self.problem = problems.INVALID_RECORD
                break
            position = after
            if complete and left == 1 and position != end:
                self._drop_last()
                self.problem = problems.REMAINING
        return position

    def _record(self, header: BatchHeader, body: Buffer, position: int, end: int) -> bool:
        """Append the record that should fill ``position`` to ``end``; False where it does not."""
        try:
            timestamp_delta, position = _varlong(body, position)
            offset_delta, position = _varint(body, position)
            key_size, key_start = _varint(body, position)
            value_size, value_start = _varint(body, key_start + key_size if key_size > 0 else key_start)
            position = value_start + value_size if value_size > 0 else value_start
            header_count, headers_start = _varint(body, position)
            position = _skip_headers(body, headers_start, header_count, end) if header_count else headers_start
        except (IndexError, ValueError):
            return False
        if position != end:
            return False
        sequence = header.base_sequence
        self.offset.append(wrap_int64(header.base_offset + offset_delta))
        created = wrap_int64(header.base_timestamp + timestamp_delta)
        self.timestamp.append(header.max_timestamp if header.attributes & LOG_APPEND_TIME else created)
        self.sequence.append(increment_sequence(sequence, offset_delta) if sequence >= 0 else -1)
        self.key_start.append(key_start)
        self.key_size.append(max(key_size, -1))
        self.value_start.append(value_start)
        self.value_size.append(max(value_size, -1))
        self.headers_start.append(headers_start)
        self.header_count.append(header_count)
        self.count += 1
        return True

    def _drop_last(self) -> None:
        self.count -= 1
        for column in (
            self.offset, self.timestamp, self.sequence, self.key_start, self.key_size, self.value_start,
            self.value_size, self.headers_start, self.header_count,
        ):  # fmt: skip
            column.pop()

    def gaps(self, found: Callable[[int, int], object]) -> None:
        """Call ``found(previous, offset)`` wherever an offset is not the one before plus 1, across calls."""
        previous = self.previous_offset
        for offset in self.offset:
            if offset != wrap_int64(previous + 1):
                found(previous, offset)
            previous = offset
        self.previous_offset = previous


def _varint(data: Buffer, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return _leb128(data, position, 5, 0xFFFFFFFF)


def _length(data: Buffer, position: int, end: int) -> tuple[int, int]:
    """A record's length, looking no farther than ``end``."""
    if end - position >= LONGEST_LENGTH:
        return _varint(data, position)
    length, used = _varint(bytes(data[position:end]), 0)
    return length, position + used


def _varlong(data: Buffer, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return _leb128(data, position, 10, 0xFFFFFFFFFFFFFFFF)


def _leb128(data: Buffer, position: int, longest: int, mask: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, longest * 7, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= mask
            return (value >> 1) ^ -(value & 1), position
    raise ValueError("longer than any integer")


def _skip_headers(data: Buffer, position: int, count: int, end: int) -> int:
    """The position after ``count`` headers; an IndexError or ValueError where they cannot be."""
    if not 0 <= count <= end - position:
        raise ValueError("more headers than bytes")
    for _ in range(count):
        size, position = _varint(data, position)
        if size < 0:
            raise ValueError("a header without a key")
        size, position = _varint(data, position + size)
        position += max(size, 0)
        if position > end:
            raise ValueError("a header past the end of its record")
    return position


def header_items(columns: Columns, body: Buffer, row: int) -> list[tuple[bytes, bytes | None]]:
    """The headers of a record, as bytes."""
    position, items = columns.headers_start[row], []
    for _ in range(columns.header_count[row]):
        size, start = _varint(body, position)
        key = bytes(body[start : start + size])
        size, start = _varint(body, start + size)
        value = None if size < 0 else bytes(body[start : start + size])
        position = start + max(size, 0)
        items.append((key, value))
    return items


class LineWriter:
    """Batches and records as lines, handed to ``write`` in large pieces."""

    def __init__(
        self,
        write: Callable[[Buffer], object],
        style: int = TEXT,
        deep: bool = False,
        data: bool = False,
        metadata: bool = True,
        file: str = "",
    ) -> None:
        self._write = write
        self._pieces: list[bytes] = []
        self._style = style
        self._deep = deep
        self._data = data
        self._metadata = metadata
        self._json_start = f'"file":{json.dumps(file, ensure_ascii=False)}'.encode()
        self._timestamp_type = ""
        self._json_end = b""

    def raw(self, data: Buffer) -> None:
        """Write bytes as they are."""
        self._pieces.append(bytes(data))
        if len(self._pieces) >= CAPACITY:
            self.flush()

    def flush(self) -> None:
        """Hand on all that was written."""
        if self._pieces:
            self._write(b"".join(self._pieces))
            self._pieces.clear()

    def row(self, data: bytes) -> None:
        """Write a JSON row with what the style puts between rows."""
        self.raw(data + b"\n" if self._style == JSON_LINES else b",\n" + data)

    def batch(self, header: BatchHeader, position: int, valid: bool) -> None:
        """Write a batch; what its records share with it is kept for ``records``."""
        self._timestamp_type = header.timestamp_type
        if self._style == TEXT:
            self.raw(batch_line(header, position, valid))
        elif self._deep:
            self._json_end = json_batch_of_record(header, position, valid)
        else:
            self.row(b'{"type":"batch",' + self._json_start + json_batch(header, position, valid))

    def records(self, columns: Columns, body: Buffer, selection: Buffer | None = None) -> None:
        """Write the records of ``columns``, or those that ``selection`` has a non-zero byte for."""
        for row in range(columns.count):
            if selection is None or selection[row]:
                if self._style == TEXT:
                    self.raw(self._text_line(columns, body, row))
                else:
                    self.row(self._json_line(columns, body, row))

    def head(self, columns: Columns, body: Buffer, row: int) -> None:
        """Write the start of a record's text line, up to where its data would stand."""
        self.raw(self._text_head(columns, body, row))

    def _text_head(self, columns: Columns, body: Buffer, row: int) -> bytes:
        keys = b",".join(java_utf8(key) for key, _ in header_items(columns, body, row))
        start = text_head(
            self._timestamp_type, columns.offset[row], columns.timestamp[row], columns.key_size[row],
            columns.value_size[row], columns.sequence[row],
        )  # fmt: skip
        return start + keys + b"]"

    def _text_line(self, columns: Columns, body: Buffer, row: int) -> bytes:
        pieces = [self._text_head(columns, body, row)] if self._metadata else []
        if self._data:
            prefix = b" " if self._metadata else b"| "
            key, value = _key_and_value(columns, body, row)
            if key is not None:
                pieces += (prefix, b"key: ", java_utf8(key))
                prefix = b" "
            if value is not None:
                pieces += (prefix, b"payload: ", java_utf8(value))
        pieces.append(b"\n")
        return b"".join(pieces)

    def _json_line(self, columns: Columns, body: Buffer, row: int) -> bytes:
        pieces = [
            b'{"type":"record",%b,"offset":%d,"timestamp":%d,"timestamp_type":"%b","key_size":%d,"value_size":%d,'
            b'"sequence":%d,' % (
                self._json_start, columns.offset[row], columns.timestamp[row], self._timestamp_type.encode(),
                columns.key_size[row],
                columns.value_size[row], columns.sequence[row],
            )
        ]  # fmt: skip
        headers = header_items(columns, body, row)
        if self._data:
            key, value = _key_and_value(columns, body, row)
            pieces.append(b'"headers":[' + b",".join(_json_header(*header) for header in headers) + b"],")
            pieces += (_json_bytes(b"key", key), b",", _json_bytes(b"value", value))
        else:
            keys = b",".join(_json_text(java_utf8(key).decode()) for key, _ in headers)
            pieces.append(b'"header_keys":[' + keys + b"]")
        pieces.append(self._json_end)
        return b"".join(pieces)


def _key_and_value(columns: Columns, body: Buffer, row: int) -> tuple[bytes | None, bytes | None]:
    start, size = columns.key_start[row], columns.key_size[row]
    key = None if size < 0 else bytes(body[start : start + size])
    start, size = columns.value_start[row], columns.value_size[row]
    return key, None if size < 0 else bytes(body[start : start + size])


def _json_text(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def _json_header(key: bytes, value: bytes | None) -> bytes:
    return b'{"key":' + _json_text(java_utf8(key).decode()) + b"," + _json_bytes(b"value", value) + b"}"


def _json_bytes(name: bytes, data: bytes | None) -> bytes:
    """``"name":"text"``, or base64 with a ``name_encoding`` beside it where it is not UTF-8, so nothing is lost."""
    if data is None:
        return b'"%b":null' % name
    try:
        return b'"%b":%b' % (name, _json_text(data.decode()))
    except UnicodeDecodeError:
        return b'"%b":"%b","%b_encoding":"base64"' % (name, b64encode(data), name)


def dump_batches(
    writer: LineWriter,
    columns: Columns,
    window: Buffer,
    start: int,
    end: int,
    file_position: int,
    deep: bool,
    found_gap: Callable[[int, int], object],
    inflate: Callable[[int, memoryview], memoryview | None],
) -> int:
    """Write every batch from ``start``, which lies at ``file_position``; where the first one begins that was left.

    Left are batches that are not whole, not of magic 2, too small or of an unknown codec, and for a deep dump control
    batches and those that ``inflate`` gives nothing for. A batch whose records are damaged is written up to the damage,
    a compressed one without its records, and ``columns.problem`` says what it is.
    """
    view = memoryview(window)
    columns.problem = problems.NONE
    position = start
    while position + HEADER_SIZE <= end:
        header = BatchHeader(*HEADER.unpack_from(window, position))
        codec = header.attributes & CODEC_MASK
        size = header.size
        if header.magic != 2 or size < HEADER_SIZE or position + size > end or codec >= len(CODECS):
            break
        if deep and (header.attributes & CONTROL or header.record_count < 0):
            break
        valid = crc32c(view[position + ATTRIBUTES_POSITION : position + size]) == header.crc
        body: memoryview | None = view[position + HEADER_SIZE : position + size]
        if deep and codec and header.record_count and body is not None:
            body = inflate(codec, body)
            if body is None:
                break
        writer.batch(header, file_position + position - start, valid)
        if deep and header.record_count and body is not None:
            _write_records(writer, columns, header, body, bool(codec), found_gap)
            if columns.problem:
                break
        position += size
    return position


def _write_records(
    writer: LineWriter,
    columns: Columns,
    header: BatchHeader,
    body: Buffer,
    all_or_none: bool,
    found_gap: Callable[[int, int], object],
) -> None:
    """Write all records of a batch whose body is whole, up to the first problem or, where there is one, none."""
    if all_or_none and check_records(columns, header, body):
        return
    start, records = 0, header.record_count
    while records:
        start = columns.decode(header, body, start, len(body), records, True)
        columns.gaps(found_gap)
        writer.records(columns, body)
        records -= columns.count
        if columns.problem:
            break


def check_records(columns: Columns, header: BatchHeader, body: Buffer) -> int:
    """Decode all records of a whole body and write nothing: 0, or the problem that was found."""
    start, records = 0, header.record_count
    while records:
        start = columns.decode(header, body, start, len(body), records, True)
        records -= columns.count
        if columns.problem:
            return columns.problem
    return problems.NONE
