"""Walking a log batch by batch, the way a broker does: by the offset, size and magic in front of each.

A walk ends where fewer than 18 bytes are left or a batch claims more bytes than there are: what follows is a torn
write, which recovery would cut off. A size smaller than any message is damage, since nothing after it can be found.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.message_set import RECORD_OVERHEAD_V0
from kafkapy.formats.record_batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC_POSITION, BatchHeader, decode_header
from kafkapy.log.window import Window

PREFIX = Struct(">qi4xb")  # offset, size, (leader epoch or checksum), magic
PREFIX_SIZE = MAGIC_POSITION + 1


class Entry(NamedTuple):
    """A batch, or a message of a v0 or v1 set, that lies whole in its file."""

    position: int
    offset: int
    size: int
    magic: int

    @property
    def is_legacy(self) -> bool:
        """Whether this is a message and not a batch: Kafka reads the magic as a signed byte."""
        return self.magic < 2

    @property
    def end(self) -> int:
        """The position after it."""
        return self.position + self.size


def next_entry(window: Window) -> Entry | None:
    """The entry where the window stands, None where no whole one follows."""
    if window.remaining <= PREFIX_SIZE or not window.ensure(PREFIX_SIZE):
        return None
    offset, size, magic = PREFIX.unpack_from(window.buffer, window.start)
    if size < RECORD_OVERHEAD_V0:
        raise CorruptRecordError(
            f"Found record size {size} smaller than minimum record overhead ({RECORD_OVERHEAD_V0})"
        )
    if size + LOG_OVERHEAD > window.remaining:
        return None
    return Entry(window.position, offset, size + LOG_OVERHEAD, magic)


def why_torn(window: Window) -> str:
    """Why ``next_entry`` finds nothing where the window stands, though the file goes on."""
    if window.remaining <= PREFIX_SIZE:
        return f"{window.remaining} bytes are no batch"
    size: int = PREFIX.unpack(window.peek(window.position, PREFIX_SIZE))[1]
    return f"the batch has a size of {size + LOG_OVERHEAD} bytes, the file ends after {window.remaining}"


def is_cut_off(window: Window) -> bool:
    """Whether the entry where the window stands is not, or not wholly, in the window."""
    if window.available < HEADER_SIZE:
        return True
    size: int = PREFIX.unpack_from(window.buffer, window.start)[1]
    return size + LOG_OVERHEAD > window.available


def read_header(window: Window, entry: Entry) -> BatchHeader:
    """The header of a v2 entry. Like Kafka's, it is read past the end of an entry that is too small to hold it."""
    if window.position == entry.position and window.available >= HEADER_SIZE:
        return decode_header(window.buffer, window.start)
    data = window.peek(entry.position, HEADER_SIZE)
    if len(data) < HEADER_SIZE:
        raise CorruptRecordError(f"a record batch header needs {HEADER_SIZE} bytes, the file ends after {len(data)}")
    return decode_header(data)


def last_offset(window: Window, entry: Entry) -> int:
    """The last offset of an entry, as an index would hold it."""
    return entry.offset if entry.is_legacy else read_header(window, entry).last_offset
