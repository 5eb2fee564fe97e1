"""Finding the next valid batch after damage.

Every byte is a candidate. A candidate's header must make sense before its checksum is computed: a magic that exists,
a size that fits into the file, an offset after the last good one, and for a v2 batch a record count and attributes
that are possible. The checksum then decides; by chance alone it would be right once in four thousand million.
"""

from __future__ import annotations

import re
from struct import Struct

from kafkapy.formats.checksum import Checksum, crc32, crc32c
from kafkapy.formats.message_set import RECORD_OVERHEAD_V0
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    BatchHeader,
)
from kafkapy.log.batches import Entry
from kafkapy.log.window import Window

LOOK_AHEAD = 1 << 20
MAGIC = b"\x02"
# a message of less than 16 MiB: offset, size, crc, magic 0 or 1, attributes
MESSAGE = re.compile(rb"(?=\x00[\s\S]{7}\x00(?!\x00\x00\x00)[\s\S]{7}[\x00\x01][\x00-\x0f])")
LEGACY = Struct(">qiIb")
KNOWN_ATTRIBUTES = 0x7F
OFFSET_SPAN = 1 << 31  # offsets of one segment lie no farther apart
# how many bytes of candidates one search checks; after that only small ones, so that no file can hold it up
CHECKSUM_BUDGET = 1 << 26
CHECKSUM_PASSES = 8
SMALL = 1 << 12


def next_valid(window: Window, start: int, after_offset: int) -> int | None:
    """The position of the first valid batch at or after ``start`` whose offsets are after ``after_offset``."""
    position = start
    budget = CHECKSUM_BUDGET + CHECKSUM_PASSES * (window.limit - start)
    while position < window.limit:
        chunk = window.peek(position, LOOK_AHEAD + HEADER_SIZE)
        for candidate in _candidates(chunk):
            entry = plausible_at(window, position + candidate, after_offset) if candidate < LOOK_AHEAD else None
            if entry is None or entry.size > max(budget, SMALL):
                continue
            if is_valid_entry(window, entry):
                return entry.position
            budget -= entry.size
        position += LOOK_AHEAD
    return None


def is_valid_at(window: Window, position: int, after_offset: int) -> bool:
    """Whether a whole and valid batch or message lies at ``position``."""
    entry = plausible_at(window, position, after_offset)
    return entry is not None and is_valid_entry(window, entry)


def plausible_at(window: Window, position: int, after_offset: int) -> Entry | None:
    """The batch or message that the bytes at ``position`` may be the header of."""
    header = window.peek(position, HEADER_SIZE)
    if len(header) < LOG_OVERHEAD + RECORD_OVERHEAD_V0:
        return None
    offset, length, _, magic = LEGACY.unpack_from(header)
    entry = Entry(position, offset, length + LOG_OVERHEAD, magic)
    if not (after_offset < offset <= after_offset + OFFSET_SPAN and entry.end <= window.limit):
        return None
    if magic in (0, 1):
        return entry if length >= RECORD_OVERHEAD_V0 else None
    if magic != 2 or len(header) < HEADER_SIZE or entry.size < HEADER_SIZE:
        return None
    batch = BatchHeader(*HEADER.unpack(header))
    possible = 0 <= batch.record_count <= batch.last_offset_delta + 1 and not batch.attributes & ~KNOWN_ATTRIBUTES
    return entry if possible else None


def is_valid_entry(window: Window, entry: Entry) -> bool:
    """Whether the checksum of a whole entry holds."""
    header = window.peek(entry.position, HEADER_SIZE)
    if entry.is_legacy:
        crc = LEGACY.unpack_from(header)[2]
        return bool(crc == _checksum(crc32, window, entry.position + MAGIC_POSITION, entry.end))
    if entry.size < HEADER_SIZE:
        return False
    crc = HEADER.unpack(header)[4]
    return bool(crc == _checksum(crc32c, window, entry.position + ATTRIBUTES_POSITION, entry.end))


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


def _checksum(function: Checksum, window: Window, start: int, end: int) -> int:
    checksum = 0
    for piece in window.pieces(start, end):
        checksum = function(piece, checksum)
    return checksum
