"""One round of compaction over a log, thought through and not yet done: what it would leave of which segments.

First the newest offset of each key between ``first_dirty_offset`` and the first uncleanable one is collected, but for
aborted transactions. Then the segments from the start of the log to there are read group by group, and of each batch
comes what stays of it. Reading is all that is done here, so ``estimate`` can tell what a round would come to.

Invariant: what lies at or past ``end_offset`` comes out as it went in. Groups must be asked for in order, since a
transaction may reach from one into the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple

from kafkapy.formats.record_batch import NO_TIMESTAMP, decode_header
from kafkapy.log.batch_filter import FilterRules, filtered
from kafkapy.log.cleaned_transactions import CleanedTransactions
from kafkapy.log.cleaner_plan import SegmentT, group_segments, segments_between
from kafkapy.log.offset_map import CAPACITY, OffsetMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.formats.transaction_index import AbortedTxn
    from kafkapy.log.cleaner_plan import LogToClean
    from kafkapy.log.config import LogConfig
    from kafkapy.log.log_view import LogView
    from kafkapy.log.producer_state import ProducerState


class CleanedGroup(NamedTuple):
    """What became, or would become, of a group of segments: one segment at ``base_offset``."""

    base_offset: int
    source_count: int
    source_size: int
    size: int
    largest_timestamp: int


class CleaningRound(Generic[SegmentT]):
    """``end_offset`` is what the cleaner checkpoint becomes; ``groups`` are the segments that become one each."""

    def __init__(
        self,
        log: LogView[SegmentT],
        config: LogConfig,
        to_clean: LogToClean,
        producers: ProducerState,
        now: int,
        capacity: int = CAPACITY,
    ) -> None:
        self._log = log
        self._txns = CleanedTransactions()
        offsets = build_offset_map(log, to_clean, capacity)
        self.end_offset = offsets.latest_offset + 1
        active = {
            producer_id: entry
            for producer_id, entry in producers.producers.items()
            if not entry.is_expired(now, config.producer_id_expiration_ms)
        }
        end = to_clean.first_uncleanable_offset
        self._rules = FilterRules(offsets, active, end, now, config.delete_retention_ms)
        clean = segments_between(log.segments, 0, to_clean.first_dirty_offset)
        self._legacy_horizon = clean[-1].modified - config.delete_retention_ms if clean else 0
        self.groups = group_segments(segments_between(log.segments, 0, self.end_offset), config, end)

    def batches(self, group: list[SegmentT]) -> Iterator[tuple[BatchHeader, bytes]]:
        """What stays of the batches of a group."""
        for number, segment in enumerate(group):
            following = group[number + 1].base_offset if number + 1 < len(group) else segment.next_offset()
            self._txns.add(self._log.aborted_transactions(segment.base_offset, following))
            keeps_legacy_tombstones = segment.modified > self._legacy_horizon
            for batch in segment.read(segment.base_offset):
                may_go = self._txns.may_go(batch)
                data = filtered(batch, self._rules, may_go, keeps_legacy_tombstones)
                if data is not None:
                    yield (batch.header if data is batch.data else decode_header(data)), data

    def take_aborted(self) -> list[AbortedTxn]:
        """The aborted transactions that the group just read still has to tell of."""
        kept, self._txns.kept = self._txns.kept, []
        return kept


def estimate(cleaning: CleaningRound[SegmentT]) -> list[CleanedGroup]:
    """What the round would come to."""
    found = []
    for group in cleaning.groups:
        size, largest = 0, NO_TIMESTAMP
        for header, data in cleaning.batches(group):
            size += len(data)
            largest = max(largest, header.max_timestamp)
        found.append(cleaned_group(group, size, largest))
    return found


def cleaned_group(group: list[SegmentT], size: int, largest_timestamp: int) -> CleanedGroup:
    """Without any timestamp the file's age counts, which stays that of the last source."""
    largest = largest_timestamp if largest_timestamp > NO_TIMESTAMP else group[-1].modified
    return CleanedGroup(group[0].base_offset, len(group), sum(each.size for each in group), size, largest)


def build_offset_map(log: LogView[SegmentT], to_clean: LogToClean, capacity: int = CAPACITY) -> OffsetMap:
    """The newest offset of each key in the cleanable part of the log."""
    start, end = to_clean.first_dirty_offset, to_clean.first_uncleanable_offset
    offsets = OffsetMap(capacity)
    txns = CleanedTransactions()
    dirty = segments_between(log.segments, start, max(start, end))
    if dirty:
        txns.add(log.aborted_transactions(start, end))
    for number, segment in enumerate(dirty):
        if not _map_segment(segment, start, txns, offsets):
            break
        following = dirty[number + 1].base_offset if number + 1 < len(dirty) else end
        offsets.latest_offset = following - 1
    return offsets


def _map_segment(segment: SegmentT, start: int, txns: CleanedTransactions, offsets: OffsetMap) -> bool:
    """Put the keys of a segment; whether they all found room."""
    for batch in segment.read(max(start, segment.base_offset)):
        is_aborted = txns.may_go(batch)
        if not batch.header.is_control and not is_aborted:
            for record in batch.records():
                if record.key is not None and record.offset >= start:
                    if offsets.is_full:
                        return False
                    offsets.put(record.key, record.offset)
        offsets.latest_offset = batch.header.last_offset
    return True
