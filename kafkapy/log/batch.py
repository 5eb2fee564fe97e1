"""A batch of any format, as it lies in a segment, and the records in it.

A message of magic 0 or 1 is given a header like a batch of one: its offset (of a compressed message set, the last one
inside), its timestamp, its codec. So whoever walks a log asks the same of every format.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.compression import Codec
from kafkapy.formats.message_set import Message, inner_messages
from kafkapy.formats.record_batch import (
    CODEC_MASK,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
    BatchHeader,
    Record,
    decode_records,
    is_valid,
)
from kafkapy.log.batches import Entry, next_entry, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkapy.log.window import Window

NEWEST_MAGIC = 2
_LEGACY = Struct(">qiIbbq")  # offset, size, crc, magic, attributes, timestamp (magic 1)
_LEGACY_BITS = {0: CODEC_MASK, 1: CODEC_MASK | LOG_APPEND_TIME}


class Batch(NamedTuple):
    """A batch, where it begins in its segment, and all of its bytes."""

    header: BatchHeader
    position: int
    data: bytes

    def records(self) -> Iterator[Record]:
        """The records, decompressed."""
        return read_records(self.header, self.data)


def read_records(header: BatchHeader, data: bytes) -> Iterator[Record]:
    """The records of a whole batch or message."""
    if header.magic >= 2:
        return decode_records(header, memoryview(data)[HEADER_SIZE:])
    message = Message(header.base_offset, memoryview(data)[LOG_OVERHEAD:])
    messages = (message,) if message.codec is Codec.NONE else inner_messages(message)
    return (_record(message) for message in messages)


def walk(window: Window, verify: bool = False) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each whole batch from where the window stands, which it does while one is looked at.

    The walk ends before a torn batch; a size that cannot be, and with ``verify`` a wrong checksum, is an error.
    """
    while (entry := next_entry(window)) is not None:
        header = _header(window, entry)
        if verify and not is_good(header, batch_bytes(window, entry.size)):
            raise CorruptRecordError(why_bad(header))
        yield entry.position, header
        window.seek(entry.end)


def batch_bytes(window: Window, size: int) -> bytes:
    """The batch where the window stands."""
    if window.ensure(size):
        return bytes(window.view[window.start : window.start + size])
    return window.peek(window.position, size)


def is_good(header: BatchHeader, data: bytes) -> bool:
    """Whether the checksum of a batch or message is right."""
    if header.magic >= 2:
        return is_valid(data, header)
    return Message(header.base_offset, memoryview(data)[LOG_OVERHEAD:]).is_valid


def why_bad(header: BatchHeader) -> str:
    """What is told of a batch that is not good."""
    return f"Record is corrupt (stored crc = {header.crc})"


def flaw(header: BatchHeader, data: bytes) -> str | None:
    """Why no consumer can read a batch or message: its magic, which no checksum of a batch covers, or its checksum."""
    if header.magic > NEWEST_MAGIC:
        return f"magic {header.magic}"
    return None if is_good(header, data) else why_bad(header)


def _header(window: Window, entry: Entry) -> BatchHeader:
    if not entry.is_legacy:
        return read_header(window, entry)
    return legacy_header(window.peek(entry.position, _LEGACY.size))


def legacy_header(data: bytes) -> BatchHeader:
    """The header that stands for that of a message of magic 0 or 1."""
    offset, size, crc, magic, attributes, timestamp = _LEGACY.unpack_from(data.ljust(_LEGACY.size, b"\0"))
    timestamp = timestamp if magic == 1 else NO_TIMESTAMP
    return BatchHeader(
        base_offset=offset,
        batch_length=size,
        magic=magic,
        crc=crc,
        attributes=attributes & _LEGACY_BITS.get(magic, 0),
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        record_count=1,
    )


def _record(message: Message) -> Record:
    key, value = message.key, message.value
    return Record(
        message.offset,
        message.timestamp,
        None if key is None else bytes(key),
        None if value is None else bytes(value),
    )
