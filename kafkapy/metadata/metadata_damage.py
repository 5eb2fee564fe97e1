"""What stands behind the end of a metadata log that can be read, and what shows that there was more.

A write that was not finished is the beginning of one batch: it was acknowledged to nobody, and whoever writes next cuts
it off (log/torn_end.py). All else is damage: whole batches follow, or the last one is not what its checksum says, or it
is not whole though nobody was writing: who stopped in good order left a mark after its last write. Of these changes
people were told that they are done, so nobody may cut there but who accepts their loss.

Healthy logs cost one look at the size of a file; bytes behind the end are searched only where there are some.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkapy.errors import DamagedFileError
from kafkapy.formats import clean_shutdown, leader_epoch_checkpoint
from kafkapy.formats.record_batch import HEADER_SIZE, decode_header
from kafkapy.log.names import LOG_SUFFIX, parse_segment_file, partition_dirs
from kafkapy.log.resync import is_valid_at, next_valid
from kafkapy.log.torn_end import is_unfinished
from kafkapy.log.window import Window
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME, MetadataDirectory, age
from kafkapy.metadata.metadata_segments import LogEnd, log_end

Reach = tuple[int, int]


class MetadataDamage(NamedTuple):
    """``reach`` is the (epoch, offset) that the log went to at least; ``is_torn`` where it may be a write that was not
    finished."""

    error: DamagedFileError
    reach: Reach
    is_torn: bool = False


def missing_from(reach: Reach, directories: Sequence[MetadataDirectory]) -> DamagedFileError | None:
    """What shows, in any of the directories, that there was more than what was read as far as ``reach``."""
    for directory in directories:
        for found in damages_behind(directory.segments, directory.log_end):
            if found.reach <= reach or (found.is_torn and not _were_cut(directories, reach)):
                continue
            if log_end(directory.segments) == directory.log_end:
                return found.error  # nobody is writing there: it looks the same as before
    for directory in directories:
        told = _told_of_more(reach, directory)
        if told is not None:
            return told
    return None


def emptied(log_dirs: Sequence[str]) -> DamagedFileError | None:
    """The error that no record is left: who has partitions was told of them by records."""
    for log_dir in log_dirs:
        if any(os.path.basename(path) != DIRECTORY_NAME for _, path in partition_dirs(log_dir)):
            path = os.path.join(log_dir, DIRECTORY_NAME)
            return DamagedFileError(path, 0, "it has no records, and there are partitions beside it")
    return None


def damages_behind(segments: Sequence[str], end: LogEnd) -> Iterator[MetadataDamage]:
    """What is wrong with the bytes behind the end of a log, by segment; nothing where there are none."""
    for path, position in _rest(segments, end):
        file = parse_segment_file(os.path.basename(path))
        offset = max(end.offset, 0 if file is None else file.base_offset)
        yield _damage(path, position, LogEnd(end.epoch, offset))


def _damage(path: str, position: int, end: LogEnd) -> MetadataDamage:
    reach = end.epoch, end.offset + 1
    if is_unfinished(path, os.path.getsize(path), position, end.offset):
        reason = "the last batch is not whole, though nobody was writing: there are marks of a clean stop"
        return MetadataDamage(DamagedFileError(path, position, reason), reach, is_torn=True)
    behind = _whole_behind(path, position, end.offset)
    if behind is None:
        reason = "the last batch is not what its checksum says"
        return MetadataDamage(DamagedFileError(path, position, reason), reach)
    reason = f"no good batch is there, and whole ones follow it, up to offset {behind[1] - 1}"
    return MetadataDamage(DamagedFileError(path, position, reason), behind)


def what_to_do(damage: DamagedFileError, are_records_left: bool) -> str:
    """How a metadata log can be had whole again; where bytes can be given up, how that is done on purpose. Where no
    record would be left then, the next refusal is that."""
    from shlex import quote

    path = damage.path
    text = f"put {path} back from a backup or from another broker"
    if not are_records_left:
        return f"{text}: no record is left before the damage"
    if not path.endswith(LOG_SUFFIX) or not damage.position:
        return text
    if os.path.getsize(path) <= damage.position:
        epochs = os.path.join(os.path.dirname(path), leader_epoch_checkpoint.FILE_NAME)
        return f"{text}; to give up what is missing: rm {quote(epochs)}"
    look = f"kafkapy dump-log --cluster-metadata-decoder --resync --files {quote(path)}"
    cut = "; ".join(
        [f"truncate -s {damage.position} {quote(path)}", *(f"rm {quote(each)}" for each in _segments_after(path))]
    )
    return f"{text}; see what is behind the damage: {look}; to give that up: {cut}"


def _segments_after(path: str) -> list[str]:
    """The segments that follow, which could not be read behind a hole."""
    directory, own = os.path.split(path)
    return sorted(
        os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(LOG_SUFFIX) and name > own
    )


def _were_cut(directories: Sequence[MetadataDirectory], reach: Reach) -> bool:
    """Whether a last batch that is not whole is no unfinished write: all brokers stopped in good order, and who writes
    takes their marks away first. Where a copy ends there with nothing behind, there was no such batch."""
    stopped = (os.path.exists(os.path.join(each.log_dir, clean_shutdown.FILE_NAME)) for each in directories)
    whole = (
        each for each in directories if each.log_end.reach >= reach and not any(_rest(each.segments, each.log_end))
    )
    return all(stopped) and not any(whole)


def _told_of_more(reach: Reach, directory: MetadataDirectory) -> DamagedFileError | None:
    if directory.snapshots and age(directory.snapshots[0]) > reach:
        path = os.path.join(directory.path, directory.snapshots[0].file_name())
        return DamagedFileError(
            path, 0, f"this snapshot is not whole, and without it the log ends at offset {reach[1]}"
        )
    entry, end = directory.last_entry, directory.log_end
    if entry is None or entry.epoch < reach[0] or entry.start_offset <= reach[1]:
        return None
    path = directory.segments[-1] if directory.segments else directory.path
    once = f"{leader_epoch_checkpoint.FILE_NAME} says that it went to {entry.start_offset}"
    return DamagedFileError(path, end.position, f"the log ends there, at offset {end.offset}, and {once}")


def _rest(segments: Sequence[str], end: LogEnd) -> Iterator[tuple[str, int]]:
    """Where bytes are behind the end: in its segment, and in those that follow, which have no good batch."""
    for path in segments[segments.index(end.path) if end.path else 0 :]:
        position = end.position if path == end.path else 0
        if os.path.getsize(path) > position:
            yield path, position


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
