"""Message sets v0 and v1, the formats before record batches; a 4.3 broker still reads them.

    offset size field
    0      8    offset      of the message; of a wrapper, the offset of its last inner message
    8      4    size        bytes after this field
    12     4    crc         CRC-32 of byte 16 to the end
    16     1    magic       0 or 1
    17     1    attributes  0-2 codec (zstd is not allowed), 3 LogAppendTime (v1)
    18     8    timestamp   v1 only
    ..     4    key size    -1 is null; then the key
    ..     4    value size  -1 is null; then the value

A compressed message is a wrapper: its value holds the compressed inner messages. Inner offsets are absolute in v0; in
v1 they count from 0, and the wrapper's offset is that of the last one. The timestamp of a LogAppendTime wrapper is that
of every inner message.

Each message carries its own checksum, so damage inside one leaves the others readable. Kafka reads sizes without
checking them first; here a size that does not fit is a CorruptRecordError in the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.checksum import crc32
from kafkapy.formats.compression import Codec, codec_for_id, decompress

ENTRY = Struct(">qi")  # offset, size
INT = Struct(">i")
LONG = Struct(">q")
RECORD_OVERHEAD_V0 = 14
TIMESTAMP_POSITION = 6
NO_TIMESTAMP = -1
CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
HEADER_SIZES = {0: 6, 1: 14}
INNER_LIMIT = 1 << 26


class Message(NamedTuple):
    """One message: ``data`` begins at the checksum. ``wrapper`` is the message it was compressed in."""

    offset: int
    data: memoryview
    wrapper: Message | None = None

    @property
    def crc(self) -> int:
        """The checksum as stored."""
        return int.from_bytes(self.data[:4], "big")

    @property
    def is_valid(self) -> bool:
        """Whether the checksum holds."""
        return len(self.data) >= RECORD_OVERHEAD_V0 and self.crc == crc32(self.data[4:])

    @property
    def magic(self) -> int:
        """0 or 1, or whatever the damaged byte says."""
        return int.from_bytes(self.data[4:5], "big", signed=True)

    def check_magic(self) -> None:
        """Refuse a magic that no message has."""
        if self.magic not in HEADER_SIZES:
            raise CorruptRecordError(f"Invalid magic used in LegacyRecord: {self.magic}")

    @property
    def codec(self) -> Codec:
        """How the value is compressed."""
        return codec_for_id(self.data[5] & CODEC_MASK)

    @property
    def timestamp_type(self) -> str:
        """``NoTimestampType`` (v0), ``CreateTime`` or ``LogAppendTime``."""
        if self.magic == 0:
            return "NoTimestampType"
        if self.wrapper is not None:
            return self.wrapper.timestamp_type
        return "LogAppendTime" if self.data[5] & LOG_APPEND_TIME else "CreateTime"

    @property
    def timestamp(self) -> int:
        """Milliseconds, -1 in v0."""
        if self.magic == 0:
            return NO_TIMESTAMP
        if self.wrapper is not None and self.timestamp_type == "LogAppendTime":
            return self.wrapper.timestamp
        return self._number(LONG, TIMESTAMP_POSITION)

    @property
    def key_size(self) -> int:
        """As stored; negative is null."""
        return self._number(INT, self._key_position)

    @property
    def value_size(self) -> int:
        """As stored; negative is null."""
        return self._number(INT, self._value_position)

    @property
    def key(self) -> memoryview | None:
        """The key."""
        return self._sized(self._key_position)

    @property
    def value(self) -> memoryview | None:
        """The value: of a wrapper, the compressed inner messages."""
        return self._sized(self._value_position)

    @property
    def _key_position(self) -> int:
        return HEADER_SIZES[0] if self.magic == 0 else HEADER_SIZES[1]

    @property
    def _value_position(self) -> int:
        return self._key_position + 4 + max(0, self.key_size)

    def _number(self, form: Struct, position: int) -> int:
        if position + form.size > len(self.data):
            raise CorruptRecordError(f"a message of {len(self.data)} bytes ends inside the field at {position}")
        number: int = form.unpack_from(self.data, position)[0]
        return number

    def _sized(self, position: int) -> memoryview | None:
        size = self._number(INT, position)
        if size < 0:
            return None
        start = position + 4
        if start + size > len(self.data):
            raise CorruptRecordError(f"a field of {size} bytes reaches past its message of {len(self.data)}")
        return self.data[start : start + size]


def inner_messages(wrapper: Message) -> Iterator[Message]:
    """The messages inside a compressed one, with absolute offsets.

    All are decompressed before the first is given, as in Kafka: what is wrong with the set as a whole is raised before
    anything comes out of it.
    """
    magic = wrapper.magic
    if magic not in HEADER_SIZES:
        raise CorruptRecordError(f"Invalid wrapper magic found in legacy deep record iterator {magic}")
    if wrapper.codec is Codec.ZSTD:
        raise CorruptRecordError(f"Invalid wrapper compressionType found in legacy deep record iterator {magic}")
    value = wrapper.value
    if value is None:
        raise CorruptRecordError(f"Found invalid compressed record set with null value (magic = {magic})")
    inner = list(_entries(decompress(wrapper.codec, value, magic, INNER_LIMIT)))
    if not inner:
        raise CorruptRecordError("Found invalid compressed record set with no inner records")
    base = _absolute_base(wrapper, inner[-1][0]) if magic == 1 else 0
    return _with_absolute_offsets(wrapper, inner, base)


def _entries(data: bytes) -> Iterator[tuple[int, memoryview]]:
    view = memoryview(data)
    position = 0
    while position + ENTRY.size <= len(data):
        offset, size = ENTRY.unpack_from(data, position)
        if size < RECORD_OVERHEAD_V0:
            raise CorruptRecordError(f"Record size is less than the minimum record overhead ({RECORD_OVERHEAD_V0})")
        position += ENTRY.size
        if position + size > len(data):
            return  # a partial message at the end is left out
        yield offset, view[position : position + size]
        position += size


def _absolute_base(wrapper: Message, last_inner: int) -> int:
    if wrapper.offset == 0:
        return 0  # some versions of librdkafka sent such wrappers
    if wrapper.offset < last_inner:
        raise CorruptRecordError(
            f"Found invalid wrapper offset in compressed v1 message set, wrapper offset '{wrapper.offset}' is less "
            f"than the last inner message offset '{last_inner}' and it is not zero."
        )
    return wrapper.offset - last_inner


def _with_absolute_offsets(wrapper: Message, inner: list[tuple[int, memoryview]], base: int) -> Iterator[Message]:
    for offset, data in inner:
        message = Message(base + offset, data)
        if message.magic == 1:
            message = Message(base + offset, data, wrapper)
        if message.codec is not Codec.NONE:
            raise CorruptRecordError("Inner messages must not be compressed")
        yield message
