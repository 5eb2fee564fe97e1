"""Times and durations as people read them, beside the milliseconds that Kafka keeps.

    2026-11-16T10:22:57Z   a time, always in UTC
    6 d 3 h                a duration: its two largest units, and nothing of what is smaller

What neither can say stays a number of milliseconds.
"""

from __future__ import annotations

import time

_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))


def utc_text(time_ms: int) -> str:
    """A time; that of a calendar's end may not be one."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_ms // 1000))
    except (OverflowError, OSError, ValueError):
        return f"{time_ms} ms"


def duration_text(duration_ms: int) -> str:
    """A duration; it may be negative where a clock was wrong."""
    largest = next((at for at, (_, size) in enumerate(_UNITS) if duration_ms >= size), None)
    if largest is None:
        return f"{duration_ms} ms"
    parts, left = [], duration_ms
    for unit, size in _UNITS[largest : largest + 2]:
        count, left = divmod(left, size)
        parts += [f"{count} {unit}"] if count else []
    return " ".join(parts)
