"""What every table is: a schema, splits, and Arrow batches out of a split.

Invariant: the rows of all splits together are the table, each once, whatever process reads which. Splits of a partition
come in the order of its log, and so do the rows of a split. Splits and scans are pickled; a table is known by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from kafkapy.errors import UsageError
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean
from kafkapy.tables.scan import Mode, Scan

Tell = Callable[[str], object]

DAMAGE = pa.schema([("damage", pa.string()), ("damage_file", pa.string()), ("damage_position", pa.int64())])
"""The columns that permissive adds: of a row for damage these alone are not null, but for topic and partition."""


def unheard(line: str) -> None:
    """For who does not want to be told."""


class Split(NamedTuple):
    """A part of a table. ``size`` is about how many bytes it takes to read."""

    topic: str
    partition: int
    size: int
    part: Any
    """What only its table understands."""


class Table(Protocol):
    """One kind of rows."""

    name: str
    schema: pa.Schema
    """Every column that there is, without those of ``DAMAGE``."""

    def splits(self, scan: Scan) -> list[Split]:
        """The parts to be read, planned by file names, sizes and indexes."""
        ...

    def read(self, scan: Scan, split: Split, tell: Tell = unheard) -> Iterator[pa.RecordBatch]:
        """The rows of a part, in ``read_schema(table, scan)``; with dropmalformed ``tell`` hears of each place at which
        something is left out."""
        ...


def read_schema(table: Table, scan: Scan) -> pa.Schema:
    """The columns that a scan gives, in the order that it names them."""
    whole = pa.schema([*table.schema, *DAMAGE]) if scan.mode is Mode.PERMISSIVE else table.schema
    if scan.columns is None:
        return whole
    check_columns(table.name, scan.columns, whole.names)
    return pa.schema([whole.field(name) for name in scan.columns])


def check_columns(table: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a column that a table does not have."""
    for name in wanted:
        if name not in known:
            hint, there = did_you_mean(name, known, VERY_SIMILAR), ", ".join(known)
            raise UsageError(f"the table {table} has no column {name}{f'{hint} It' if hint else ': it'} has {there}")
