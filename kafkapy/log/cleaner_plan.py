"""Whether a log is due for compaction, why, and from where to where.

The log is clean up to the cleaner checkpoint (which counts for nothing if it lies outside the log), dirty from there,
and not to be touched from the first of these on: an open transaction, the active segment, a segment with a record
younger than ``min.compaction.lag.ms``. The dirty segments before that are cleanable. It is due when they are more
than ``min.cleanable.dirty.ratio`` of what would be read, or hold something older than ``max.compaction.lag.ms``.

Invariant: only whole segments are cleaned, never the active one.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kafkapy.formats.offset_index import ENTRY as OFFSET_ENTRY
from kafkapy.formats.time_index import ENTRY as TIME_ENTRY
from kafkapy.log.segment_reader import SegmentReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkapy.log.config import LogConfig
    from kafkapy.log.log_view import LogView

SegmentT = TypeVar("SegmentT", bound=SegmentReader)

MAX_OFFSET_SPAN = 2**31 - 1


class LogToClean(NamedTuple):
    """``overdue_ms`` is by how much max.compaction.lag.ms is exceeded; offsets are exclusive at their ends."""

    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    overdue_ms: int

    @property
    def cleanable_ratio(self) -> float:
        """How much of what would be read is dirty."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    def reason(self, config: LogConfig) -> str | None:
        """Why the log is due, None where it is not."""
        if self.cleanable_ratio > config.min_cleanable_dirty_ratio:
            share = f"{self.cleanable_ratio:.1%} of it is dirty"
            return f"{share}, min.cleanable.dirty.ratio={config.min_cleanable_dirty_ratio:g}"
        if self.overdue_ms > 0 and self.cleanable_bytes > 0:
            return f"{self.overdue_ms} ms past max.compaction.lag.ms={config.max_compaction_lag_ms}"
        return None


def log_to_clean(
    log: LogView[SegmentT], config: LogConfig, checkpoint: int | None, last_stable_offset: int, now: int
) -> LogToClean:
    """Where the dirty part of a log is."""
    first_dirty = first_dirty_offset(log, checkpoint)
    active = log.segments[-1].base_offset
    dirty = _inactive_from(log.segments, first_dirty)
    uncleanable = min(last_stable_offset, active, *_too_young(dirty, config, now))
    following = _inactive_from(log.segments, max(first_dirty, uncleanable))
    first_uncleanable = following[0].base_offset if following else active
    cleanable = segments_between(log.segments, min(first_dirty, first_uncleanable), first_uncleanable)
    clean = segments_between(log.segments, -1, first_dirty)
    return LogToClean(
        first_dirty,
        first_uncleanable,
        sum(segment.size for segment in clean),
        sum(segment.size for segment in cleanable),
        _overdue_ms(dirty, config, now),
    )


def first_dirty_offset(log: LogView[SegmentT], checkpoint: int | None) -> int:
    """The checkpoint where it lies in the log, else the start."""
    if checkpoint is None or not log.log_start_offset <= checkpoint <= log.log_end_offset:
        return log.log_start_offset
    return checkpoint


def segments_between(segments: Sequence[SegmentT], start: int, end: int) -> list[SegmentT]:
    """The segments with offsets in [start, end)."""
    if start == end:
        return []
    first = max(0, bisect_right(segments, start, key=lambda segment: segment.base_offset) - 1)
    return [segment for segment in segments[first:] if segment.base_offset < end]


def group_segments(segments: Sequence[SegmentT], config: LogConfig, end: int) -> list[list[SegmentT]]:
    """Neighbours that together fit into one segment: its size, its indexes, and the span of its offsets."""
    groups: list[list[SegmentT]] = []
    room = _Room(0, 0, 0)
    for number, segment in enumerate(segments):
        last_offset = (segments[number + 1].base_offset if number + 1 < len(segments) else end) - 1
        taken = room.plus(segment)
        first = groups[-1][0].base_offset if groups else segment.base_offset
        spans = segment.size == 0 or last_offset - first <= MAX_OFFSET_SPAN
        if groups and taken.fits(config) and spans:
            groups[-1].append(segment)
            room = taken
        else:
            groups.append([segment])
            room = _Room(0, 0, 0).plus(segment)
    return groups


class _Room(NamedTuple):
    log: int
    offset_index: int
    time_index: int

    def plus(self, segment: SegmentReader) -> _Room:
        return _Room(
            self.log + segment.size,
            self.offset_index + segment.offset_index.written_count * OFFSET_ENTRY.size,
            self.time_index + segment.time_index.written_count * TIME_ENTRY.size,
        )

    def fits(self, config: LogConfig) -> bool:
        indexes = max(self.offset_index, self.time_index)
        return self.log <= config.segment_bytes and indexes <= config.segment_index_bytes


def _inactive_from(segments: Sequence[SegmentT], offset: int) -> list[SegmentT]:
    active = segments[-1].base_offset
    return [] if offset > active else segments_between(segments, offset, active)


def _too_young(dirty: Sequence[SegmentReader], config: LogConfig, now: int) -> list[int]:
    """The base offset of the first segment that min.compaction.lag.ms protects."""
    if config.min_compaction_lag_ms <= 0:
        return []
    young = (each.base_offset for each in dirty if each.largest_timestamp > now - config.min_compaction_lag_ms)
    return [offset for offset in (next(young, None),) if offset is not None]


def _overdue_ms(dirty: Sequence[SegmentReader], config: LogConfig, now: int) -> int:
    clean_until = now - max(config.max_compaction_lag_ms, 0)
    if clean_until <= 0:
        return 0
    first = [timestamp for timestamp in map(_first_timestamp, dirty) if timestamp > 0]
    return max(0, clean_until - min(first)) if first else 0


def _first_timestamp(segment: SegmentReader) -> int:
    return next((header.max_timestamp for _, header in segment.headers(segment.base_offset)), 0)
