"""What a broker's background threads would do to one replica, planned on files that are only read, or done.

In the order of Kafka's threads: compaction, then retention of what it left; ``.deleted`` files whose time has come go
at any time. ``planned`` and ``done`` tell of the same tasks in the same words.

Compaction is done in rounds until the log is not due any more; a plan tells of the first. There is more than one only
where the keys did not fit into one offset map.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkapy.log import retention
from kafkapy.log.cleaner import clean
from kafkapy.log.cleaner_plan import LogToClean, SegmentT, log_to_clean
from kafkapy.log.cleaning_round import CleanedGroup, CleaningRound, estimate
from kafkapy.log.config import LogConfig
from kafkapy.log.log_view import LogView
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.retention import Bounds, Deletion, Sized

COMPACT = "compact"
DELETE_SEGMENT = "delete segment"
REMOVE_FILE = "remove file"
WRITE_SNAPSHOT = "write snapshot"


class Task(NamedTuple):
    """Something to do or done; ``size`` and ``size_after`` are bytes of what it is done to, before and after."""

    kind: str
    name: str
    size: int
    size_after: int
    reason: str


class Situation(NamedTuple):
    """What decides about a replica, besides its files. What lies beyond the high watermark stays; None says that all
    is below it."""

    config: LogConfig
    cleaned_to: int | None
    now: int
    high_watermark: int | None = None

    def end(self, log: LogView[SegmentT]) -> int:
        """The high watermark of a log."""
        return log.log_end_offset if self.high_watermark is None else self.high_watermark


def due_files(directory: str, situation: Situation) -> list[Task]:
    """The .deleted files to be removed."""
    delay = situation.config.file_delete_delay_ms
    reason = f"it was deleted more than file.delete.delay.ms={delay} ago"
    return [
        Task(REMOVE_FILE, os.path.basename(path), os.path.getsize(path), 0, reason)
        for path in retention.due_files(directory, situation.config, situation.now)
    ]


def planned(log: PartitionReader, situation: Situation) -> Iterator[Task]:
    """What would be done to a log now."""
    segments: Sequence[Sized] = log.segments
    due = _due_cleaning(log, situation)
    if due is not None:
        found, reason = due
        cleaning = CleaningRound(log, situation.config, found, log.producers, situation.now)
        groups = estimate(cleaning)
        yield _compaction(found, cleaning.end_offset, groups, reason)
        segments = [*groups, *log.segments[sum(group.source_count for group in groups) :]]
    yield from map(_deletion, _deletions(log, segments, situation))


def is_due(log: PartitionReader, situation: Situation) -> bool:
    """Whether there is anything to do, without reading the data."""
    return _due_cleaning(log, situation) is not None or bool(_deletions(log, log.segments, situation))


class Maintenance:
    """Does it; ``cleaned_to`` is how far compaction came."""

    def __init__(self, log: PartitionLog, situation: Situation) -> None:
        self._log = log
        self._situation = situation
        self.cleaned_to = situation.cleaned_to

    def done(self) -> Iterator[Task]:
        """Do what is due, and tell."""
        yield from self._compact()
        deleted = _deletions(self._log, self._log.segments, self._situation)
        retention.apply(self._log, deleted, self._situation.now)
        yield from map(_deletion, deleted)

    def _compact(self) -> Iterator[Task]:
        log, situation = self._log, self._situation
        while True:
            due = _due_cleaning(log, situation._replace(cleaned_to=self.cleaned_to))
            if due is None:
                return
            found, reason = due
            cleaning = CleaningRound(log, situation.config, found, log.producers, situation.now)
            groups = clean(log, cleaning)
            self.cleaned_to = cleaning.end_offset
            yield _compaction(found, cleaning.end_offset, groups, reason)


def _due_cleaning(log: LogView[SegmentT], situation: Situation) -> tuple[LogToClean, str] | None:
    """What is to be cleaned, and why."""
    if not situation.config.compact:
        return None
    end = log.last_stable_offset(situation.end(log))
    found = log_to_clean(log, situation.config, situation.cleaned_to, end, situation.now)
    reason = found.reason(situation.config)
    return None if reason is None else (found, reason)


def _compaction(found: LogToClean, end_offset: int, groups: Sequence[CleanedGroup], reason: str) -> Task:
    sources = sum(group.source_count for group in groups)
    name = f"offsets {found.first_dirty_offset} to {end_offset - 1}, {sources} segments into {len(groups)}"
    size, size_after = sum(group.source_size for group in groups), sum(group.size for group in groups)
    return Task(COMPACT, name, size, size_after, reason)


def _deletions(log: LogView[SegmentT], segments: Sequence[Sized], situation: Situation) -> list[Deletion]:
    bounds = Bounds(log.log_start_offset, log.log_end_offset, situation.end(log))
    return retention.deletions(segments, situation.config, bounds, situation.now)


def _deletion(deletion: Deletion) -> Task:
    return Task(DELETE_SEGMENT, str(deletion.base_offset), deletion.size, 0, deletion.reason)
