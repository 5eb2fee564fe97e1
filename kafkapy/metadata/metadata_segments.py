"""The segments of a metadata log, read without an index: good batches, to the first one that is torn or damaged.

Where they end, the log ends; what the bytes behind that are is for others to say (metadata_damage.py).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, decode_header, is_valid

_READ_AHEAD = 1 << 20


class LogEnd(NamedTuple):
    """Where the good batches of a log end; (epoch, offset) compare as the quorum compares logs."""

    epoch: int = 0
    offset: int = 0
    path: str = ""
    position: int = 0

    @property
    def reach(self) -> tuple[int, int]:
        return self.epoch, self.offset


class PlacedBatch(NamedTuple):
    """A batch, and the byte at which it begins."""

    header: BatchHeader
    body: bytes
    position: int

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.position + self.header.size

    def log_end(self, path: str) -> LogEnd:
        """Where a log ends of which it is the last batch."""
        return LogEnd(self.header.partition_leader_epoch, self.header.last_offset + 1, path, self.end)


def good_batches(path: str, from_offset: int = 0) -> Iterator[PlacedBatch]:
    """The batches of a segment as far as they are good; those that end before ``from_offset`` without their bodies."""
    position = 0
    with open(path, "rb", buffering=_READ_AHEAD) as file:
        size = os.fstat(file.fileno()).st_size
        while position < size:
            data = file.read(HEADER_SIZE)
            header = decode_header(data) if len(data) == HEADER_SIZE else None
            if header is None or not _fits(header, size - position):
                return
            if header.last_offset < from_offset:
                file.seek(position + header.size)
                body = b""
            else:
                body = file.read(header.size - HEADER_SIZE)
                if not is_valid(data + body, header):
                    return
            yield PlacedBatch(header, body, position)
            position += header.size


def log_end(segments: Sequence[str]) -> LogEnd:
    """Where a log ends; an empty last segment leaves it to the one before."""
    for path in reversed(segments):
        last = deque(good_batches(path), maxlen=1)
        if last:
            return last[0].log_end(path)
    return LogEnd()


def _fits(header: BatchHeader, left: int) -> bool:
    return header.magic == 2 and HEADER_SIZE <= header.size <= left
