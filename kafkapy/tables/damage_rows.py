"""What becomes of damage that a scan comes upon, by its mode: an error, nothing, or a row."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from kafkapy.errors import DamagedFileError
from kafkapy.tables.scan import Mode, Scan
from kafkapy.tables.segment_parts import LogPart
from kafkapy.tables.table import Split, Table, read_schema


class DamageRows:
    """The damage of one split."""

    def __init__(self, table: Table, scan: Scan, split: Split) -> None:
        self._schema = read_schema(table, scan)
        self._mode = scan.mode
        self._place = {"topic": split.topic, "partition": split.partition}
        self._rows: list[dict[str, object]] = []

    def found(self, error: DamagedFileError) -> None:
        """Here is some: that ends a scan with failfast."""
        if self._mode is Mode.FAILFAST:
            raise error
        self.note(error.reason, error.path, error.position)

    def end(self, part: LogPart) -> None:
        """What is wrong with the end of a part: a torn write, or that there is no log at all."""
        if part.tail is not None:
            self.note(part.tail, *((part.path, part.end) if part.path else (None, None)))

    def note(self, reason: str, path: str | None, position: int | None = None) -> None:
        """Something that is told only by a row."""
        if self._mode is Mode.PERMISSIVE:
            row = {**self._place, "damage": reason, "damage_file": path, "damage_position": position}
            self._rows.append(row)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """A batch with a row for each, where there is any."""
        if self._rows:
            known = set(self._schema.names)
            rows = [{name: value for name, value in row.items() if name in known} for row in self._rows]
            yield pa.RecordBatch.from_pylist(rows, schema=self._schema)
