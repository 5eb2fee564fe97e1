"""Finding the next valid batch after damage.

Every byte is a candidate. A candidate's header must make sense before its checksum is computed: a magic that exists,
a size that fits into the file, an offset after the last good one, and for a v2 batch a record count and attributes
that are possible. The checksum then decides; by chance alone it would be right once in four thousand million.
"""

from __future__ import annotations

import re
from struct import Struct

from kafkapy.formats.checksum import crc32, crc32c
from kafkapy.formats.message_set import RECORD_OVERHEAD_V0
from kafkapy.formats.record_batch import ATTRIBUTES_POSITION, HEADER, HEADER_SIZE, LOG_OVERHEAD, MAGIC_POSITION
from kafkapy.scan.batches import Entry
from kafkapy.scan.large_batch import pieces
from kafkapy.scan.window import Window

LOOK_AHEAD = 1 << 20
MAGIC = b"\x02"
# a message of less than 16 MiB: offset, size, crc, magic 0 or 1, attributes
MESSAGE = re.compile(rb"(?=\x00[\s\S]{7}\x00(?!\x00\x00\x00)[\s\S]{7}[\x00\x01][\x00-\x0f])")
LEGACY = Struct(">qiIb")
KNOWN_ATTRIBUTES = 0x7F
OFFSET_SPAN = 1 << 31  # offsets of one segment lie no farther apart


def next_valid(window: Window, start: int, after_offset: int) -> int | None:
    """The position of the first valid batch at or after ``start`` whose offsets are after ``after_offset``."""
    position = start
    while position < window.limit:
        chunk = window.peek(position, LOOK_AHEAD + HEADER_SIZE)
        for candidate in _candidates(chunk):
            if candidate >= LOOK_AHEAD:
                break
            if is_valid_at(window, position + candidate, after_offset):
                return position + candidate
        position += LOOK_AHEAD
    return None


def is_valid_at(window: Window, position: int, after_offset: int) -> bool:
    """Whether a whole and valid batch or message lies at ``position``."""
    header = window.peek(position, HEADER_SIZE)
    room = window.limit - position
    if len(header) < LOG_OVERHEAD + RECORD_OVERHEAD_V0:
        return False
    if header[MAGIC_POSITION] != 2:
        offset = LEGACY.unpack_from(header)[0]
        return after_offset < offset <= after_offset + OFFSET_SPAN and _is_valid_message(window, position, header, room)
    if len(header) < HEADER_SIZE:
        return False
    base, length, _, _, crc, attributes, delta, _, _, _, _, _, count = HEADER.unpack(header)
    size = length + LOG_OVERHEAD
    plausible = (
        HEADER_SIZE <= size <= room
        and after_offset < base <= after_offset + OFFSET_SPAN
        and 0 <= count <= delta + 1
        and not attributes & ~KNOWN_ATTRIBUTES
    )
    return plausible and _checksum(window, position + ATTRIBUTES_POSITION, position + size) == crc


def is_valid_entry(window: Window, entry: Entry) -> bool:
    """Whether the checksum of a whole entry holds."""
    header = window.peek(entry.position, HEADER_SIZE)
    if entry.is_legacy:
        return _is_valid_message(window, entry.position, header, entry.size)
    if entry.size < HEADER_SIZE:
        return False
    crc: int = HEADER.unpack(header)[4]
    return _checksum(window, entry.position + ATTRIBUTES_POSITION, entry.end) == crc


def _candidates(chunk: bytes) -> list[int]:
    """Where in ``chunk`` an entry might begin."""
    if not chunk.strip(b"\x00"):
        return []  # a preallocated tail, perhaps gigabytes of it
    found = [match.start() for match in MESSAGE.finditer(chunk)]
    at = chunk.find(MAGIC, MAGIC_POSITION)
    while at >= 0:
        found.append(at - MAGIC_POSITION)
        at = chunk.find(MAGIC, at + 1)
    return sorted(found)


def _is_valid_message(window: Window, position: int, header: bytes, room: int) -> bool:
    _, length, crc, magic = LEGACY.unpack_from(header)
    size = length + LOG_OVERHEAD
    if magic not in (0, 1) or not LOG_OVERHEAD + RECORD_OVERHEAD_V0 <= size <= room:
        return False
    checksum = 0
    for piece in pieces(window, position + MAGIC_POSITION, position + size):
        checksum = crc32(piece, checksum)
    return checksum == int(crc)


def _checksum(window: Window, start: int, end: int) -> int:
    checksum = 0
    for piece in pieces(window, start, end):
        checksum = crc32c(piece, checksum)
    return checksum
