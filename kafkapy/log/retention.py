"""Which segments are old enough to go, and why; and letting them go.

Invariant: only a prefix of the log goes, and only what lies wholly below the high watermark. Three reasons, in
Kafka's order: the log start offset is past the segment (on every topic), the log without it is still
``retention.bytes`` large, its largest timestamp is more than ``retention.ms`` ago (both only where cleanup.policy has
``delete``). The active segment may go too, a new one is rolled first; an empty one never goes.

A segment's files are renamed to ``.deleted`` and removed after ``file.delete.delay.ms``. After a crash in between,
opening the log removes what is so named, and an index whose log is gone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkapy.formats.time_text import duration_text
from kafkapy.log.names import DELETED_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkapy.log.config import LogConfig
    from kafkapy.log.partition_log import PartitionLog


class Sized(Protocol):
    """What retention asks of a segment; also of one that compaction has yet to write."""

    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def largest_timestamp(self) -> int: ...


class Bounds(NamedTuple):
    """Where the log is."""

    log_start_offset: int
    log_end_offset: int
    high_watermark: int


class Deletion(NamedTuple):
    """A segment that goes, and a sentence that says why."""

    base_offset: int
    size: int
    reason: str


def deletions(segments: Sequence[Sized], config: LogConfig, bounds: Bounds, now: int) -> list[Deletion]:
    """The segments that retention would take now, first to last."""
    found = _taken(segments, bounds, _LogStart(bounds))
    if config.delete:
        found += _taken(segments[len(found) :], bounds, _Size(config, segments[len(found) :]))
        found += _taken(segments[len(found) :], bounds, _Time(config, now))
    return found


def apply(log: PartitionLog, deleted: Sequence[Deletion], now: int) -> None:
    """Take the segments out of the log, which moves its start."""
    bases = {deletion.base_offset for deletion in deleted}
    gone = [segment for segment in log.segments if segment.base_offset in bases]
    if not gone:
        return
    if len(gone) == len(log.segments):
        log.roll(now)
    log.increment_log_start_offset(log.segments[len(gone)].base_offset)
    for segment in gone:
        log.delete_segment(segment)


def due_files(directory: str, config: LogConfig, now: int) -> list[str]:
    """The .deleted files of a partition directory whose time has come."""
    with os.scandir(directory) as entries:
        marked = [entry for entry in entries if entry.name.endswith(DELETED_SUFFIX)]
        due = [entry.path for entry in marked if now - entry.stat().st_ctime * 1000 >= config.file_delete_delay_ms]
    return sorted(due)


class _Rule:
    def takes(self, segment: Sized, following: int | None) -> bool:
        """Whether the segment goes; ``following`` is the base offset of the next one."""
        raise NotImplementedError

    def reason(self, segment: Sized) -> str:
        raise NotImplementedError


class _LogStart(_Rule):
    def __init__(self, bounds: Bounds) -> None:
        self._log_start_offset = bounds.log_start_offset

    def takes(self, segment: Sized, following: int | None) -> bool:
        return following is not None and following <= self._log_start_offset

    def reason(self, segment: Sized) -> str:
        return f"log start offset {self._log_start_offset} is past it"


class _Size(_Rule):
    def __init__(self, config: LogConfig, segments: Sequence[Sized]) -> None:
        self._retention_bytes = config.retention_bytes
        self._excess = sum(segment.size for segment in segments) - config.retention_bytes

    def takes(self, segment: Sized, following: int | None) -> bool:
        if self._retention_bytes < 0 or self._excess < segment.size:
            return False
        self._excess -= segment.size
        return True

    def reason(self, segment: Sized) -> str:
        return f"retention.bytes={self._retention_bytes} is kept without it"


class _Time(_Rule):
    def __init__(self, config: LogConfig, now: int) -> None:
        self._retention_ms = config.retention_ms
        self._now = now

    def takes(self, segment: Sized, following: int | None) -> bool:
        return self._retention_ms >= 0 and self._now - segment.largest_timestamp > self._retention_ms

    def reason(self, segment: Sized) -> str:
        age = duration_text(self._now - segment.largest_timestamp)
        return f"its latest record is {age} old, retention.ms={self._retention_ms}"


def _taken(segments: Sequence[Sized], bounds: Bounds, rule: _Rule) -> list[Deletion]:
    found: list[Deletion] = []
    for number, segment in enumerate(segments):
        following = segments[number + 1].base_offset if number + 1 < len(segments) else None
        end = bounds.log_end_offset if following is None else following
        is_empty_active = following is None and segment.size == 0
        if bounds.high_watermark < end or is_empty_active or not rule.takes(segment, following):
            break
        found.append(Deletion(segment.base_offset, segment.size, rule.reason(segment)))
    return found
