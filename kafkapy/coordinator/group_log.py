"""A partition of ``__consumer_offsets``, folded: what a coordinator knows when it has loaded it.

Offsets are kept by the bytes of their keys, of which each has only one form here, and the newest record wins. An offset
makes its group, if there is none by that id, and stays when the group goes. The records of a batch with a producer id
are pending until that producer's marker; committed, one takes effect unless a record behind it did so already. A
tombstone takes effect at once, also on what is pending.

Nearly all records are commits, so a batch of nothing else goes into the table at once. Its values are first looked at
when everything is read: should one of those that are left be damaged, the partition is read again record by record
(``careful``), so that the one before it holds. What does not decode is a problem, told with its offset, and skipped;
damage that a later commit covers is not looked for. Whoever reads the batches has checked their checksums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kafkapy.coordinator.commit_batch import cut
from kafkapy.coordinator.group_table import GroupTable
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.offset_records import TYPES, OffsetKey, canonical, decode_key, decode_value
from kafkapy.errors import FormatError, SchemaError
from kafkapy.formats.control_record import ControlRecordType, decode_type_id
from kafkapy.formats.coordinator_record import GROUP, decode
from kafkapy.formats.record_batch import NO_PRODUCER_ID, BatchHeader, Record
from kafkapy.kernel.kernel import Columns
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition

Offsets = dict[TopicPartition, OffsetAndMetadata]
Committed = tuple[bytes, int]  # the value, and the offset of its record


class Problem(NamedTuple):
    """What was skipped, in words that follow the name of the partition."""

    offset: int
    reason: str

    def __str__(self) -> str:
        return f" at offset {self.offset}: {self.reason}"


def load(read: Callable[[], Iterable[Batch]]) -> GroupLog:
    """The state after all batches, which may be asked for twice."""
    log = GroupLog()
    log.replay(read())
    if log.is_whole():
        return log
    log = GroupLog(careful=True)
    log.replay(read())
    return log


class GroupLog:
    """Groups and offsets of a partition."""

    def __init__(self, careful: bool = False) -> None:
        self.groups = GroupTable()
        self.problems: list[Problem] = []
        self.next_offset = 0
        self._careful = careful
        self._columns = Columns()
        self._committed: dict[bytes, Committed] = {}
        self._pending: dict[int, dict[bytes, Committed]] = {}
        self._names: dict[bytes, OffsetKey] = {}
        self._keys: dict[str, list[bytes]] = {}
        self._settled: set[bytes] = set()  # keys whose group exists
        self._decoded: dict[str, Offsets] = {}
        self._is_damaged = False

    def offsets(self, group_id: str) -> Offsets:
        """What a group has committed, sorted."""
        if group_id not in self._decoded:
            self._decoded[group_id] = self._decode(self._committed, self._keys.get(group_id, ()))
        return self._decoded[group_id]

    def pending_offsets(self, group_id: str) -> dict[int, Offsets]:
        """What a group has committed in transactions that are open, by producer id."""
        keys = self._keys.get(group_id, ())
        found = {producer_id: self._decode(self._pending[producer_id], keys) for producer_id in sorted(self._pending)}
        return {producer_id: offsets for producer_id, offsets in found.items() if offsets}

    def is_whole(self) -> bool:
        """Whether nothing that mattered is damaged."""
        try:
            for group_id in self._keys:
                self.offsets(group_id)
        except SchemaError:
            self._is_damaged = True
        for pending in self._pending.values():
            self._check(pending.values())
        return not self._is_damaged

    def replay(self, batches: Iterable[Batch]) -> None:
        """Take in batches."""
        for batch in batches:
            self._replay_batch(batch)
            self.next_offset = batch.header.last_offset + 1

    def replay_record(self, key: bytes | None, value: bytes | None, producer_id: int) -> None:
        """Take in one record, at the end of the log."""
        self._replay_record(self.next_offset, key, value, producer_id)
        self.next_offset += 1

    def end_transaction(self, producer_id: int, commit: bool) -> None:
        """Take in a marker."""
        pending = self._pending.pop(producer_id, {})
        if not commit:
            self._check(pending.values())
            return
        for key, committed in pending.items():
            if key not in self._committed or committed[1] > self._committed[key][1]:
                self._committed[key] = committed
                self._changed(key)

    def _replay_batch(self, batch: Batch) -> None:
        header = batch.header
        try:
            if not self._careful and not header.is_control and self._replay_commits(batch):
                return
            for record in batch_records(batch):
                if header.is_control:
                    self._replay_control(header, record)
                else:
                    self._replay_record(record.offset, record.key, record.value, header.producer_id)
        except FormatError as error:
            self.problems.append(Problem(header.base_offset, str(error)))

    def _replay_commits(self, batch: Batch) -> bool:
        """Take in a batch of nothing but commits; False for any other batch, of which nothing is taken in."""
        found = cut(batch, self._columns)
        if found is None:
            return False
        if not self._settled.issuperset(found.keys):
            fresh = [(key, self._names.get(key) or decode_key(key)) for key in found.keys if key not in self._settled]
            if any(names is None for _, names in fresh):
                return False
            for key, names in fresh:
                if names is not None:
                    self._settle(key, names)
        committed = zip(found.values, found.offsets, strict=True)
        self._table(batch.header.producer_id).update(zip(found.keys, committed, strict=True))
        return True

    def _replay_control(self, header: BatchHeader, record: Record) -> None:
        kind = ControlRecordType(decode_type_id(record.key))
        if kind in (ControlRecordType.COMMIT, ControlRecordType.ABORT):
            self.end_transaction(header.producer_id, kind is ControlRecordType.COMMIT)

    def _replay_record(self, offset: int, key: bytes | None, value: bytes | None, producer_id: int) -> None:
        try:
            if key is None:
                raise SchemaError("a record without a key")
            if key[:2] in TYPES:
                self._replay_commit(offset, key, value, producer_id)
            else:
                group_id = self.groups.replay(decode(GROUP, key, value))
                if group_id not in self.groups:
                    self._settled.difference_update(self._keys.get(group_id, ()))
        except SchemaError as error:
            self.problems.append(Problem(offset, str(error)))

    def _replay_commit(self, offset: int, key: bytes, value: bytes | None, producer_id: int) -> None:
        names = self._names.get(key) or decode_key(key)
        if names is None:
            key, names = canonical(key, value)
        if value is None:
            self._remove(key)
        else:
            decode_value(value)
            self._settle(key, names)
            self._table(producer_id)[key] = (value, offset)
        self._changed(key)

    def _table(self, producer_id: int) -> dict[bytes, Committed]:
        return self._committed if producer_id == NO_PRODUCER_ID else self._pending.setdefault(producer_id, {})

    def _remove(self, key: bytes) -> None:
        tables = (self._committed, *self._pending.values())
        self._check([table.pop(key) for table in tables if key in table])

    def _check(self, dropped: Iterable[Committed]) -> None:
        """Note damage among what is not looked at again: it may have made a group."""
        try:
            for value, _ in dropped:
                decode_value(value)
        except SchemaError:
            self._is_damaged = True

    def _settle(self, key: bytes, names: OffsetKey) -> None:
        if key in self._settled:
            return
        if key not in self._names:
            self._names[key] = names
            self._keys.setdefault(names.group_id, []).append(key)
        self.groups.add_simple(names.group_id)
        self._settled.add(key)

    def _changed(self, key: bytes) -> None:
        if key in self._names:
            self._decoded.pop(self._names[key].group_id, None)

    def _decode(self, committed: dict[bytes, Committed], keys: Iterable[bytes]) -> Offsets:
        found = sorted((self._names[key].partition, committed[key][0]) for key in keys if key in committed)
        return {partition: decode_value(value) for partition, value in found}
