"""Records that compaction removed from one of two copies, and whether it had a reason to.

A record goes if it has no key, is a tombstone or a marker, belongs to an aborted transaction, or if a later record has
its key. Of the last kind the keys are kept until such a record is found, in either copy: the one that lacks the older
record may be behind, and may have been filled from a leader that was compacted further than it reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.errors import DamagedFileError
from kafkapy.log.batch_records import batch_records
from kafkapy.log.compared_log import DamagedCopyError

if TYPE_CHECKING:
    from kafkapy.formats.record_batch import BatchHeader, Record
    from kafkapy.formats.transaction_index import AbortedTxn
    from kafkapy.log.compared_log import ComparedLog


class MissingRecords:
    """What was found in one copy only."""

    def __init__(self) -> None:
        self.count = 0
        self._newest: dict[bytes, tuple[int, int, bool]] = {}

    def add(self, record: Record, header: BatchHeader, *, by_ours: bool) -> None:
        """``by_ours`` says whose copy lacks the record."""
        self.count += 1
        if record.key is None or header.is_control:
            return
        if record.value is None:
            self._newest.pop(record.key, None)  # older records of the key may go with it
        else:
            producer_id = header.producer_id if header.is_transactional else -1
            self._newest[record.key] = (record.offset, producer_id, by_ours)

    def first_lost(self, ours: ComparedLog, theirs: ComparedLog) -> int | None:
        """The first offset of a record that nothing has taken the place of."""
        self._without_aborted(ours, theirs)
        for log in (ours, theirs):
            self._find_successors(log)
        return min((offset for offset, _, _ in self._newest.values()), default=None)

    def _without_aborted(self, ours: ComparedLog, theirs: ComparedLog) -> None:
        if all(producer_id < 0 for _, producer_id, _ in self._newest.values()):
            return
        aborted: dict[bool, list[AbortedTxn]] = {}
        for by_ours, log in ((True, theirs), (False, ours)):
            aborted[by_ours] = log.aborted_transactions(log.log_start_offset, log.log_end_offset)
        self._newest = {
            key: (offset, producer_id, by_ours)
            for key, (offset, producer_id, by_ours) in self._newest.items()
            if not any(
                txn.producer_id == producer_id and txn.first_offset <= offset <= txn.last_offset
                for txn in aborted[by_ours]
            )
        }

    def _find_successors(self, log: ComparedLog) -> None:
        """Read a log from the first of the records on, until there is none left without a later one of its key."""
        if not self._newest:
            return
        start = max(log.log_start_offset, min(offset for offset, _, _ in self._newest.values()))
        try:
            with log.cursor(start) as cursor:
                while self._newest and (batch := cursor.batch()) is not None:
                    cursor.skip(batch.header.size)
                    for record in batch_records(batch) if not batch.header.is_control else ():
                        if record.key in self._newest and self._newest[record.key][0] < record.offset:
                            del self._newest[record.key]
        except (DamagedFileError, DamagedCopyError):
            return  # told by who compares
