"""Filters of a query as bounds of a scan, so that a narrow question reads few bytes.

Spark passes the terms of a conjunction, each a comparison of a column with a literal. A bound made of one leaves out
rows only that the filter would leave out; all filters stay Spark's to apply, so those that bound nothing count too.
Columns are pushed by table, since they mean the log's own topic and offset in some of them only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from kafkapy.backends.log_dirs import METADATA_TOPIC
from kafkapy.tables.scan import Range, Scan

PUSHED = {
    "records": ("topic", "partition", "offset", "timestamp"),
    "batches": ("topic", "partition"),
    "index_entries": ("topic", "partition"),
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def narrow(table: str, scan: Scan, filters: Iterable[Filter]) -> Scan:
    """The scan, without what the filters leave out at any rate."""
    for each in filters:
        column: tuple[str, ...] = getattr(each, "attribute", ())
        if len(column) == 1 and column[0] in PUSHED.get(table, ()):
            scan = _NARROWERS[column[0]](scan, each)
    return scan


def _by_topic(scan: Scan, term: Filter) -> Scan:
    """The metadata log is read only where an option names it, filter or not."""
    wanted = _values(term, str)
    if wanted is None:
        return scan
    return scan._replace(topics=wanted - {METADATA_TOPIC} if scan.topics is None else wanted & scan.topics)


def _by_partition(scan: Scan, term: Filter) -> Scan:
    wanted = _values(term, int)
    if wanted is None:
        return scan
    return scan._replace(partitions=wanted if scan.partitions is None else wanted & scan.partitions)


def _by_offset(scan: Scan, term: Filter) -> Scan:
    return scan._replace(offsets=_meet(scan.offsets, _range(term, int, int)))


def _by_timestamp(scan: Scan, term: Filter) -> Scan:
    """Spark's timestamps have microseconds, a log's have milliseconds."""
    found = _range(term, datetime, _microseconds)
    start = None if found.start is None else -(-found.start // 1000)
    end = None if found.end is None else -(-found.end // 1000)
    return scan._replace(timestamps=_meet(scan.timestamps, Range(start, end)))


_NARROWERS: dict[str, Callable[[Scan, Filter], Scan]] = {
    "topic": _by_topic,
    "partition": _by_partition,
    "offset": _by_offset,
    "timestamp": _by_timestamp,
}


def _values(term: Filter, kind: type) -> frozenset[Any] | None:
    """The values that a column may have; None is any."""
    if isinstance(term, In):
        given = frozenset(each for each in term.value if each is not None)
    elif isinstance(term, EqualTo | EqualNullSafe):
        given = frozenset([term.value])
    else:
        return None
    return given if all(isinstance(each, kind) for each in given) else None


def _range(term: Filter, kind: type, number: Callable[[Any], int]) -> Range:
    """The bounds of a column, in whole numbers."""
    values = _values(term, kind)
    if values is not None:
        numbers = [number(each) for each in values]
        return Range(min(numbers), max(numbers) + 1) if numbers else Range(0, 0)
    value = getattr(term, "value", None)
    if not isinstance(value, kind):
        return Range()
    match term:
        case GreaterThan():
            return Range(number(value) + 1, None)
        case GreaterThanOrEqual():
            return Range(number(value), None)
        case LessThan():
            return Range(None, number(value))
        case LessThanOrEqual():
            return Range(None, number(value) + 1)
    return Range()


def _meet(first: Range, second: Range) -> Range:
    starts = [each.start for each in (first, second) if each.start is not None]
    ends = [each.end for each in (first, second) if each.end is not None]
    return Range(max(starts, default=None), min(ends, default=None))


def _microseconds(value: datetime) -> int:
    return (value - _EPOCH) // _MICROSECOND
