"""Rows and columns of Python values as Arrow batches, in the schema that a scan asked for.

Times are given in milliseconds, as Kafka has them, and become microseconds in UTC; what is negative (Kafka's word for
"none") or past what 64 bits of microseconds hold becomes null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

BATCH_ROWS = 8192
TIMESTAMP = pa.timestamp("us", tz="UTC")
LATEST_MS = (2**63 - 1) // 1000

Row = Mapping[str, Any]


def row_batches(schema: pa.Schema, rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """The rows, a column that one lacks as null."""
    left = iter(rows)
    while some := list(islice(left, BATCH_ROWS)):
        columns = {name: [row.get(name) for row in some] for name in schema.names}
        yield column_batch(schema, columns, len(some))


def column_batch(schema: pa.Schema, columns: Mapping[str, Sequence[Any] | pa.Array], count: int) -> pa.RecordBatch:
    """Equally long columns, of which those that the schema does not have are left out."""
    if not len(schema):  # a batch of no columns has rows all the same: they are what is counted
        return pa.record_batch([pa.nulls(count)], names=["row"]).select([])
    arrays = [_array(columns.get(field.name), field.type, count) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def timestamps(milliseconds: Sequence[int | None] | pa.Array) -> pa.Array:
    """A column of times."""
    found = milliseconds if isinstance(milliseconds, pa.Array) else pa.array(milliseconds, pa.int64())
    is_time = pc.and_(pc.greater_equal(found, 0), pc.less_equal(found, LATEST_MS))
    return pc.multiply(pc.if_else(is_time, found, None), 1000).cast(TIMESTAMP)


def _array(values: Sequence[Any] | pa.Array | None, kind: pa.DataType, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, kind)
    if isinstance(values, pa.Array):
        return values
    return timestamps(values) if kind == TIMESTAMP else pa.array(values, kind)
