"""Record batch v2 (magic 2), the unit that producers send, brokers store and checksums guard.

    offset size field
    0      8    base offset             the broker rewrites it: not under the checksum
    8      4    batch length            bytes after this field
    12     4    partition leader epoch  not under the checksum
    16     1    magic                   2
    17     4    crc                     CRC-32C of byte 21 to the end
    21     2    attributes              0-2 codec, 3 LogAppendTime, 4 transactional, 5 control, 6 delete horizon
    23     4    last offset delta       kept through compaction
    27     8    base timestamp          of the first record, or the delete horizon when bit 6 is set
    35     8    max timestamp           with LogAppendTime the timestamp of every record
    43     8    producer id             -1 for none
    51     2    producer epoch
    53     4    base sequence
    57     4    record count            may be less than last offset delta + 1 after compaction, even 0
    61     -    records                 compressed as one blob where a codec is set

A record is ``varint length, int8 attributes, varlong timestamp delta, varint offset delta, varint key size (-1 is
null), key, varint value size, value, varint header count, {varint size, key, varint size, value}*``.

A batch is whole or it is not there: a torn write leaves a length that reaches past the end of the file, or bytes that
fail the checksum, and recovery cuts the log at the start of that batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Buffer, Codec, codec_for_id, compress, decompress
from kafkapy.formats.varint import read_varint, read_varlong, write_varint

HEADER = Struct(
    ">"
    "q"  # base offset
    "i"  # batch length
    "i"  # partition leader epoch
    "b"  # magic
    "I"  # crc
    "h"  # attributes
    "i"  # last offset delta
    "q"  # base timestamp
    "q"  # max timestamp
    "q"  # producer id
    "h"  # producer epoch
    "i"  # base sequence
    "i"  # record count
)
HEADER_SIZE = HEADER.size
LOG_OVERHEAD = 12
MAGIC_POSITION = 16
CRC_POSITION = 17
ATTRIBUTES_POSITION = 21

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

MAX_INT = 0x7FFFFFFF
NO_TIMESTAMP = NO_PRODUCER_ID = NO_PRODUCER_EPOCH = NO_SEQUENCE = NO_LEADER_EPOCH = -1


class Header(NamedTuple):
    """A record header: a name and a value that may be null."""

    key: str
    value: bytes | None


class Record(NamedTuple):
    """One record, with its offset and timestamp made absolute."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    sequence: int = NO_SEQUENCE


class BatchHeader(NamedTuple):
    """The 61 bytes before the records."""

    base_offset: int
    batch_length: int = HEADER_SIZE - LOG_OVERHEAD
    partition_leader_epoch: int = NO_LEADER_EPOCH
    magic: int = 2
    crc: int = 0
    attributes: int = 0
    last_offset_delta: int = 0
    base_timestamp: int = NO_TIMESTAMP
    max_timestamp: int = NO_TIMESTAMP
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    record_count: int = 0

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.batch_length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        """The last offset the batch stands for, also when compaction removed its record."""
        return wrap_int64(self.base_offset + self.last_offset_delta)

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last offset."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def codec(self) -> Codec:
        """How the records are compressed."""
        return codec_for_id(self.attributes & CODEC_MASK)

    @property
    def is_log_append_time(self) -> bool:
        """Whether the broker's clock, not the producer's, gave the timestamps."""
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def timestamp_type(self) -> str:
        """``CreateTime`` or ``LogAppendTime``."""
        return "LogAppendTime" if self.is_log_append_time else "CreateTime"

    @property
    def is_transactional(self) -> bool:
        """Whether the records belong to a transaction."""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether the records are markers, not data."""
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may drop the tombstones in here."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None


class BatchOptions(NamedTuple):
    """What the writer of a batch decides, besides the records."""

    base_offset: int = 0
    codec: Codec = Codec.NONE
    partition_leader_epoch: int = NO_LEADER_EPOCH
    log_append_time: int | None = None
    delete_horizon_ms: int | None = None
    transactional: bool = False
    control: bool = False
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    last_offset_delta: int | None = None
    level: int | None = None

    @property
    def attributes(self) -> int:
        """The options as the bits of the header."""
        return (
            self.codec
            | (LOG_APPEND_TIME if self.log_append_time is not None else 0)
            | (TRANSACTIONAL if self.transactional else 0)
            | (CONTROL if self.control else 0)
            | (DELETE_HORIZON if self.delete_horizon_ms is not None else 0)
        )


def wrap_int64(value: int) -> int:
    """``value`` as Java's long would hold it."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def wrap_int32(value: int) -> int:
    """``value`` as Java's int would hold it."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def increment_sequence(sequence: int, increment: int) -> int:
    """The sequence number ``increment`` later: after 2147483647 comes 0 (in Java's int arithmetic throughout)."""
    if 0 <= increment <= MAX_INT - sequence:
        return sequence + increment
    if sequence > wrap_int32(MAX_INT - increment):
        return wrap_int32(increment - wrap_int32(MAX_INT - sequence) - 1)
    return wrap_int32(sequence + increment)


def decode_header(data: Buffer, position: int = 0) -> BatchHeader:
    """The batch header at ``position``."""
    if len(data) - position < HEADER_SIZE:
        raise CorruptRecordError(f"a batch header needs {HEADER_SIZE} bytes, {len(data) - position} are left")
    return BatchHeader(*HEADER.unpack_from(data, position))


def encode_header(header: BatchHeader) -> bytes:
    """The 61 bytes of ``header``, its checksum as it stands there."""
    return HEADER.pack(*header)


def is_valid(data: Buffer, header: BatchHeader, position: int = 0) -> bool:
    """Whether the checksum of the batch at ``position`` holds; all of its bytes must be there."""
    if header.size < HEADER_SIZE:
        return False
    view = memoryview(data)[position + ATTRIBUTES_POSITION : position + header.size]
    return len(view) == header.size - ATTRIBUTES_POSITION and crc32c(view) == header.crc


def decode_records(header: BatchHeader, body: Buffer) -> Iterator[Record]:
    """The records of a batch; ``body`` is what follows the header, compressed or not."""
    if header.record_count < 0:
        raise CorruptRecordError(f"Found invalid record count {header.record_count} in magic v{header.magic} batch")
    if header.record_count == 0:
        return
    data = bytes(body) if header.codec is Codec.NONE else decompress(header.codec, body)
    position = 0
    for left in range(header.record_count, 0, -1):
        record, position = decode_record(header, data, position)
        if left == 1 and position != len(data):
            raise CorruptRecordError("Incorrect declared batch size, records still remaining in file")
        yield record


def decode_record(header: BatchHeader, data: bytes, position: int) -> tuple[Record, int]:
    """The record at ``position`` of a decompressed body, and the position after it."""
    length, start = read_varint(data, position)
    end = start + length
    if not start < end <= len(data):
        raise CorruptRecordError(
            f"Invalid record size: expected {length} bytes in record payload, "
            f"but instead the buffer has only {len(data) - start} remaining bytes."
        )
    timestamp_delta, position = read_varlong(data, start + 1)
    offset_delta, position = read_varint(data, position)
    key, position = _read_bytes(data, position)
    value, position = _read_bytes(data, position)
    headers, position = _read_headers(data, position)
    if position != end:
        raise CorruptRecordError(
            f"Invalid record size: expected to read {length} bytes in record payload, "
            f"but instead read {position - start}"
        )
    timestamp = header.max_timestamp if header.is_log_append_time else header.base_timestamp + timestamp_delta
    sequence = increment_sequence(header.base_sequence, offset_delta) if header.base_sequence >= 0 else NO_SEQUENCE
    offset = wrap_int64(header.base_offset + offset_delta)
    return Record(offset, wrap_int64(timestamp), key, value, headers, sequence), end


def encode_batch(records: Iterable[Record], options: BatchOptions = BatchOptions()) -> bytes:  # noqa: B008
    """A whole batch; a record's sequence is left out, it follows from the batch's."""
    records = tuple(records)
    first = options.delete_horizon_ms
    if first is None:
        first = records[0].timestamp if records else NO_TIMESTAMP
    body = bytearray()
    for record in records:
        _write_record(record, record.offset - options.base_offset, record.timestamp - first, body)
    packed = compress(options.codec, body, options.level)
    last_delta = options.last_offset_delta
    if last_delta is None:
        last_delta = records[-1].offset - options.base_offset if records else 0
    latest = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    header = BatchHeader(
        base_offset=options.base_offset,
        batch_length=HEADER_SIZE - LOG_OVERHEAD + len(packed),
        partition_leader_epoch=options.partition_leader_epoch,
        attributes=options.attributes,
        last_offset_delta=last_delta,
        base_timestamp=first,
        max_timestamp=latest if options.log_append_time is None else options.log_append_time,
        producer_id=options.producer_id,
        producer_epoch=options.producer_epoch,
        base_sequence=options.base_sequence,
        record_count=len(records),
    )
    batch = encode_header(header) + packed
    return encode_header(header._replace(crc=crc32c(batch[ATTRIBUTES_POSITION:]))) + packed


def _read_bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    size, position = read_varint(data, position)
    if size < 0:
        return None, position
    end = position + size
    if end > len(data):
        raise CorruptRecordError("Found invalid record structure")
    return data[position:end], end


def _read_headers(data: bytes, position: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    if count < 0:
        raise CorruptRecordError(f"Found invalid number of record headers {count}")
    if count > len(data) - position:
        raise CorruptRecordError(
            f"Found invalid number of record headers. {count} is larger than the remaining size of the buffer"
        )
    headers = []
    for _ in range(count):
        key, position = _read_bytes(data, position)
        if key is None:
            raise CorruptRecordError("Invalid negative header key size")
        value, position = _read_bytes(data, position)
        headers.append(Header(key.decode("utf-8", "replace"), value))
    return tuple(headers), position


def _write_record(record: Record, offset_delta: int, timestamp_delta: int, out: bytearray) -> None:
    body = bytearray(b"\x00")
    write_varint(timestamp_delta, body)
    write_varint(offset_delta, body)
    _write_bytes(record.key, body)
    _write_bytes(record.value, body)
    write_varint(len(record.headers), body)
    for header in record.headers:
        _write_bytes(header.key.encode(), body)
        _write_bytes(header.value, body)
    write_varint(len(body), out)
    out += body


def _write_bytes(data: bytes | None, out: bytearray) -> None:
    if data is None:
        write_varint(-1, out)
    else:
        write_varint(len(data), out)
        out += data
