"""The names of directories and files in a log dir, and what belongs together by name.

| name                                      |                                                                |
|-------------------------------------------|----------------------------------------------------------------|
| ``topic-partition``                       | a partition                                                    |
| ``topic-partition.<id>-delete``           | deleted, removed soon; the topic is cut to a name of <= 255    |
| ``topic-partition.<id>-stray``            | not assigned to this broker any more; cut in the same way      |
| ``topic-partition.<id>-future``           | being copied from another log dir of the broker                |
| ``%020d.log .index .timeindex .txnindex`` | a segment, by its base offset                                  |
| ``%020d.snapshot``                        | the producer state before that offset                          |
| ``%020d-%010d.checkpoint``                | a metadata snapshot                                            |
| such a name + ``.deleted``                | on its way out                                                 |
| such a name + ``.cleaned``, ``.swap``     | compaction's output: being written, then ready to replace      |

After a crash ``.deleted`` and ``.cleaned`` files are leftovers to remove; a ``.swap`` is whole, and its renaming is to
be finished. A plain file with any other name is ignored; a directory with any other name is an error in Kafka.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats import snapshot_id
from kafkapy.formats.java_parsing import parse_int, parse_long

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
TXN_INDEX_SUFFIX = ".txnindex"
PRODUCER_SNAPSHOT_SUFFIX = ".snapshot"
SEGMENT_SUFFIXES = (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX)

DELETED_SUFFIX = ".deleted"
CLEANED_SUFFIX = ".cleaned"
SWAP_SUFFIX = ".swap"

DELETE_DIR_SUFFIX = "-delete"
STRAY_DIR_SUFFIX = "-stray"
FUTURE_DIR_SUFFIX = "-future"

_MARKS = (DELETE_DIR_SUFFIX, STRAY_DIR_SUFFIX, FUTURE_DIR_SUFFIX)
_STATES = (DELETED_SUFFIX, CLEANED_SUFFIX, SWAP_SUFFIX)
_DUMP_ORDER = (
    LOG_SUFFIX,
    INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    PRODUCER_SNAPSHOT_SUFFIX,
    snapshot_id.SUFFIX,
)
_LONGEST_NAME = 255
_JAVA_BLANKS = frozenset(" \t\n\x0b\f\r")


class SegmentFile(NamedTuple):
    """A segment's file: ``suffix`` is its kind (``.log`` ...), ``state`` is '' or ``.deleted`` and the like."""

    base_offset: int
    suffix: str
    state: str = ""

    @property
    def name(self) -> str:
        return f"{self.base_offset:020d}{self.suffix}{self.state}"


class PartitionDir(NamedTuple):
    """A partition's directory: ``mark`` is '', ``-delete``, ``-stray`` or ``-future``, the last three with an id."""

    topic: str
    partition: int
    mark: str = ""
    unique_id: str = ""

    @property
    def name(self) -> str:
        if not self.mark:
            return f"{self.topic}-{self.partition}"
        tail = f"-{self.partition}.{self.unique_id}{self.mark}"
        capped = self.topic if self.mark == FUTURE_DIR_SUFFIX else self.topic[: _LONGEST_NAME - len(tail)]
        return capped + tail


def offset_from_file_name(name: str) -> int:
    """The number before the first dot."""
    number, dot, _ = name.partition(".")
    if not dot:
        raise FormatError(f"'{name}' has no dot after an offset")
    return parse_long(number)


def parse_segment_file(name: str) -> SegmentFile | None:
    """None for a file that is not one of a segment's five kinds, in any state."""
    state = next((state for state in _STATES if name.endswith(state)), "")
    stem, dot, kind = name.removesuffix(state).rpartition(".")
    if dot + kind not in _DUMP_ORDER[:-1]:
        return None
    try:
        return SegmentFile(parse_long(stem), dot + kind, state)
    except FormatError:
        return None


def parse_partition_dir(name: str, location: str | None = None) -> PartitionDir:
    """The parts of a directory's name, else what Kafka stops with; ``location`` is the path for that message."""
    mark = next(mark for mark in _MARKS if name.endswith(mark)) if name.endswith(_MARKS) else ""
    plain, unique_id = name, ""
    if mark:
        plain, _, unique_id = name.removesuffix(mark).rpartition(".")
    topic, _, partition = plain.rpartition("-")
    if not topic or (mark and (not unique_id or not _JAVA_BLANKS.isdisjoint(name))):
        raise _not_a_partition(name, location)
    try:
        return PartitionDir(topic, parse_int(partition), mark, unique_id)
    except FormatError:
        raise _not_a_partition(name, location) from None


def partition_dirs(log_dir: str | os.PathLike[str], mark: str | None = None) -> list[tuple[PartitionDir, str]]:
    """The partitions of a log dir with their paths, by topic and partition; other directories are left out. ``mark``
    are those to be looked at, '' for the partitions themselves, None for all."""
    found = []
    with os.scandir(log_dir) as entries:
        for entry in entries:
            if mark and not entry.name.endswith(mark):
                continue
            parsed = _partition_dir_or_none(entry.name) if entry.is_dir() else None
            if parsed is not None and mark in (None, parsed.mark):
                found.append((parsed, entry.path))
    return sorted(found)


def segment_files(directory: str | os.PathLike[str]) -> list[str]:
    """The paths to dump for a directory: its own segment files, or for a log dir those of each partition in turn.

    They are ordered by offset, then .log, .index, .timeindex, .txnindex, .snapshot, .checkpoint; files that are on
    their way in or out are left out.
    """
    own = _own_segment_files(directory)
    if own:
        return own
    return [path for _, partition in partition_dirs(directory) for path in _own_segment_files(partition)]


def _own_segment_files(directory: str | os.PathLike[str]) -> list[str]:
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            order = _dump_order(entry.name)
            if order is not None and entry.is_file():
                found.append((order, entry.path))
    return [path for _, path in sorted(found)]


def _dump_order(name: str) -> tuple[int, int] | None:
    segment_file = parse_segment_file(name)
    if segment_file is not None:
        return None if segment_file.state else (segment_file.base_offset, _DUMP_ORDER.index(segment_file.suffix))
    try:
        snapshot = snapshot_id.parse(name)
    except FormatError:
        return None
    if snapshot is None or snapshot.partial or snapshot.deleted:
        return None
    return snapshot.snapshot_id.end_offset, _DUMP_ORDER.index(snapshot_id.SUFFIX)


def _partition_dir_or_none(name: str) -> PartitionDir | None:
    try:
        return parse_partition_dir(name)
    except FormatError:
        return None


def _not_a_partition(name: str, location: str | None) -> FormatError:
    return FormatError(
        f"Found directory {location or name}, '{name}' is not in the form of topic-partition or "
        "topic-partition.uniqueId-delete (if marked for deletion)."
    )
