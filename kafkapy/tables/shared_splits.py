"""Splits of splits: a Spark task costs 100 ms before it has read a byte, so what is small is read by one task.

The ``part`` of such a split is a tuple of splits, in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkapy.tables.scan import Scan
from kafkapy.tables.table import Split

SHARED_BYTES = 16 << 20


def shared_splits(parts: Iterable[Split], scan: Scan) -> list[Split]:
    """The parts, as many of them in a split as come to ``SHARED_BYTES``, and one at least."""
    return [
        Split(some[0].topic, some[0].partition, sum(each.size for each in some), tuple(some))
        for some in _groups(parts, min(SHARED_BYTES, scan.split_bytes))
    ]


def _groups(parts: Iterable[Split], limit: int) -> Iterator[list[Split]]:
    some: list[Split] = []
    size = 0
    for part in parts:
        if some and size + part.size > limit:
            yield some
            some, size = [], 0
        some.append(part)
        size += part.size
    if some:
        yield some
