"""One partition directory that must never be touched: of a broker that runs, was stopped, crashed, or is long gone.

Nothing is read before it is asked for, and the end of the log costs the tail of its last segment: ten thousand
partitions can be opened to list their offsets.

After a crash the log ends before the first batch that is torn or fails its checksum, where the broker's own recovery
would cut it; indexes are hints (see ``segment_reader``); transactions that the .txnindex lacks are found by replaying
the log from the newest producer snapshot.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.config import MAX_LONG
from kafkapy.log.leader_epochs import read_epochs
from kafkapy.log.log_view import LogView
from kafkapy.log.names import LOG_SUFFIX, parse_segment_file
from kafkapy.log.producer_replay import replay
from kafkapy.log.producer_state import ProducerState, newest_snapshot
from kafkapy.log.segment_reader import SegmentReader

if TYPE_CHECKING:
    from kafkapy.log.topic_partition import TopicPartition


class PartitionReader(LogView[SegmentReader]):
    """``log_start_offset`` is the one in the log-start checkpoint, where it has one."""

    def __init__(self, directory: str, partition: TopicPartition, log_start_offset: int | None = None) -> None:
        super().__init__(directory, partition, _segments(directory))
        first = self.segments[0].base_offset if self.segments else 0
        self._log_start_offset = max(log_start_offset or 0, first)

    @cached_property
    def log_end_offset(self) -> int:
        end = self.segments[-1].next_offset() if self.segments else 0
        return max(end, self._log_start_offset)

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
        return state, replay(state, self.segments, self.log_end_offset)


def _segments(directory: str) -> list[SegmentReader]:
    files = (parse_segment_file(name) for name in os.listdir(directory) if name.endswith(LOG_SUFFIX))
    bases = sorted(file.base_offset for file in files if file is not None)
    return [SegmentReader(directory, base, closed=base != bases[-1]) for base in bases]
