"""Whether what stands behind the last good batch of a log is a write that was not finished.

A torn write is the beginning of one batch, or zeros where a file was made longer before it was filled. It was never
acknowledged, or another replica has it, and may be cut off. A size that is wrong in the middle of a log looks the same
at first: but then good batches follow, or more bytes than a batch may have. Cutting there would lose these.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.record_batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC_POSITION, decode_header, is_valid
from kafkapy.log.batches import next_entry
from kafkapy.log.window import Window

if TYPE_CHECKING:
    from kafkapy.log.segment_reader import SegmentEnd, SegmentReader

MAGIC = re.compile(rb"\x02")


def is_torn(segment: SegmentReader, end: SegmentEnd, largest_batch: int) -> bool:
    """Whether the bytes from ``end`` on are less than a batch; there are some."""
    if segment.is_preallocated(end.position):
        return True
    if segment.size - end.position > largest_batch + LOG_OVERHEAD:
        return False
    return is_unfinished(segment.log_path, segment.size, end.position, end.offset)


def is_unfinished(path: str, size: int, position: int, offset: int) -> bool:
    """Whether the bytes of a file from ``position`` on, where ``offset`` should be, are zeros or less than a batch."""
    with Window(path, limit=size) as window:
        window.seek(position)
        rest = window.peek(position, size - position)
        if not any(rest):
            return True
        try:
            if next_entry(window) is not None:
                return False  # a whole one, with a wrong checksum
        except CorruptRecordError:
            return False
    return not any(_is_batch(rest, found.start() - MAGIC_POSITION, offset) for found in MAGIC.finditer(rest))


def _is_batch(data: bytes, position: int, after: int) -> bool:
    if position < 0 or len(data) - position < HEADER_SIZE:
        return False
    header = decode_header(data, position)
    fits = HEADER_SIZE <= header.size <= len(data) - position and header.base_offset >= after
    return fits and is_valid(data, header, position)
