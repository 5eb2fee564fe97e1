"""What stands behind the end of a metadata log that can be read, and what shows that there was more.

A write that was not finished is the beginning of one batch: it was acknowledged to nobody, and whoever writes next cuts
it off (log/torn_end.py). All else is damage: whole batches follow, or the last one is not what its checksum says. Of
these changes people were told that they are done, so nobody may cut there but who accepts their loss.

Healthy logs cost one look at the size of a file; bytes behind the end are searched only where there are some.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.errors import DamagedFileError
from kafkapy.formats import leader_epoch_checkpoint
from kafkapy.formats.record_batch import HEADER_SIZE, decode_header
from kafkapy.log.names import LOG_SUFFIX, parse_segment_file
from kafkapy.log.resync import is_valid_at, next_valid
from kafkapy.log.segment_reader import SegmentEnd, SegmentReader
from kafkapy.log.torn_end import is_torn
from kafkapy.log.window import Window


class LogEnd(NamedTuple):
    """Where the good batches of a log end; (epoch, offset) compare as the quorum compares logs."""

    epoch: int = 0
    offset: int = 0
    path: str = ""
    position: int = 0

    @property
    def reach(self) -> tuple[int, int]:
        return self.epoch, self.offset


class MetadataDamage(NamedTuple):
    """``reach`` is the (epoch, offset) that the log went to at least."""

    error: DamagedFileError
    reach: tuple[int, int]


def damage_behind(segments: Sequence[str], end: LogEnd) -> MetadataDamage | None:
    """What is wrong with the bytes behind the end of a log; None where there are none, or a write was not finished."""
    found = _rest(segments, end)
    if found is None:
        return None
    path, position = found
    file = parse_segment_file(os.path.basename(path))
    segment = SegmentReader(os.path.dirname(path), 0 if file is None else file.base_offset)
    if is_torn(segment, SegmentEnd(end.offset, position), segment.size):
        return None
    behind = _whole_behind(path, position, end.offset)
    if behind is None:
        reason = "the last batch is not what its checksum says"
        return MetadataDamage(DamagedFileError(path, position, reason), (end.epoch, end.offset + 1))
    reason = f"no good batch is there, and whole ones follow it, up to offset {behind[1] - 1}"
    return MetadataDamage(DamagedFileError(path, position, reason), behind)


def what_to_do(damage: DamagedFileError) -> str:
    """How a metadata log can be had whole again; where bytes can be given up, how that is done on purpose."""
    path = damage.path
    text = f"put {path} back from a backup or from another broker"
    if not path.endswith(LOG_SUFFIX) or not damage.position or not _is_last(path):
        return text
    if os.path.getsize(path) <= damage.position:
        epochs = os.path.join(os.path.dirname(path), leader_epoch_checkpoint.FILE_NAME)
        return f"{text}; to give up what is missing: rm {epochs}"
    look = f"kafkapy dump-log --cluster-metadata-decoder --resync --files {path}"
    return f"{text}; see what is behind the damage: {look}; to give that up: truncate -s {damage.position} {path}"


def _is_last(path: str) -> bool:
    """Whether no segment follows, which could not be read behind a hole."""
    names = os.listdir(os.path.dirname(path))
    return max(name for name in names if name.endswith(LOG_SUFFIX)) == os.path.basename(path)


def _rest(segments: Sequence[str], end: LogEnd) -> tuple[str, int] | None:
    """The first bytes behind the end; the last segments may have none."""
    for path in segments[segments.index(end.path) if end.path else 0 :]:
        position = end.position if path == end.path else 0
        if os.path.getsize(path) > position:
            return path, position
    return None


def _whole_behind(path: str, position: int, offset: int) -> tuple[int, int] | None:
    """The (epoch, end offset) of the last whole batch from ``position`` on that has ``offset`` or a later one."""
    reach, at, after = None, position, offset - 1
    with Window(path) as window:
        while True:
            found = at if is_valid_at(window, at, after) else next_valid(window, at, after)
            if found is None:
                return reach
            header = decode_header(window.peek(found, HEADER_SIZE))
            reach = header.partition_leader_epoch, header.last_offset + 1
            at, after = found + header.size, header.last_offset
