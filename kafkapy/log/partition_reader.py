"""One partition directory that must never be touched: of a broker that runs, was stopped, crashed, or is long gone.

Nothing is read before it is asked for, and the end of the log costs the tail of its last segment: ten thousand
partitions can be opened to list their offsets.

After a crash the log ends behind the last good batch (see ``segment_reader``); indexes are hints; transactions that the
.txnindex lacks are found by replaying the log from the newest producer snapshot.

``damage`` tells where a log ends before its file does, that a .log file is gone, or that a clean stop knew of more. A
torn tail is what any crash leaves, and recovery cuts it without a word; here it is told all the same to those who ask,
the coordinators: nobody can see from its bytes whether one commit was being written or a file was cut in the middle.
Where records are gone for certain, ``loss`` tells it to those for whom a torn tail is none of their business, too.
``salvage`` reads all that can be found, also behind damage.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.errors import DamagedFileError
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.batch import Batch, batch_bytes, is_good, why_bad
from kafkapy.log.config import MAX_LONG
from kafkapy.log.leader_epochs import read_epochs
from kafkapy.log.log_view import LogView
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX, SegmentFile, parse_segment_file
from kafkapy.log.producer_replay import replay
from kafkapy.log.producer_state import ProducerState, newest_snapshot
from kafkapy.log.segment_reader import SegmentEnd, SegmentReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkapy.log.batch_cursor import BatchCursor
    from kafkapy.log.topic_partition import TopicPartition


class PartitionReader(LogView[SegmentReader]):
    """``log_start_offset`` is the one in the log-start checkpoint, where it has one; ``clean_end`` is how far the log
    went at least when its broker stopped cleanly, None where it did not or nobody knows."""

    def __init__(
        self,
        directory: str,
        partition: TopicPartition,
        log_start_offset: int | None = None,
        clean_end: int | None = None,
    ) -> None:
        super().__init__(directory, partition, _segments(directory))
        self._clean_end = clean_end
        first = self.segments[0].base_offset if self.segments else 0
        self._log_start_offset = max(log_start_offset or 0, first)

    @cached_property
    def log_end_offset(self) -> int:
        return max(self._end.offset, self._log_start_offset)

    @cached_property
    def _end(self) -> SegmentEnd:
        return self.segments[-1].end() if self.segments else SegmentEnd(0, 0)

    @cached_property
    def damage(self) -> str | None:
        """Why this is not all of the log, as far as names and the end of the last file tell; None if it is."""
        missing = _missing(self.directory)
        if missing is not None:
            return missing
        last, end = self.segments[-1], self._end
        if end.reason is not None and not last.is_preallocated(end.position):
            return _not_read(last, DamagedFileError(last.log_path, end.position, end.reason))
        if self._is_short:
            return (
                f"{last.log_path}: ends at byte {last.size} and offset {self.log_end_offset}, but the log went to "
                f"{self._clean_end} when its broker stopped"
            )
        return None

    @cached_property
    def loss(self) -> str | None:
        """The damage, where it has cost records for certain; None of a tail that may be no more than a torn write."""
        return self.damage if self._is_short or _missing(self.directory) is not None else None

    @property
    def _is_short(self) -> bool:
        return self._clean_end is not None and self.log_end_offset < self._clean_end

    def cursor(self, offset: int) -> BatchCursor:
        """A place in the log, at the first batch that has ``offset`` or a later one; to be closed."""
        from kafkapy.log.batch_cursor import BatchCursor

        return BatchCursor(self, offset)

    def salvage(self, tell: Callable[[str], object]) -> Iterator[Batch]:
        """The good batches, behind a size that is wrong those of the next segment; ``tell`` hears of all others."""
        for segment in self.segments:
            try:
                yield from self._good(segment, tell)
            except DamagedFileError as error:
                tell(_not_read(segment, error))
        if self.damage is not None:
            tell(self.damage)

    def _good(self, segment: SegmentReader, tell: Callable[[str], object]) -> Iterator[Batch]:
        """Those of one segment. Nothing that a header says is believed before its checksum is right."""
        if segment.base_offset >= self.log_end_offset:
            return
        for window, header in segment.walk_from(self._log_start_offset, whole=True):
            batch = Batch(header, window.position, batch_bytes(window, header.size))
            if not is_good(header, batch.data):
                tell(_bad(segment, batch))
            elif header.last_offset >= self._log_start_offset:
                yield batch
                if header.last_offset + 1 >= self.log_end_offset:
                    return  # what follows is told as the damage of the end

    @cached_property
    def epochs(self) -> list[EpochEntry]:
        """The leader epochs that have records."""
        return [entry for entry in read_epochs(self.directory) if entry.start_offset < self.log_end_offset]

    @property
    def producers(self) -> ProducerState:
        """The producers at the end of the log."""
        return self._replayed[0]

    def last_stable_offset(self, high_watermark: int | None = None) -> int:
        """Where read_committed readers must stop; the end of the log stands in for a high watermark."""
        end = self.log_end_offset if high_watermark is None else high_watermark
        unstable = self.producers.first_unstable_offset(end)
        return end if unstable is None else min(end, max(unstable, self._log_start_offset))

    def aborted_transactions(self, start: int, upper_bound: int) -> list[AbortedTxn]:
        found = super().aborted_transactions(start, upper_bound)
        known = {txn.last_offset for txn in found}
        for txn in self._replayed[1]:
            if txn.last_offset >= start and txn.first_offset < upper_bound and txn.last_offset not in known:
                found.append(txn)
        return sorted(found, key=lambda txn: txn.last_offset)

    @cached_property
    def _replayed(self) -> tuple[ProducerState, list[AbortedTxn]]:
        state = ProducerState(self.partition, MAX_LONG)
        offset, entries = newest_snapshot(self.directory, self._log_start_offset, self.log_end_offset)
        state.load(entries, offset, 0)
        return state, replay(state, self.segments, self.log_end_offset, whole=True)


def _missing(directory: str) -> str | None:
    """The .log files that should be there: a segment is made with its index, and goes with it."""
    files = [file for file in map(parse_segment_file, os.listdir(directory)) if file is not None]
    logs = {file.base_offset for file in files if file.suffix == LOG_SUFFIX}
    indexes = (file for file in files if file.suffix == INDEX_SUFFIX and not file.state)
    lost = sorted(file.base_offset for file in indexes if file.base_offset not in logs)
    if lost:
        names = ", ".join(SegmentFile(base, LOG_SUFFIX).name for base in lost)
        return f"{directory}: {names} is missing, though its index is there"
    return None if logs else f"{directory}: has no {LOG_SUFFIX} file"


def _bad(segment: SegmentReader, batch: Batch) -> str:
    header = batch.header
    error = DamagedFileError(segment.log_path, batch.position, why_bad(header))
    return f"{error}; this batch of {header.size} bytes, from offset {header.base_offset} on, is not read"


def _not_read(segment: SegmentReader, error: DamagedFileError) -> str:
    return f"{error}; {segment.size - error.position} bytes from there on are not read"


def _segments(directory: str) -> list[SegmentReader]:
    files = (parse_segment_file(name) for name in os.listdir(directory) if name.endswith(LOG_SUFFIX))
    bases = sorted(file.base_offset for file in files if file is not None)
    return [SegmentReader(directory, base, closed=base != bases[-1]) for base in bases]
