"""The scan kernel in plain Python: what runs where nothing could be compiled, and the definition of what it prints.

``_kernel.pyx`` has the same classes and functions, compiled; ``kernel.py`` chooses. The same tests run over both, and
their output is compared byte by byte.

    Columns         up to ``capacity`` decoded records of one batch (plain_columns.py)
    LineWriter      batches and records as lines: Kafka's text, or JSON rows
    dump_batches    the common case in one call: all plain v2 batches of a window, up to one that needs a closer look
    RecordBuffers   records as the buffers of Arrow columns, and gather_batches, which fills them (plain_buffers.py)
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from itertools import compress

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Buffer
from kafkapy.formats.java_text import java_utf8
from kafkapy.formats.record_batch import ATTRIBUTES_POSITION, CODEC_MASK, CONTROL, HEADER, HEADER_SIZE, BatchHeader
from kafkapy.kernel import problems
from kafkapy.kernel.lines import CODECS, batch_line, json_batch, json_batch_of_record, text_head
from kafkapy.kernel.plain_buffers import RecordBuffers, gather_batches
from kafkapy.kernel.plain_columns import Columns, Row, header_items, headers_at

__all__ = [
    "COMPILED", "JSON_ARRAY", "JSON_LINES", "TEXT", "Columns", "LineWriter", "RecordBuffers", "check_records",
    "dump_batches", "gather_batches", "header_items",
]  # fmt: skip

COMPILED = False
FLUSH_AT = 1 << 18

TEXT, JSON_LINES, JSON_ARRAY = 0, 1, 2


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
        self._held = 0
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
        self._held += len(data)
        if self._held >= FLUSH_AT:
            self.flush()

    def flush(self) -> None:
        """Hand on all that was written."""
        if self._pieces:
            self._write(b"".join(self._pieces))
            self._pieces.clear()
            self._held = 0

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
        chosen = columns.rows if selection is None else list(compress(columns.rows, selection))
        if self._style == TEXT:
            for row in chosen:
                self.raw(self._text_line(row, body))
        else:
            for row in chosen:
                self.row(self._json_line(row, body))

    def head(self, columns: Columns, body: Buffer, row: int) -> None:
        """Write the start of a record's text line, up to where its data would stand."""
        self.raw(self._text_head(columns.rows[row], body))

    def _text_head(self, row: Row, body: Buffer) -> bytes:
        offset, timestamp, sequence, _, key_size, _, value_size, headers_start, header_count = row
        keys = b""
        if header_count:
            keys = b",".join(java_utf8(key) for key, _ in headers_at(body, headers_start, header_count))
        start = text_head(self._timestamp_type, offset, timestamp, key_size, value_size, sequence)
        return b"%b%b]" % (start, keys)

    def _text_line(self, row: Row, body: Buffer) -> bytes:
        head = self._text_head(row, body) if self._metadata else b""
        if not self._data:
            return head + b"\n"
        key, value = _key_and_value(row, body)
        prefix = b" " if self._metadata else b"| "
        if key is None:
            return head + b"\n" if value is None else b"%b%bpayload: %b\n" % (head, prefix, java_utf8(value))
        if value is None:
            return b"%b%bkey: %b\n" % (head, prefix, java_utf8(key))
        return b"%b%bkey: %b payload: %b\n" % (head, prefix, java_utf8(key), java_utf8(value))

    def _json_line(self, row: Row, body: Buffer) -> bytes:
        offset, timestamp, sequence, _, key_size, _, value_size, headers_start, header_count = row
        start = (
            b'{"type":"record",%b,"offset":%d,"timestamp":%d,"timestamp_type":"%b","key_size":%d,"value_size":%d,'
            b'"sequence":%d,'
        ) % (self._json_start, offset, timestamp, self._timestamp_type.encode(), key_size, value_size, sequence)
        headers = headers_at(body, headers_start, header_count)
        if not self._data:
            keys = b",".join(_json_text(java_utf8(key).decode()) for key, _ in headers)
            return b'%b"header_keys":[%b]%b' % (start, keys, self._json_end)
        key, value = _key_and_value(row, body)
        items = b",".join(_json_header(*header) for header in headers)
        data = (start, items, _json_bytes(b"key", key), _json_bytes(b"value", value), self._json_end)
        return b'%b"headers":[%b],%b,%b%b' % data


def _key_and_value(row: Row, body: Buffer) -> tuple[bytes | None, bytes | None]:
    _, _, _, key_start, key_size, value_start, value_size, _, _ = row
    key = None if key_size < 0 else bytes(body[key_start : key_start + key_size])
    return key, None if value_size < 0 else bytes(body[value_start : value_start + value_size])


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
            # bytes are faster to look into than a view
            _write_records(writer, columns, header, bytes(body), bool(codec), found_gap)
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
