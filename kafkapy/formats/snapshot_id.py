"""The names of metadata snapshots: ``%020d-%010d.checkpoint``, the end offset (exclusive) and the epoch.

| suffix                       |                                                                          |
|------------------------------|--------------------------------------------------------------------------|
| ``.checkpoint``              | whole and immutable: it was renamed into place                           |
| ``-<random>.checkpoint.part``| being written; after a crash a leftover, deleted at the next start        |
| ``.checkpoint.deleted``      | about to be deleted                                                      |

``bootstrap.checkpoint``, in the root of a log dir, has the same content and no id in its name.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats.java_parsing import parse_int, parse_long

SUFFIX = ".checkpoint"
PARTIAL_SUFFIX = ".checkpoint.part"
DELETE_SUFFIX = ".checkpoint.deleted"
BOOTSTRAP_FILE_NAME = "bootstrap.checkpoint"

_OFFSET_WIDTH = 20
_EPOCH_WIDTH = 10


class SnapshotId(NamedTuple):
    end_offset: int
    epoch: int

    def file_name(self, suffix: str = SUFFIX) -> str:
        return f"{self.end_offset:0{_OFFSET_WIDTH}d}-{self.epoch:0{_EPOCH_WIDTH}d}{suffix}"


class SnapshotName(NamedTuple):
    snapshot_id: SnapshotId
    partial: bool = False
    deleted: bool = False


def parse(name: str) -> SnapshotName | None:
    """The id in a file's name, None for a file that is no snapshot; FormatError if only its suffix is one."""
    partial = name.endswith(PARTIAL_SUFFIX)
    deleted = name.endswith(DELETE_SUFFIX)
    if not (partial or deleted or name.endswith(SUFFIX)):
        return None
    # Like Kafka, by place alone: the character between the two numbers is not looked at.
    epoch_end = _OFFSET_WIDTH + 1 + _EPOCH_WIDTH
    if len(name) < epoch_end:
        raise FormatError(f"'{name}' is too short for the name of a snapshot")
    snapshot_id = SnapshotId(parse_long(name[:_OFFSET_WIDTH]), parse_int(name[_OFFSET_WIDTH + 1 : epoch_end]))
    return SnapshotName(snapshot_id, partial, deleted)
