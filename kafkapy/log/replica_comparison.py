"""Two copies of one partition, compared batch by batch: the first offset at which they differ, if any.

Replicas are copies byte for byte, so that is what is compared, in chunks, from the first offset that both have to the
end of the shorter one. A later log start is no difference and neither is an earlier end.

Compaction is done by every broker for itself. It removes records, and writes batches anew without changing what they
stand for. So below ``compacted_to`` a record may be in one copy only, and batches may be cut differently, as long as
every record that both have is the same. That a record was removed must have a reason: see ``MissingRecords``.

Damage ends the comparison: after a crash a broker would cut the log off there, so what follows is lost anyway.
Everything that only one of the copies has is read against its checksums instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import DamagedFileError, FormatError
from kafkapy.formats.compression import Codec
from kafkapy.log.batch_cursor import BatchCursor
from kafkapy.log.batch_records import batch_records
from kafkapy.log.compared_log import DamagedCopyError
from kafkapy.log.missing_records import MissingRecords

if TYPE_CHECKING:
    from kafkapy.formats.record_batch import BatchHeader, Record
    from kafkapy.log.batch import Batch
    from kafkapy.log.compared_log import ComparedLog, Cursor
    from kafkapy.log.partition_reader import PartitionReader

    Advance = Callable[[int], None]


DAMAGES = (DamagedFileError, DamagedCopyError)


class BatchAt(NamedTuple):
    """A batch, and where it lies; the position is known in files of this machine only."""

    header: BatchHeader
    path: str
    position: int | None


class Damage(NamedTuple):
    """Bytes that are no batch; ``offset`` is the first one that is lost."""

    offset: int
    path: str
    position: int | None
    reason: str


class Difference(NamedTuple):
    """The batches with the first offset that is not the same; None where a copy has no more."""

    offset: int
    reason: str
    ours: BatchAt | None
    theirs: BatchAt | None


class Comparison(NamedTuple):
    """How their copy stands to ours. Both were compared from ``start`` to ``end``; ``compacted`` counts the records
    that only one of them has, by compaction."""

    start: int
    end: int
    difference: Difference | None = None
    our_damage: Damage | None = None
    their_damage: Damage | None = None
    compacted: int = 0


def compare(
    ours: ComparedLog, theirs: ComparedLog, compacted_to: int = 0, advance: Advance = lambda _: None
) -> Comparison:
    """Compare two copies; ``advance`` is told the bytes of theirs that were looked at."""
    start = max(ours.log_start_offset, theirs.log_start_offset)
    before = verify(theirs, theirs.log_start_offset, min(start, theirs.log_end_offset))
    if before is not None:
        return Comparison(start, start, their_damage=before)
    return _PairComparison(ours, theirs, start, compacted_to, advance).run()


def verify(log: ComparedLog, start: int, end: int | None = None) -> Damage | None:
    """The first damage in what has the offsets from ``start`` to ``end``, exclusive."""
    if end is not None and start >= end:
        return None
    try:
        with log.cursor(start) as cursor:
            return _verify_rest(cursor, end)
    except DAMAGES as error:
        return _damage(start, error)


def torn_bytes(log: PartitionReader) -> int:
    """What a torn write left behind the end of the log."""
    try:
        with BatchCursor(log, max(log.log_start_offset, log.log_end_offset - 1)) as cursor:
            while (batch := cursor.batch()) is not None:
                cursor.skip(batch.header.size)
            return cursor.torn_bytes()
    except DamagedFileError:
        return 0


def _verify_rest(cursor: Cursor, end: int | None = None, advance: Advance = lambda _: None) -> Damage | None:
    try:
        while (batch := cursor.batch()) is not None and (end is None or batch.header.base_offset < end):
            cursor.skip(batch.header.size)
            advance(batch.header.size)
    except DAMAGES as error:
        return _damage(cursor.offset(), error)
    return None


def _damage(offset: int, error: DamagedFileError | DamagedCopyError) -> Damage:
    position = error.position if isinstance(error, DamagedFileError) else None
    return Damage(offset, error.path, position, error.reason)


class _Side:
    """One of the two copies, and the batches of it that are looked at."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.damage: Damage | None = None
        self.batches: list[tuple[BatchAt, Batch]] = []

    def peek(self) -> Batch | None:
        """The next batch; None at the end of the log or at damage, which is kept."""
        try:
            return None if self.damage else self.cursor.batch()
        except DAMAGES as error:
            self.damage = _damage(self.cursor.offset(), error)
            return None

    def take(self, end: int) -> int:
        """Take the batches that begin at or before ``end``; where the last of them ends, or ``end``."""
        while (batch := self.peek()) is not None and _first_offset(batch) <= end:
            self.batches.append((self._at(batch), batch))
            self.cursor.skip(batch.header.size)
            end = max(end, batch.header.last_offset)
        return end

    def first_at(self, offset: int) -> BatchAt | None:
        """The batch that has ``offset``, else the one that the copy has in its place."""
        for at, _ in self.batches:
            if at.header.last_offset >= offset:
                return at
        batch = self.peek()
        return None if batch is None else self._at(batch)

    def _at(self, batch: Batch) -> BatchAt:
        return BatchAt(batch.header, self.cursor.path, self.cursor.position(batch))

    def records(self) -> dict[int, tuple[Record, BatchHeader]]:
        """The records of the batches that were taken, by offset."""
        found = {}
        for at, batch in self.batches:
            try:
                for record in batch_records(batch):
                    found[record.offset] = (record, batch.header)
            except FormatError as error:
                self.damage = Damage(batch.header.base_offset, at.path, at.position, str(error))
        return found


class _PairComparison:
    def __init__(self, ours: ComparedLog, theirs: ComparedLog, start: int, compacted_to: int, advance: Advance) -> None:
        self._ours, self._theirs = ours, theirs
        self._start = start
        self._compacted_to = compacted_to
        self._advance = advance
        self._missing = MissingRecords()

    def run(self) -> Comparison:
        found = Comparison(self._start, self._start)
        try:
            ours = self._ours.cursor(self._start)
        except DAMAGES as error:
            return found._replace(our_damage=_damage(self._start, error))
        with ours:
            try:
                theirs = self._theirs.cursor(self._start)
            except DAMAGES as error:
                return found._replace(their_damage=_damage(self._start, error))
            with theirs:
                return self._compare(_Side(ours), _Side(theirs))

    def _compare(self, ours: _Side, theirs: _Side) -> Comparison:
        while True:
            self._advance(ours.cursor.skip_equal(theirs.cursor))
            mine, other = ours.peek(), theirs.peek()
            if mine is None or other is None:
                break
            difference = self._differing(ours, theirs, min(_first_offset(mine), _first_offset(other)))
            if difference is not None:
                return self._found(ours, theirs, difference)
        found = self._found(ours, theirs, None)
        if ours.damage or theirs.damage:
            return found
        damage = _verify_rest(theirs.cursor, advance=self._advance)
        return found._replace(their_damage=damage, difference=self._lost())

    def _found(self, ours: _Side, theirs: _Side, difference: Difference | None) -> Comparison:
        end = min(ours.cursor.offset(), theirs.cursor.offset()) if difference is None else difference.offset
        return Comparison(
            self._start, max(self._start, end), difference, ours.damage, theirs.damage, self._missing.count
        )

    def _differing(self, ours: _Side, theirs: _Side, offset: int) -> Difference | None:
        """Compare the batches of both that overlap from ``offset`` on, and go on behind them."""
        end, before = offset, offset - 1
        ours.batches, theirs.batches = [], []
        while end != before:
            before, end = end, theirs.take(ours.take(end))
        self._advance(sum(batch.header.size for _, batch in theirs.batches))
        if offset >= self._compacted_to:
            return Difference(offset, _reason(ours, theirs, offset), ours.first_at(offset), theirs.first_at(offset))
        return self._differing_records(ours, theirs)

    def _differing_records(self, ours: _Side, theirs: _Side) -> Difference | None:
        mine, others = ours.records(), theirs.records()
        for offset in sorted(mine.keys() | others.keys()):
            own, other = mine.get(offset), others.get(offset)
            if offset < self._start:
                continue
            if own is not None and other is not None:
                if own[0] == other[0] and _identity(own[1]) == _identity(other[1]):
                    continue
                reason = "the records differ" if own[0] != other[0] else "the batches differ"
            elif offset >= self._compacted_to:
                reason = "one copy has no such record, and compaction has not come that far"
            else:
                self._missing.add(*(own or other or ()), by_ours=own is None)
                continue
            return Difference(offset, reason, ours.first_at(offset), theirs.first_at(offset))
        return None

    def _lost(self) -> Difference | None:
        """A record that is missing without a later one of its key in either copy."""
        offset = self._missing.first_lost(self._ours, self._theirs)
        if offset is None:
            return None
        with self._ours.cursor(offset) as ours, self._theirs.cursor(offset) as theirs:
            mine, other = _Side(ours).first_at(offset), _Side(theirs).first_at(offset)
        return Difference(offset, "the newest record of a key is in one copy only", mine, other)


def _first_offset(batch: Batch) -> int:
    """The first offset of a batch; a compressed message set of magic 0 or 1 is named after its last."""
    if batch.header.magic < 2 and batch.header.codec is not Codec.NONE:
        try:
            return next(batch.records()).offset
        except FormatError:
            pass
    return batch.header.base_offset


def _identity(header: BatchHeader) -> tuple[object, ...]:
    """What compaction leaves as it is."""
    return (
        header.partition_leader_epoch,
        header.producer_id,
        header.producer_epoch,
        header.is_transactional,
        header.is_control,
    )


def _reason(ours: _Side, theirs: _Side, offset: int) -> str:
    first = [[at.header for at, each in side.batches if _first_offset(each) <= offset][:1] for side in (ours, theirs)]
    if not first[0] or not first[1]:
        return f"the {'reference' if not first[0] else 'copy'} lacks this batch"
    mine, other = first[0][0], first[1][0]
    if mine.partition_leader_epoch != other.partition_leader_epoch:
        return "written by different leaders"
    return "the batches differ" if mine.last_offset == other.last_offset else "the batches end at different offsets"
