"""What a partition knows about its idempotent and transactional producers, and the snapshots of it.

A producer id has an epoch, its last five batches (by sequence numbers, so that a retry is answered with the offsets
of the first try), the time it was last heard of, and perhaps an open transaction. ``%020d.snapshot`` holds it all as
it was before that offset, but of the batches only the last.

Invariant: a transaction is open from the first offset of its first batch to its marker. The first unstable offset is
that of the earliest one that is open, or that was ended by a marker which is not replicated yet.

After a crash the newest whole snapshot is loaded and the log replayed from there. A snapshot that is neither at a
segment's base offset nor the newest one past the last base is a leftover, and removed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptSnapshotError
from kafkapy.formats import producer_snapshot
from kafkapy.formats.producer_snapshot import ProducerStateEntry
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.names import PRODUCER_SNAPSHOT_SUFFIX, SegmentFile, parse_segment_file
from kafkapy.log.producer_append import NO_OFFSET, CompletedTxn, KnownBatch, Origin, ProducerAppend, ProducerEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.log.files import Files
    from kafkapy.log.topic_partition import TopicPartition


class _Txn(NamedTuple):
    producer_id: int
    last_offset: int = NO_OFFSET


class ProducerState:
    """The producers of one partition; ``map_end_offset`` is the offset up to which they are known."""

    def __init__(self, partition: TopicPartition, expiration_ms: int) -> None:
        self._partition = partition
        self._expiration_ms = expiration_ms
        self.producers: dict[int, ProducerEntry] = {}
        self.map_end_offset = 0
        self._ongoing: dict[int, _Txn] = {}
        self._unreplicated: dict[int, _Txn] = {}

    def clear(self, offset: int) -> None:
        """Forget everybody; the state is that before ``offset``."""
        self.producers.clear()
        self._ongoing.clear()
        self._unreplicated.clear()
        self.map_end_offset = offset

    def load(self, entries: Iterable[ProducerStateEntry], offset: int, now: int) -> None:
        """Take over a snapshot's entries but the expired ones."""
        self.clear(offset)
        for stored in entries:
            entry = _entry(stored)
            if not entry.is_expired(now, self._expiration_ms):
                self.producers[stored.producer_id] = entry
                if entry.has_open_txn:
                    self._ongoing[entry.current_txn_first_offset] = _Txn(stored.producer_id)

    def entries(self) -> list[ProducerStateEntry]:
        """The state as a snapshot holds it."""
        return [_stored(producer_id, entry) for producer_id, entry in self.producers.items()]

    def find_duplicate(self, header: BatchHeader) -> KnownBatch | None:
        """The batch among the producer's last five that has the same epoch and sequence numbers."""
        entry = self.producers.get(header.producer_id)
        return None if entry is None else entry.find_duplicate(header)

    def prepare(self, producer_id: int, origin: Origin, transaction_version: int = 0) -> ProducerAppend:
        """A copy of the producer's state to check batches against; nothing changes before ``update``."""
        current = self.producers.get(producer_id)
        return ProducerAppend(self._partition, producer_id, current, origin, transaction_version)

    def update(self, append: ProducerAppend) -> list[AbortedTxn]:
        """Make what ``append`` checked the state; the transactions that were aborted, for the transaction index."""
        self.producers[append.producer_id] = append.entry
        for first_offset in append.started_txns:
            self._ongoing[first_offset] = _Txn(append.producer_id)
        aborted = []
        for completed in append.completed_txns:
            if completed.is_aborted:
                aborted.append(self._aborted(completed))
            self._ongoing.pop(completed.first_offset, None)
            self._unreplicated[completed.first_offset] = _Txn(completed.producer_id, completed.last_offset)
        return aborted

    def replay(self, header: BatchHeader, data: Callable[[], bytes]) -> list[AbortedTxn]:
        """Learn from a batch that is in the log; ``data`` gives its bytes, asked for only with a control batch."""
        aborted: list[AbortedTxn] = []
        if header.producer_id >= 0:
            append = self.prepare(header.producer_id, Origin.REPLICATION)
            append.append(header, data)
            aborted = self.update(append)
        self.map_end_offset = header.last_offset + 1
        return aborted

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """The first offset that a read_committed reader must not pass."""
        self._unreplicated = {
            first: txn for first, txn in self._unreplicated.items() if txn.last_offset >= high_watermark
        }
        return min((*self._ongoing, *self._unreplicated), default=None)

    @property
    def open_txns(self) -> dict[int, int]:
        """The first offset of each open transaction, and its producer id."""
        return {first: txn.producer_id for first, txn in sorted(self._ongoing.items())}

    def remove_expired(self, now: int) -> None:
        """Forget producers that were not heard of for long; who left a transaction open stays."""
        for producer_id, entry in list(self.producers.items()):
            if entry.is_expired(now, self._expiration_ms):
                del self.producers[producer_id]

    def _aborted(self, completed: CompletedTxn) -> AbortedTxn:
        others = [first for first, txn in self._ongoing.items() if txn.producer_id != completed.producer_id]
        last_stable_offset = min(others, default=completed.last_offset + 1)
        return AbortedTxn(completed.producer_id, completed.first_offset, completed.last_offset, last_stable_offset)


class ProducerSnapshots:
    """The .snapshot files of a partition directory."""

    def __init__(self, directory: str, files: Files) -> None:
        self._directory = directory
        self._files = files
        self.offsets = snapshot_offsets(directory)
        self.last_offset = self.offsets[-1] if self.offsets else 0

    def take(self, state: ProducerState) -> bool:
        """Write one unless the newest is already at that offset."""
        offset = state.map_end_offset
        if offset <= self.last_offset:
            return False
        self._files.write_atomic(self.path(offset), producer_snapshot.encode(state.entries()))
        self.offsets.append(offset)
        self.last_offset = offset
        return True

    def load_newest(self, state: ProducerState, log_start_offset: int, log_end_offset: int, now: int) -> None:
        """Load the newest one that is whole and in the log; others on the way there are removed."""
        for offset in [offset for offset in self.offsets if not log_start_offset < offset <= log_end_offset]:
            self.remove(offset)
        self.last_offset, entries = newest_snapshot(self._directory, log_start_offset, log_end_offset)
        for offset in [offset for offset in self.offsets if offset > self.last_offset]:
            self.remove(offset)
        state.load(entries, self.last_offset, now)

    def remove_stray(self, base_offsets: Iterable[int]) -> None:
        """Remove those that belong to no segment, but the newest past the last one."""
        bases = set(base_offsets)
        stray = [offset for offset in self.offsets if offset not in bases]
        newest = stray[-1:] if stray and stray[-1] >= max(bases, default=0) else []
        for offset in stray:
            if offset not in newest:
                self.remove(offset)

    def remove(self, offset: int) -> None:
        """Remove one."""
        self._files.unlink(self.path(offset))
        self.offsets.remove(offset)

    def path(self, offset: int) -> str:
        """Where the state before ``offset`` is."""
        return _snapshot_path(self._directory, offset)


def snapshot_offsets(directory: str) -> list[int]:
    """The offsets of the snapshots in a directory, in order."""
    parsed = (parse_segment_file(name) for name in os.listdir(directory) if name.endswith(PRODUCER_SNAPSHOT_SUFFIX))
    return sorted(file.base_offset for file in parsed if file is not None)


def newest_snapshot(directory: str, start: int, end: int) -> tuple[int, list[ProducerStateEntry]]:
    """Offset and entries of the newest whole snapshot after ``start`` and up to ``end``, else ``start`` and nobody."""
    for offset in reversed(snapshot_offsets(directory)):
        if start < offset <= end:
            try:
                with open(_snapshot_path(directory, offset), "rb") as file:
                    return offset, producer_snapshot.decode(file.read())
            except CorruptSnapshotError:
                continue
    return start, []


def _snapshot_path(directory: str, offset: int) -> str:
    return os.path.join(directory, SegmentFile(offset, PRODUCER_SNAPSHOT_SUFFIX).name)


def _entry(stored: ProducerStateEntry) -> ProducerEntry:
    batches: tuple[KnownBatch, ...] = ()
    if stored.has_batch:
        batches = (KnownBatch(stored.last_sequence, stored.last_offset, stored.offset_delta, stored.timestamp),)
    return ProducerEntry(
        stored.producer_epoch,
        batches,
        stored.timestamp,
        stored.coordinator_epoch,
        stored.current_txn_first_offset if stored.has_open_txn else NO_OFFSET,
    )


def _stored(producer_id: int, entry: ProducerEntry) -> ProducerStateEntry:
    last = entry.batches[-1] if entry.batches else KnownBatch(-1, NO_OFFSET, 0, 0)
    return ProducerStateEntry(
        producer_id,
        entry.producer_epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        entry.current_txn_first_offset,
    )
