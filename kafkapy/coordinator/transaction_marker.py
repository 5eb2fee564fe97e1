"""Transaction markers: the control batch, of one record, that ends a transaction in a partition."""

from __future__ import annotations

from kafkapy.coordinator.transaction_state import TransactionMetadata, TransactionState
from kafkapy.formats.control_record import ControlRecordType, EndTransactionMarker, encode_key, encode_marker
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch


def encode_end_marker(prepared: TransactionMetadata, coordinator_epoch: int, now: int) -> bytes:
    """The batch that goes to every partition of a transaction whose end is decided."""
    committed = prepared.state is TransactionState.PREPARE_COMMIT
    kind = ControlRecordType.COMMIT if committed else ControlRecordType.ABORT
    value = encode_marker(EndTransactionMarker(kind, coordinator_epoch))
    options = BatchOptions(
        transactional=True,
        control=True,
        producer_id=prepared.producer_id,
        producer_epoch=prepared.producer_epoch,
    )
    return encode_batch([Record(0, now, encode_key(kind), value)], options)
