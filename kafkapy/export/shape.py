"""From the rows of a table to those of a file: columns decoded, rows sorted into directories, columns left out.

A directory is named as Hive names it, ``topic=orders/date=2026-11-16``, and its files do not have the columns that its
name tells. A row without a timestamp is in ``date=__HIVE_DEFAULT_PARTITION__``, which readers take for null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.export.decoding import Decoding, decode, decoded_field
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Mode, Scan
from kafkapy.tables.table import check_columns, read_schema

if TYPE_CHECKING:
    import pyarrow as pa

DATE, CONTROL, DAMAGE, OFFSET = "date", "control", "damage", "offset"
TIMES = {"records": "timestamp", "batches": "max_timestamp", "offset_commits": "timestamp"}
"""The column that a row's date comes from."""
LeaveOut = Callable[[str, int, str], object]
"""Hears why rows are left out, how many, and which the first is."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class Shape(NamedTuple):
    """What becomes of each batch of rows. ``columns`` are those that were asked for, None for all."""

    table: str
    columns: tuple[str, ...] | None
    mode: Mode
    partition_by: tuple[str, ...]
    decodings: tuple[tuple[str, Decoding], ...]
    """Columns of bytes, and how they are decoded."""

    def scan(self, scan: Scan) -> Scan:
        """The scan that gives all the columns that are looked at."""
        table = find_table(self.table)
        if self.columns is None and not self.partition_by:
            return scan._replace(columns=None)
        wanted = self._wanted(scan)
        needed = [self.source_column(name) for name in self.partition_by]
        check_columns(self.table, needed, read_schema(table, scan._replace(columns=None)).names)
        if self._decoded_of(wanted):
            needed += [CONTROL, DAMAGE] if self.mode is Mode.PERMISSIVE else [CONTROL, OFFSET]
        return scan._replace(columns=tuple(dict.fromkeys((*wanted, *needed))))

    def file_schema(self, scan: Scan) -> pa.Schema:
        """The columns of a file."""
        import pyarrow as pa

        whole = read_schema(find_table(self.table), scan._replace(columns=None))
        names = [name for name in self._wanted(scan) if name not in self.partition_by]
        if not names:
            raise UsageError("no column is left for the files: --columns has only those of --partition-by")
        decoded = dict(self.decodings)
        fields = [decoded_field(name, decoded[name]) if name in decoded else whole.field(name) for name in names]
        return pa.schema(fields)

    def source_column(self, name: str) -> str:
        """The column that a directory's value comes from."""
        return TIMES.get(self.table, DATE) if name == DATE else name

    def _wanted(self, scan: Scan) -> tuple[str, ...]:
        return tuple(read_schema(find_table(self.table), scan._replace(columns=self.columns)).names)

    def _decoded_of(self, names: tuple[str, ...]) -> list[tuple[str, Decoding]]:
        return [(name, how) for name, how in self.decodings if name in names]

    def files(
        self, batch: pa.RecordBatch, schema: pa.Schema, leave_out: LeaveOut
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of a batch by the directories that they belong to, in the columns of a file."""
        for name, how in self._decoded_of(tuple(schema.names)):
            batch = self._decode(batch, name, how, leave_out)
        if not self.partition_by:
            yield "", _columns(batch, schema)
            return
        for values, rows in _by_values(batch, [self._key(batch, name) for name in self.partition_by]):
            pairs = zip(self.partition_by, values, strict=True)
            yield "/".join(f"{name}={_text(name, value)}" for name, value in pairs), _columns(rows, schema)

    def _key(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        from kafkapy.export.iso_time import days

        column = batch.column(self.source_column(name))
        return days(column) if name == DATE else column

    def _decode(self, batch: pa.RecordBatch, name: str, how: Decoding, leave_out: LeaveOut) -> pa.RecordBatch:
        import pyarrow as pa
        import pyarrow.compute as pc

        place = batch.schema.names.index(name)
        of_producers = pc.if_else(batch.column(CONTROL), pa.scalar(None, pa.binary()), batch.column(name))
        column, failures = decode(how, of_producers)
        batch = batch.set_column(place, decoded_field(name, how), column)
        if not failures:
            return batch
        why = f"the {name} is not {how.kind}"
        row, reason = next(iter(failures.items()))
        if self.mode is Mode.FAILFAST:
            told = f"{_place(batch, row)}: {why}: {reason}"
            raise KafkapyError(f"{told}; --mode permissive keeps such rows, dropmalformed not")
        reasons = {row: f"{why}: {reason}" for row, reason in failures.items()}
        if self.mode is Mode.DROPMALFORMED:
            leave_out(why, len(reasons), f"offset {batch.column(OFFSET)[row].as_py()}: {reason}")
            return batch.filter(pa.array([row not in reasons for row in range(batch.num_rows)]))
        damage = [reasons.get(row, known) for row, known in enumerate(batch.column(DAMAGE).to_pylist())]
        return batch.set_column(batch.schema.names.index(DAMAGE), DAMAGE, pa.array(damage, pa.string()))


def _place(batch: pa.RecordBatch, row: int) -> str:
    known = [name for name in ("topic", "partition", "offset") if name in batch.schema.names]
    return ", ".join(f"{name} {batch.column(name)[row].as_py()}" for name in known) or "a record"


def _columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return batch if batch.schema is schema else batch.select(schema.names)


def _by_values(batch: pa.RecordBatch, keys: list[pa.Array]) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """The rows for each combination of values, in their order."""
    import pyarrow.compute as pc

    if not keys:
        yield (), batch
        return
    first, *rest = keys
    for value in pc.unique(first):
        own = pc.is_null(first) if value.as_py() is None else pc.equal(first, value)
        is_all = pc.all(own, skip_nulls=False).as_py()
        rows = batch if is_all else batch.filter(own)
        others = rest if is_all else [each.filter(own) for each in rest]
        for values, found in _by_values(rows, others):
            yield (value.as_py(), *values), found


def _text(name: str, value: Any) -> str:
    from kafkapy.export.iso_time import day_text

    if value is None:
        return NO_VALUE
    return day_text(value) if name == DATE else str(value)
