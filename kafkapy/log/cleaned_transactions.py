"""Which batches of a log belong to aborted transactions, and which markers nobody needs any more.

It is told of every batch of a log, in order. A data batch of an aborted transaction may go. The marker of a transaction
must outlive its data: an abort marker may go, and its entry in the transaction index with it, when no batch of the
transaction was met on the way to it; a commit marker likewise. What "may go" means for a marker, the delete horizon
decides.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from kafkapy.formats.control_record import ControlRecordType, decode_type_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkapy.formats.transaction_index import AbortedTxn
    from kafkapy.log.batch import Batch


class CleanedTransactions:
    """``kept`` are the aborted transactions whose markers were met and must stay, for the new transaction index."""

    def __init__(self) -> None:
        self.kept: list[AbortedTxn] = []
        self._to_come: list[tuple[int, AbortedTxn]] = []
        self._aborted: dict[int, AbortedTxn] = {}
        self._with_data: set[int] = set()
        self._committed: set[int] = set()

    def add(self, aborted: Iterable[AbortedTxn]) -> None:
        """Learn of aborted transactions before their batches are met; of one twice is no harm."""
        for txn in aborted:
            heappush(self._to_come, (txn.first_offset, txn))

    def may_go(self, batch: Batch) -> bool:
        """Whether transactions have no use for the batch, which is the next one."""
        self._begin_up_to(batch.header.last_offset)
        return self._marker_may_go(batch) if batch.header.is_control else self._data_may_go(batch)

    def _begin_up_to(self, offset: int) -> None:
        while self._to_come and self._to_come[0][0] <= offset:
            txn = heappop(self._to_come)[1]
            self._aborted.setdefault(txn.producer_id, txn)

    def _data_may_go(self, batch: Batch) -> bool:
        header = batch.header
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._with_data.add(header.producer_id)
            return True
        self._committed.add(header.producer_id)
        return False

    def _marker_may_go(self, batch: Batch) -> bool:
        producer_id = batch.header.producer_id
        marker = next(batch.records(), None)
        if marker is None:
            return True
        kind = ControlRecordType(decode_type_id(marker.key))
        if kind is ControlRecordType.ABORT:
            return self._abort_may_go(producer_id)
        if kind is ControlRecordType.COMMIT:
            had_data = producer_id in self._committed
            self._committed.discard(producer_id)
            return not had_data
        return False

    def _abort_may_go(self, producer_id: int) -> bool:
        txn = self._aborted.pop(producer_id, None)
        if txn is None or producer_id not in self._with_data:
            return True
        self._with_data.discard(producer_id)
        self.kept.append(txn)
        return False
