"""What becomes of damage that a scan comes upon, by its mode: an error, a line, or a row."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from kafkapy.errors import DamagedFileError
from kafkapy.tables.scan import Mode, Scan
from kafkapy.tables.segment_parts import LogPart
from kafkapy.tables.table import Split, Table, Tell, read_schema, unheard


class DamageRows:
    """The damage of one split."""

    def __init__(self, table: Table, scan: Scan, split: Split, tell: Tell = unheard) -> None:
        self._schema = read_schema(table, scan)
        self._mode = scan.mode
        self._place = {"topic": split.topic, "partition": split.partition}
        self._tell = tell
        self._rows: list[dict[str, object]] = []

    def found(self, error: DamagedFileError, end: int | None = None, offsets: range = range(0)) -> None:
        """Here is some: that ends a scan with failfast. ``end`` is the byte up to which nothing is read, where that is
        known, and ``offsets`` those that the bytes are said to hold."""
        if self._mode is Mode.FAILFAST:
            raise error
        if self._mode is Mode.DROPMALFORMED:
            self._tell(str(error) if end is None else _lost(error, end, offsets))
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


def _lost(error: DamagedFileError, end: int, offsets: range) -> str:
    start = error.position
    told = f", offsets {offsets[0]} to {offsets[-1]}" if offsets else ""
    return f"{error.path}: lost bytes {start} to {end - 1} ({end - start} bytes){told}: {error.reason}"
