"""The small files beside a log: producer snapshots, transaction indexes, and the names of KRaft snapshots."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from kafkapy.errors import CorruptSnapshotError, DamagedFileError, FormatError, KafkapyError
from kafkapy.formats import producer_snapshot, snapshot_id
from kafkapy.formats.transaction_index import TransactionIndex
from kafkapy.scan.rows import AbortedTxnRow, Emit, ProducerRow

BOOTSTRAP = "bootstrap.checkpoint"


def snapshot_title(path: str) -> str:
    """The line Kafka prints before a .checkpoint file."""
    name = os.path.basename(path)
    if name == BOOTSTRAP:
        return "KRaft bootstrap snapshot"
    found = snapshot_id.parse(name)
    if found is None:
        raise KafkapyError(f"{path}: not the name of a snapshot (20 digits, '-', 10 digits, '.checkpoint')")
    return f"Snapshot end offset: {found.snapshot_id.end_offset}, epoch: {found.snapshot_id.epoch}"


def dump_producer_snapshot(path: str, emit: Emit, tell: Callable[[str], object]) -> None:
    """Print every producer of a .snapshot; a corrupt one is told, and the dump goes on, as Kafka's does."""
    try:
        entries = producer_snapshot.decode(_read(path))
    except CorruptSnapshotError as error:
        tell(str(error))
        return
    for entry in entries:
        emit(*_producer(path, entry))


def dump_transaction_index(path: str, base_offset: int, emit: Emit) -> None:
    """Print every aborted transaction of a .txnindex."""
    try:
        aborted = TransactionIndex(base_offset, _read(path), os.path.abspath(path)).all_aborted_txns()
    except FormatError as error:
        raise DamagedFileError(path, 0, str(error)) from None
    for txn in aborted:
        row = AbortedTxnRow(
            path, txn.version, txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset
        )
        text = (
            f"version: {row.version} producerId: {row.producer_id} firstOffset: {row.first_offset}"
            f" lastOffset: {row.last_offset} lastStableOffset: {row.last_stable_offset}"
        )
        emit(text, row)


def _producer(path: str, entry: producer_snapshot.ProducerStateEntry) -> tuple[str, ProducerRow]:
    first = None if entry.current_txn_first_offset < 0 else entry.current_txn_first_offset
    text = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch}"
        f" coordinatorEpoch: {entry.coordinator_epoch}"
        f" currentTxnFirstOffset: {'OptionalLong.empty' if first is None else f'OptionalLong[{first}]'}"
        f" lastTimestamp: {entry.timestamp}"
    )
    row = ProducerRow(path, entry.producer_id, entry.producer_epoch, entry.coordinator_epoch, first, entry.timestamp)
    if not entry.has_batch:
        return text, row
    text += (
        f" firstSequence: {entry.first_sequence} lastSequence: {entry.last_sequence}"
        f" lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
    )
    return text, replace(
        row,
        first_sequence=entry.first_sequence,
        last_sequence=entry.last_sequence,
        last_offset=entry.last_offset,
        offset_delta=entry.offset_delta,
        timestamp=entry.timestamp,
    )


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
