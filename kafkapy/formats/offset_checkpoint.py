"""The four offset checkpoints of a log dir, lines of ``topic partition offset`` in a checkpoint frame.

| file                             | offset of each partition                                                        |
|----------------------------------|---------------------------------------------------------------------------------|
| recovery-point-offset-checkpoint | everything below it is flushed; recovery after a crash starts here              |
| log-start-offset-checkpoint      | first offset a client may read; only where it is past the first segment's base  |
| replication-offset-checkpoint    | high watermark                                                                  |
| cleaner-offset-checkpoint        | first offset that compaction has not seen                                       |

Invariant: one line a partition, in no order. A partition without a line starts from 0 or from its first segment.

After a crash the file is the last one that was renamed into place: up to a minute old, so its offsets may be behind
the log, and ahead of it only if the log lost unflushed bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kafkapy.formats import checkpoint_file
from kafkapy.formats.java_parsing import parse_int, parse_long

if TYPE_CHECKING:
    from collections.abc import Mapping

RECOVERY_POINT_FILE = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_FILE = "log-start-offset-checkpoint"
HIGH_WATERMARK_FILE = "replication-offset-checkpoint"
CLEANER_OFFSET_FILE = "cleaner-offset-checkpoint"

_WHOLE = re.compile(rb"0\n(\d{1,9})\n((?:[-.\w]+ \d{1,9} \d{1,18}\n)*)")
"""A file as it is written: nearly every one, and those of large log dirs have thousands of lines."""


def decode(data: bytes, location: str) -> dict[tuple[str, int], int]:
    """Offset by (topic, partition), in file order; the last line of a partition wins."""
    whole = _WHOLE.fullmatch(data)
    if whole is None or whole[2].count(b"\n") != int(whole[1]):
        return dict(checkpoint_file.decode(data, location, _entry))  # it knows what else Java takes, and what is wrong
    fields = (line.split() for line in whole[2].splitlines())
    return {(topic.decode(), int(partition)): int(offset) for topic, partition, offset in fields}


def encode(offsets: Mapping[tuple[str, int], int]) -> bytes:
    lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
    return checkpoint_file.encode(lines)


def _entry(fields: list[str]) -> tuple[tuple[str, int], int]:
    topic, partition, offset = fields
    return (topic, parse_int(partition)), parse_long(offset)
