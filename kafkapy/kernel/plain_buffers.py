"""Records of many batches as the buffers of Arrow columns, in plain Python: what the bulk path of tables is made of.

A column is what Arrow's format says: bits (1 is not null), ends (32 bits, 0 first), data, fixed-width
values. Timestamps are in microseconds, null where there is none or it does not fit. What a whole batch shares is kept
once a batch, as runs: ``run_ends`` has the number of rows up to the end of each.

A record that is outside of the bounds (first and end offset, first and end timestamp in ms; ends are exclusive) is not
added. Keys, values and headers are added only where ``fields`` asks for them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Buffer
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    CODEC_MASK,
    CONTROL,
    HEADER,
    HEADER_SIZE,
    TRANSACTIONAL,
    BatchHeader,
)
from kafkapy.kernel import problems
from kafkapy.kernel.buffer_names import BUFFERS, HEADERS, KEY, VALUE
from kafkapy.kernel.lines import CODECS
from kafkapy.kernel.plain_columns import Columns, headers_at

LARGEST_TIME = ((1 << 63) - 1) // 1000

Bounds = tuple[int, int, int, int]
IsLeftOut = Callable[[int, int], bool]


class RecordBuffers:
    """Records whose offset and timestamp lie within ``bounds``, with the columns that ``fields`` has a bit for."""

    def __init__(self, fields: int, bounds: Bounds, most_bytes: int) -> None:
        self._fields = fields
        self.bounds = bounds
        self._most_bytes = most_bytes
        self._clear()

    def _clear(self) -> None:
        self.count = self.header_count = 0
        self._offsets, self._times, self._sequences = array("q"), array("q"), array("i")
        self._time_bits: list[bool] = []
        self._keys, self._values = _Data(), _Data()
        self._header_ends = array("i", [0])
        self._header_keys, self._header_values = _Data(), _Data()
        self._runs: list[tuple[int, int, int, int, int, int]] = []

    @property
    def size(self) -> int:
        """Bytes of keys, values and headers."""
        return sum(len(each.data) for each in (self._keys, self._values, self._header_keys, self._header_values))

    def is_full(self, most_rows: int) -> bool:
        """Whether there are enough rows, or bytes."""
        return self.count >= most_rows or self.size >= self._most_bytes

    def add(self, columns: Columns, header: BatchHeader, position: int, body: Buffer) -> None:
        """Add what was decoded from ``body``, of the batch at ``position``."""
        first_offset, end_offset, first_time, end_time = self.bounds
        before = self.count
        for row in columns.rows:
            offset, timestamp, sequence, key_start, key_size, value_start, value_size, headers_start, headers = row
            if not (first_offset <= offset < end_offset and first_time <= timestamp < end_time):
                continue
            self._offsets.append(offset)
            has_time = 0 <= timestamp <= LARGEST_TIME
            self._time_bits.append(has_time)
            self._times.append(timestamp * 1000 if has_time else 0)
            self._sequences.append(sequence)
            if self._fields & KEY:
                self._keys.append(None if key_size < 0 else body[key_start : key_start + key_size])
            if self._fields & VALUE:
                self._values.append(None if value_size < 0 else body[value_start : value_start + value_size])
            if self._fields & HEADERS:
                for key, value in headers_at(body, headers_start, headers):
                    self._header_keys.append(key)
                    self._header_values.append(value)
                self.header_count = len(self._header_keys.bits)
                self._header_ends.append(self.header_count)
            self.count += 1
        if self.count > before:
            self._runs.append(
                (
                    self.count,
                    header.attributes,
                    header.producer_id,
                    header.producer_epoch,
                    header.partition_leader_epoch,
                    position,
                )
            )

    def take(self) -> dict[str, bytes]:
        """Every buffer, by its name, and begin anew."""
        ends, *shared = list(zip(*self._runs, strict=True)) if self._runs else [()] * 6
        taken = (
            self._offsets.tobytes(), self._times.tobytes(), _packed(self._time_bits), self._sequences.tobytes(),
            *self._keys.buffers(), *self._values.buffers(), self._header_ends.tobytes(),
            *self._header_keys.buffers()[1:], *self._header_values.buffers(), array("i", ends).tobytes(),
            *(array("q", each).tobytes() for each in shared),
        )  # fmt: skip
        self._clear()
        return dict(zip(BUFFERS, taken, strict=True))


class _Data:
    """A column of bytes that may be null."""

    def __init__(self) -> None:
        self.bits: list[bool] = []
        self.ends = array("i", [0])
        self.data = bytearray()

    def append(self, value: Buffer | None) -> None:
        self.bits.append(value is not None)
        self.data += value or b""
        self.ends.append(len(self.data))

    def buffers(self) -> tuple[bytes, bytes, bytes]:
        return _packed(self.bits), self.ends.tobytes(), bytes(self.data)


def _packed(bits: list[bool]) -> bytes:
    packed = bytearray((len(bits) + 7) // 8)
    for number, bit in enumerate(bits):
        packed[number >> 3] |= bit << (number & 7)
    return bytes(packed)


def gather_batches(
    buffers: RecordBuffers,
    columns: Columns,
    window: Buffer,
    start: int,
    end: int,
    file_position: int,
    most_rows: int,
    inflate: Callable[[int, memoryview], memoryview | None],
    is_left_out: IsLeftOut | None,
) -> int:
    """Add every batch from ``start``, which lies at ``file_position``; where the first one begins that was left.

    Left are batches that are not whole, not of magic 2, larger than ``columns``, damaged in any way, or for which
    ``inflate`` gives nothing: who looks closer finds out why. It also ends when the buffers are full. Batches that are
    wholly out of bounds are passed over unseen, and so are those of transactions that ``is_left_out`` knows by producer
    id and first offset, but for markers.
    """
    view = memoryview(window)
    first_offset, end_offset, first_time, _ = buffers.bounds
    columns.problem = problems.NONE
    position = start
    while position + HEADER_SIZE <= end and not buffers.is_full(most_rows):
        header = BatchHeader(*HEADER.unpack_from(window, position))
        codec, size, records = header.attributes & CODEC_MASK, header.size, header.record_count
        if header.magic != 2 or size < HEADER_SIZE or position + size > end or codec >= len(CODECS):
            break
        if not 0 <= records <= columns.capacity or header.last_offset_delta < 0:
            break
        if (
            header.last_offset >= first_offset
            and header.base_offset < end_offset
            and header.max_timestamp >= first_time
            and records
            and not (
                header.attributes & (TRANSACTIONAL | CONTROL) == TRANSACTIONAL
                and is_left_out is not None
                and is_left_out(header.producer_id, header.base_offset)
            )
        ):
            if crc32c(view[position + ATTRIBUTES_POSITION : position + size]) != header.crc:
                break
            body: memoryview | None = view[position + HEADER_SIZE : position + size]
            if codec and body is not None:
                body = inflate(codec, body)
            if body is None or len(body) == 0:
                break
            whole = bytes(body)  # faster to look into than a view
            columns.decode(header, whole, 0, len(whole), records, True)
            if columns.problem:
                break
            buffers.add(columns, header, file_position + position - start, whole)
        position += size
    return position
