"""What the tables over internal topics share: the records of the topic, from which each makes its own columns.

A split is made of splits of the table ``records``, which also finds batches that are damaged. A record that is there
but cannot be understood is damage too, at the byte where its batch begins. A row for damage has the internal topic and
its partition, where the table has such columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.errors import DamagedFileError, FormatError
from kafkapy.tables.arrow_rows import column_batch
from kafkapy.tables.damage_rows import DamageRows
from kafkapy.tables.records_table import TABLE as RECORDS
from kafkapy.tables.scan import Mode, Scan
from kafkapy.tables.segment_parts import log_splits
from kafkapy.tables.shared_splits import shared_splits
from kafkapy.tables.table import DAMAGE, Split, Tell, read_schema, unheard

LOG_COLUMNS = ("timestamp", "offset", "key", "value", "producer_id", "leader_epoch", "control", "batch_position")


class LogRecords(NamedTuple):
    """Some records of a part, by ``LOG_COLUMNS``."""

    partition: int
    batch: pa.RecordBatch
    tell: Callable[[int, int, str], None]

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.batch.num_rows)

    def only(self, mask: pa.Array) -> LogRecords:
        """Those for which the mask is true."""
        return self._replace(batch=self.batch.filter(mask))

    def damaged(self, row: int, reason: str) -> None:
        """That a record cannot be understood: an error with failfast."""
        self.tell(self.batch["batch_position"][row].as_py(), self.batch["offset"][row].as_py(), reason)

    def decoded(self, decode: Callable[[bytes | None, bytes | None], Any]) -> tuple[LogRecords, list[Any]]:
        """What ``decode`` makes of keys and values, with the records of which it makes something; None is left out."""
        found: list[Any] = []
        for row, (key, value) in enumerate(zip(self._list("key"), self._list("value"), strict=True)):
            try:
                found.append(decode(key, value))
            except FormatError as error:
                self.damaged(row, str(error))
                found.append(None)
        kept = self.only(pa.array([each is not None for each in found], pa.bool_()))
        return kept, [each for each in found if each is not None]

    def places(self) -> dict[str, pa.Array]:
        """Where the records lie, and when they were written."""
        return {
            "timestamp": self.batch["timestamp"],
            "log_partition": pa.repeat(pa.scalar(self.partition, pa.int32()), self.size),
            "log_offset": self.batch["offset"],
            "tombstone": pc.is_null(self.batch["value"]),
        }

    def _list(self, name: str) -> list[bytes | None]:
        values: list[bytes | None] = self.batch[name].to_pylist()
        return values


class InternalTopicTable:
    """A table whose rows are records of one topic."""

    name: str
    schema: pa.Schema
    topic: str

    def columns(self, records: LogRecords, scan: Scan, wanted: Sequence[str]) -> tuple[int, Mapping[str, Any]]:
        """How many rows records make, and at least the wanted columns of these."""
        raise NotImplementedError

    def splits(self, scan: Scan) -> list[Split]:
        """Parts of the topic's logs, small ones together."""
        return shared_splits(log_splits(scan._replace(topics=frozenset((self.topic,))), is_named=False), scan)

    def read(self, scan: Scan, split: Split, tell: Tell = unheard) -> Iterator[pa.RecordBatch]:
        """The rows of these parts."""
        schema = read_schema(self, scan)
        for own in split.part:
            damages = DamageRows(self, scan, own, tell)
            for batch in RECORDS.read(_of_records(scan), own, tell):
                if scan.mode is Mode.PERMISSIVE and batch["damage"].null_count < len(batch):
                    yield column_batch(schema, {name: batch[name] for name in batch.schema.names}, len(batch))
                    continue
                records = LogRecords(own.partition, batch, _tell(own.part.path, damages))
                count, columns = self.columns(records, scan, schema.names)
                if count:
                    yield column_batch(schema, columns, count)
            yield from damages.batches()


def _of_records(scan: Scan) -> Scan:
    damage = ("topic", "partition", *DAMAGE.names) if scan.mode is Mode.PERMISSIVE else ()
    return scan._replace(columns=(*LOG_COLUMNS, *damage))


def _tell(path: str, damages: DamageRows) -> Callable[[int, int, str], None]:
    def tell(position: int, offset: int, reason: str) -> None:
        damages.found(DamagedFileError(path, position, f"the record at offset {offset}: {reason}"))

    return tell
