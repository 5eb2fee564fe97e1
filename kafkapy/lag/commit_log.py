"""The batches of a partition of ``__consumer_offsets`` as rows, and how far back they are evidence.

Invariant: rows come in the order of the log. A log that was never cleaned has a record at every offset from 0 on. A
hole, between batches or inside one, is what compaction (or damage that was stepped over) left: before it something may
be missing, behind the last one nothing is.

A key or value that does not decode is told with its offset and stepped over, as a coordinator does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kafkapy.coordinator.group_table import GroupTable
from kafkapy.coordinator.offset_records import TYPES, OffsetKey, canonical, decode_key, decode_value
from kafkapy.errors import FormatError, SchemaError
from kafkapy.formats.control_record import ControlRecordType, decode_type_id
from kafkapy.formats.coordinator_record import GROUP, decode
from kafkapy.formats.record_batch import Record
from kafkapy.lag.commits import CommitRecord, Evidence, Marker, Members
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records

Row = CommitRecord | Marker | Members
Wants = Callable[[OffsetKey], bool]


class CommitLog:
    """Reads a partition once; ``evidence`` is whole when all batches were read."""

    def __init__(self, name: str, wants: Wants, tell: Callable[[str], object]) -> None:
        self.evidence = Evidence()
        self._name = name
        self._wants = wants
        self._tell = tell
        self._keys: dict[bytes, OffsetKey | None] = {}
        self._groups = GroupTable()
        self._next_offset = 0
        self._is_new_since = True

    def rows(self, batches: Iterable[Batch]) -> Iterator[Row]:
        """The wanted commits, every marker, and how many members groups had."""
        for batch in batches:
            self._look_for_holes(batch)
            try:
                yield from self._rows_of(batch)
            except FormatError as error:
                self._tell(f"{self._name} at offset {batch.header.base_offset}: {error}")

    def _look_for_holes(self, batch: Batch) -> None:
        header = batch.header
        has_hole_before = header.base_offset != self._next_offset
        has_hole_inside = header.magic >= 2 and header.record_count <= header.last_offset_delta
        if has_hole_before or has_hole_inside:
            self.evidence = self.evidence._replace(is_whole=False)
            self._is_new_since = True
        if self._is_new_since:
            since = header.max_timestamp if has_hole_inside else header.base_timestamp
            self.evidence = self.evidence._replace(since=since)
            self._is_new_since = has_hole_inside
        self._next_offset = header.last_offset + 1

    def _rows_of(self, batch: Batch) -> Iterator[Row]:
        header = batch.header
        if header.is_control:
            for record in batch_records(batch):
                kind = decode_type_id(record.key)
                if kind in (ControlRecordType.COMMIT, ControlRecordType.ABORT):
                    is_commit = kind == ControlRecordType.COMMIT
                    yield Marker(record.offset, record.timestamp, header.producer_id, is_commit)
            return
        for record in batch_records(batch):
            yield from self._row_of(record, header.producer_id)

    def _row_of(self, record: Record, producer_id: int) -> Iterator[CommitRecord | Members]:
        """The row of one record, if it is one that counts."""
        try:
            if record.key is None:
                raise SchemaError("a record without a key")
            row: CommitRecord | Members | None
            if record.key[:2] in TYPES:
                row = self._commit(record, record.key, producer_id)
            else:
                row = self._members(record, record.key)
        except SchemaError as error:
            self._tell(f"{self._name} at offset {record.offset}: {error}")
            return
        if row is not None:
            yield row

    def _commit(self, record: Record, key: bytes, producer_id: int) -> CommitRecord | None:
        if key not in self._keys:
            names = decode_key(key) or canonical(key, record.value)[1]
            self._keys[key] = names if self._wants(names) else None
        wanted = self._keys[key]
        if wanted is None:
            return None
        offset = None if record.value is None else decode_value(record.value).offset
        return CommitRecord(record.offset, record.timestamp, producer_id, *wanted, offset)

    def _members(self, record: Record, key: bytes) -> Members | None:
        group_id = self._groups.replay(decode(GROUP, key, record.value))
        group = self._groups.get(group_id)
        return Members(record.timestamp, group_id, 0 if group is None else len(group.members))
