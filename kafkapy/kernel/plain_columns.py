"""Records out of the body of a batch, in plain Python: the decoding half of the plain kernel.

A row is a tuple: offset, timestamp, sequence, key start and size, value start and size, headers start and count. Starts
point into the body that the row was decoded from; a size of -1 is null. ``Columns`` gives the same by field.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkapy.formats.compression import Buffer
from kafkapy.formats.record_batch import LOG_APPEND_TIME, BatchHeader, increment_sequence, wrap_int64
from kafkapy.kernel import problems

CAPACITY = 4096
LONGEST_LENGTH = 5
INT64 = 1 << 63

Row = tuple[int, int, int, int, int, int, int, int, int]


class Columns:
    """Up to ``capacity`` decoded records; ``problem`` says why there are not more."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.previous_offset = -1
        self.problem = problems.NONE
        self.rows: list[Row] = []
        self._by_field: list[tuple[int, ...]] | None = None

    def decode(self, header: BatchHeader, body: Buffer, start: int, end: int, records: int, complete: bool) -> int:
        """Decode up to ``capacity`` of the ``records`` left, from ``start``; the position after the last one.

        ``complete`` says that the batch ends at ``end``. Whole records before a problem are kept.
        """
        self.rows, self._by_field, self.problem = [], None, problems.NONE
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
            try:
                row = _row(header, body, first + 1, after)
            except (IndexError, ValueError):
                self.problem = problems.INVALID_RECORD
                break
            position = after
            if complete and left == 1 and position != end:
                self.problem = problems.REMAINING
                break
            self.rows.append(row)
        return position

    def gaps(self, found: Callable[[int, int], object]) -> None:
        """Call ``found(previous, offset)`` wherever an offset is not the one before plus 1, across calls."""
        previous = self.previous_offset
        for row in self.rows:
            if row[0] != previous + 1 and row[0] != wrap_int64(previous + 1):
                found(previous, row[0])
            previous = row[0]
        self.previous_offset = previous

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.rows)

    @property
    def offset(self) -> tuple[int, ...]:
        """The offsets."""
        return self._column(0)

    @property
    def timestamp(self) -> tuple[int, ...]:
        """The timestamps."""
        return self._column(1)

    @property
    def sequence(self) -> tuple[int, ...]:
        """The sequence numbers, -1 where the producer has none."""
        return self._column(2)

    @property
    def key_start(self) -> tuple[int, ...]:
        """Where the keys begin."""
        return self._column(3)

    @property
    def key_size(self) -> tuple[int, ...]:
        """The sizes of the keys."""
        return self._column(4)

    @property
    def value_start(self) -> tuple[int, ...]:
        """Where the values begin."""
        return self._column(5)

    @property
    def value_size(self) -> tuple[int, ...]:
        """The sizes of the values."""
        return self._column(6)

    @property
    def headers_start(self) -> tuple[int, ...]:
        """Where the headers begin, after their count."""
        return self._column(7)

    @property
    def header_count(self) -> tuple[int, ...]:
        """How many headers there are."""
        return self._column(8)

    def _column(self, field: int) -> tuple[int, ...]:
        if self._by_field is None:
            self._by_field = list(zip(*self.rows, strict=True)) if self.rows else [()] * 9
        return self._by_field[field]


def header_items(columns: Columns, body: Buffer, row: int) -> list[tuple[bytes, bytes | None]]:
    """The headers of a record, as bytes."""
    return headers_at(body, columns.headers_start[row], columns.header_count[row])


def headers_at(body: Buffer, position: int, count: int) -> list[tuple[bytes, bytes | None]]:
    """``count`` headers from ``position``, which ``decode`` has checked."""
    items: list[tuple[bytes, bytes | None]] = []
    for _ in range(count):
        size, start = _varint(body, position)
        key = bytes(body[start : start + size])
        size, start = _varint(body, start + size)
        items.append((key, None if size < 0 else bytes(body[start : start + size])))
        position = start + max(size, 0)
    return items


def _row(header: BatchHeader, body: Buffer, position: int, end: int) -> Row:
    """The record that should fill ``position`` to ``end``; an IndexError or ValueError where it does not."""
    timestamp, position = _varlong(body, position)
    offset, position = _varint(body, position)
    key_size, key_start = _varint(body, position)
    value_size, value_start = _varint(body, key_start + key_size if key_size > 0 else key_start)
    header_count, headers_start = _varint(body, value_start + value_size if value_size > 0 else value_start)
    if (_skip_headers(body, headers_start, header_count, end) if header_count else headers_start) != end:
        raise ValueError("the fields do not add up to the record's length")
    sequence = increment_sequence(header.base_sequence, offset) if header.base_sequence >= 0 else -1
    timestamp = header.max_timestamp if header.attributes & LOG_APPEND_TIME else header.base_timestamp + timestamp
    offset += header.base_offset
    if not (-INT64 <= offset < INT64 and -INT64 <= timestamp < INT64):
        offset, timestamp = wrap_int64(offset), wrap_int64(timestamp)
    return (
        offset, timestamp, sequence, key_start, key_size if key_size >= 0 else -1, value_start,
        value_size if value_size >= 0 else -1, headers_start, header_count,
    )  # fmt: skip


def _varint(data: Buffer, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    second = data[position + 1]
    if second < 0x80:
        byte = byte & 0x7F | second << 7
        return (byte >> 1) ^ -(byte & 1), position + 2
    return _leb128(data, position, 5, 0xFFFFFFFF)


def _varlong(data: Buffer, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return _leb128(data, position, 10, 0xFFFFFFFFFFFFFFFF)


def _length(data: Buffer, position: int, end: int) -> tuple[int, int]:
    """A record's length, looking no farther than ``end``."""
    if end - position >= LONGEST_LENGTH:
        return _varint(data, position)
    length, used = _varint(bytes(data[position:end]), 0)
    return length, position + used


def _leb128(data: Buffer, position: int, longest: int, mask: int) -> tuple[int, int]:
    value = shift = 0
    for _ in range(longest):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= mask
            return (value >> 1) ^ -(value & 1), position
        shift += 7
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
