"""What read_committed leaves out: the batches of transactions that were aborted.

An aborted transaction is known by its producer id and first offset. From there on the producer's transactional
batches are dropped, until its ABORT marker ends the transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkapy.formats.control_record import ControlRecordType, decode_type_id
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.batch import Batch


def without_aborted(batches: Iterable[Batch], aborted: Iterable[AbortedTxn]) -> Iterator[Batch]:
    """``batches`` without those of ``aborted`` transactions; markers stay."""
    to_come = sorted(aborted, key=lambda txn: txn.first_offset, reverse=True)
    open_aborted: set[int] = set()
    for batch in batches:
        header = batch.header
        while to_come and to_come[-1].first_offset <= header.last_offset:
            open_aborted.add(to_come.pop().producer_id)
        if header.is_control:
            if _is_abort(batch):
                open_aborted.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in open_aborted:
            continue
        yield batch


def _is_abort(batch: Batch) -> bool:
    first = next(iter(batch.records()), None)
    return first is not None and decode_type_id(first.key) == ControlRecordType.ABORT
