"""When retention will take the oldest segment of a partition, and how large the partition will be then.

The reasons are those of ``log/retention``; the earliest one counts:

    log start       it is past the segment: at the next look
    retention.ms    more than that has passed since the segment's latest record
    retention.bytes the log without the segment is still that large, at the rate it grows with

The segment that is written to goes on getting records, so its latest one is not written yet: that comes when the
segment is full (segment.bytes) or old (segment.ms). What grows, grows as it did in the time that was looked at. Brokers
look every log.retention.check.interval.ms, 5 minutes by default, so it may be that much later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.log.config import LogConfig
from kafkapy.log.topic_partition import TopicPartition


class SegmentRow(NamedTuple):
    """A segment: where it begins, how large it is, its latest timestamp and, of the one that is written to, that of its
    first batch."""

    base_offset: int
    size: int
    largest_timestamp: int
    first_timestamp: int | None = None


class Forecast(NamedTuple):
    """``goes_at`` is None where it stays for ever as things are; ``size_then`` is the partition's just before that.
    ``bytes_per_second`` is how fast it grows, None where that is not known."""

    partition: TopicPartition
    segments: int
    size: int
    bytes_per_second: float | None
    oldest: SegmentRow | None
    goes_at: int | None
    reason: str
    size_then: int | None


class _Departure(NamedTuple):
    at: int
    reason: str


def forecast(
    partition: TopicPartition,
    segments: Sequence[SegmentRow],
    config: LogConfig,
    log_start_offset: int,
    bytes_per_second: float | None,
    now: int,
) -> Forecast:
    """Of one partition."""
    size = sum(segment.size for segment in segments)
    oldest = segments[0] if segments and (len(segments) > 1 or segments[0].size) else None
    if oldest is None:
        return Forecast(partition, len(segments), size, bytes_per_second, None, None, "it is empty", None)
    found = [
        *_by_log_start(segments, log_start_offset, now),
        *(_by_size(oldest, size, config, bytes_per_second, now) if config.delete else ()),
        *(_by_time(oldest, len(segments) == 1, config, bytes_per_second, now) if config.delete else ()),
    ]
    if not found:
        return Forecast(
            partition, len(segments), size, bytes_per_second, oldest, None, _why_never(config, bytes_per_second), None
        )
    first = min(found)
    then = size + round((bytes_per_second or 0) * (first.at - now) / 1000)
    return Forecast(partition, len(segments), size, bytes_per_second, oldest, first.at, first.reason, then)


def _by_log_start(segments: Sequence[SegmentRow], log_start_offset: int, now: int) -> list[_Departure]:
    is_past = len(segments) > 1 and segments[1].base_offset <= log_start_offset
    return [_Departure(now, f"log start offset {log_start_offset} is past it")] if is_past else []


def _by_size(
    oldest: SegmentRow, size: int, config: LogConfig, bytes_per_second: float | None, now: int
) -> list[_Departure]:
    if config.retention_bytes < 0:
        return []
    missing = config.retention_bytes + oldest.size - size
    reason = f"retention.bytes={config.retention_bytes}"
    if missing <= 0:
        return [_Departure(now, reason)]
    if not bytes_per_second:
        return []
    return [_Departure(now + _milliseconds(missing, bytes_per_second), reason)]


def _by_time(
    oldest: SegmentRow, is_active: bool, config: LogConfig, bytes_per_second: float | None, now: int
) -> list[_Departure]:
    if config.retention_ms < 0:
        return []
    latest = oldest.largest_timestamp
    if is_active and bytes_per_second:
        latest = max(latest, _rolled_at(oldest, config, bytes_per_second, now))
    at = max(now, latest + config.retention_ms + 1)
    return [_Departure(at, f"retention.ms={config.retention_ms}")]


def _rolled_at(segment: SegmentRow, config: LogConfig, bytes_per_second: float, now: int) -> int:
    full = now + _milliseconds(max(0, config.segment_bytes - segment.size), bytes_per_second)
    if segment.first_timestamp is None or segment.first_timestamp < 0:
        return full
    return min(full, max(now, segment.first_timestamp + config.max_segment_ms))


def _milliseconds(size: int, bytes_per_second: float) -> int:
    return -int(-size * 1000 // bytes_per_second)


def _why_never(config: LogConfig, bytes_per_second: float | None) -> str:
    if not config.delete:
        return f"cleanup.policy={','.join(config.cleanup_policy)}"
    if config.retention_bytes >= 0 and not bytes_per_second:
        return f"it does not grow to retention.bytes={config.retention_bytes}"
    return "retention.ms and retention.bytes have no limit"
