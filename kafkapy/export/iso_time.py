"""Times and days as ISO 8601 in UTC.

A timestamp may be anything: a producer that takes microseconds for milliseconds writes years with five digits and more,
for which neither Python nor Arrow has words. Arrow's are used as long as they are right. No time zone is looked up,
since a small system may have no table of them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CYCLE_YEARS, CYCLE = 400, timedelta(days=146_097)
"""The calendar repeats itself after so many years."""
YEAR_10000_S = 253_402_300_800
UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def iso_times(column: pa.Array) -> pa.Array:
    """Timestamps as text, those in UTC with a Z."""
    zone = "Z" if column.type.tz else ""
    per_second = UNITS[column.type.unit]
    latest = pc.max(column.view(pa.int64())).as_py()
    if latest is None or latest < YEAR_10000_S * per_second:
        return pc.strftime(column.view(pa.timestamp(column.type.unit)), format=f"%Y-%m-%dT%H:%M:%S{zone}")
    values = column.view(pa.int64()).to_pylist()
    return pa.array([None if each is None else _text(each, per_second) + zone for each in values], pa.string())


def days(column: pa.Array) -> pa.Array:
    """The days of timestamps, counted from the epoch."""
    return column.view(pa.timestamp(column.type.unit)).cast(pa.date32()).view(pa.int32())


def day_text(day: int) -> str:
    """A day as text."""
    return _text(day * 86_400, 1).partition("T")[0]


def _text(value: int, per_second: int) -> str:
    cycles, rest = divmod(value, CYCLE.days * 86_400 * per_second)
    seconds, fraction = divmod(rest, per_second)
    moment = EPOCH + timedelta(seconds=seconds)
    digits = len(str(per_second)) - 1
    decimals = f".{fraction:0{digits}d}" if digits else ""
    return f"{moment.year + cycles * CYCLE_YEARS:04d}-{moment:%m-%dT%H:%M:%S}{decimals}"
