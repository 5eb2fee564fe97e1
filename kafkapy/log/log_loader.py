"""Opening a partition directory as a broker does at start.

In this order: ``.deleted`` and ``.cleaned`` files go; a ``.swap`` is whole, so the segments that it replaces go and
it takes its name. An index without a log goes. A segment without an .index is recovered. After an unclean stop every
segment from the one with the recovery point on is recovered; where one had to be cut, all after it go, for what
follows a hole was never acknowledged. After a clean one Kafka believes that the log is whole; here the end of the last
segment is looked at all the same, since what is appended behind half a batch can never be read: a torn write is cut
off, other damage is left there and known (``damaged_end``). Then the leader epochs outside the log are dropped, or
read anew from the batches where their file has none, and the producer state is rebuilt from the newest snapshot.

Invariant: doing it twice, or being killed in between and doing it again, ends in the same state. ``recovered`` tells
what was done, a line each.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptIndexError, DamagedFileError
from kafkapy.formats.leader_epoch_checkpoint import FILE_NAME, EpochEntry
from kafkapy.log.leader_epochs import LeaderEpochs
from kafkapy.log.names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    PRODUCER_SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    SegmentFile,
    parse_segment_file,
)
from kafkapy.log.producer_replay import replay
from kafkapy.log.producer_state import ProducerSnapshots, ProducerState, newest_snapshot
from kafkapy.log.segment import LogSegment
from kafkapy.log.segment_reader import SegmentReader
from kafkapy.log.torn_end import is_torn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.log.config import LogConfig
    from kafkapy.log.files import Files
    from kafkapy.log.topic_partition import TopicPartition


class Loading(NamedTuple):
    """What a log is opened with."""

    directory: str
    partition: TopicPartition
    config: LogConfig
    files: Files
    now: int
    clean_shutdown: bool
    recovery_point: int
    log_start_offset: int | None


def _has_sane_txns(segment: LogSegment) -> bool:
    try:
        segment.transaction_index.sanity_check()
    except CorruptIndexError:
        return False
    return True


def _has_entries_from(segment: LogSegment, offset: int) -> bool:
    indexes = (segment.offset_index, segment.time_index)
    return any(index.written_count and index.last_entry().offset >= offset for index in indexes)


def _good_headers(segment: LogSegment) -> Iterator[BatchHeader]:
    """The headers of the batches before any damage."""
    with suppress(DamagedFileError):
        for _, header in segment.headers(segment.base_offset):
            yield header


class LogLoader:
    """Opens one directory; what it found is in its attributes after ``load``."""

    def __init__(self, loading: Loading, jitter_ms: Callable[[], int]) -> None:
        self._loading = loading
        self._jitter_ms = jitter_ms
        self._files = loading.files
        self.recovered: list[str] = []
        self.segments: list[LogSegment] = []
        self.damaged_end: DamagedFileError | None = None
        self.missing_from: int | None = None
        self._deleted: set[int] = set()
        loading.files.mkdir(loading.directory)
        self.epochs = LeaderEpochs(loading.directory, loading.files)
        self._had_epochs = bool(self.epochs.entries)
        self.state = ProducerState(loading.partition, loading.config.producer_id_expiration_ms)
        self.log_start_offset = self.log_end_offset = 0

    def load(self) -> None:
        """Bring the directory into order and read what is needed to go on."""
        self._remove_temporary()
        self._finish_swaps()
        self._load_segments()
        if not self._loading.clean_shutdown:
            self._recover_unflushed()
        self.log_end_offset = self._look_at_end(self.segments[-1]) if self.segments else 0
        self._drop_if_behind_start()
        if not self._had_epochs:
            self._read_epochs_anew()
        if not self.segments:
            self._create_first()
        first = self.segments[0].base_offset
        self.log_start_offset = max(self._loading.log_start_offset or 0, first)
        self._look_for_gap()
        self.epochs.truncate_from_end(self.log_end_offset)
        self.epochs.truncate_from_start(self.log_start_offset)
        self.epochs.flush()
        self.snapshots = ProducerSnapshots(self._loading.directory, self._files)
        self.snapshots.remove_stray(segment.base_offset for segment in self.segments)
        self._load_producers()

    def _listed(self) -> list[SegmentFile]:
        parsed = (parse_segment_file(name) for name in os.listdir(self._loading.directory))
        return sorted(file for file in parsed if file is not None)

    def _path(self, file: SegmentFile) -> str:
        return os.path.join(self._loading.directory, file.name)

    def _remove_temporary(self) -> None:
        listed = self._listed()
        first_cleaned = min((file.base_offset for file in listed if file.state == CLEANED_SUFFIX), default=None)
        for file in listed:
            # a swap at or after something that is still being cleaned is part of a split that was not finished
            unfinished = file.state == SWAP_SUFFIX and first_cleaned is not None and file.base_offset >= first_cleaned
            if file.state == DELETED_SUFFIX:
                self._deleted.add(file.base_offset)
            if file.state in (DELETED_SUFFIX, CLEANED_SUFFIX) or unfinished:
                self._files.unlink(self._path(file))
                if file.state != DELETED_SUFFIX or not self._loading.clean_shutdown:  # else it is what a start does
                    self.recovered.append(f"removed {file.name}")

    def _finish_swaps(self) -> None:
        swaps = [file for file in self._listed() if file.state == SWAP_SUFFIX]
        logs = [file for file in swaps if file.suffix == LOG_SUFFIX]
        if logs:
            first = min(file.base_offset for file in logs)
            end = max(self._swap_end(file) for file in logs)
            for file in self._listed():
                if not file.state and first <= file.base_offset < end:
                    self._files.unlink(self._path(file))
                    self.recovered.append(f"removed {file.name}, which compaction replaced")
        # the log last: while it has not got its name, a next start finds the swap and does all of this again
        for file in sorted(swaps, key=lambda file: file.suffix == LOG_SUFFIX):
            self._files.rename(self._path(file), self._path(file._replace(state="")))
            self.recovered.append(f"renamed {file.name} to {file._replace(state='').name}")

    def _swap_end(self, file: SegmentFile) -> int:
        from kafkapy.log.batch import walk
        from kafkapy.log.window import Window

        with Window(self._path(file)) as window:
            return max((header.last_offset + 1 for _, header in walk(window)), default=file.base_offset)

    def _load_segments(self) -> None:
        listed = [file for file in self._listed() if not file.state and file.suffix != PRODUCER_SNAPSHOT_SUFFIX]
        names = {file.name for file in listed}
        for file in listed:
            if file.suffix == LOG_SUFFIX:
                segment = self._segment(file.base_offset)
                if file._replace(suffix=INDEX_SUFFIX).name not in names or not _has_sane_txns(segment):
                    self._recover(segment, "which had no good index")
                self.segments.append(segment)
            elif file._replace(suffix=LOG_SUFFIX).name not in names:
                if file.suffix == INDEX_SUFFIX and file.base_offset not in self._deleted and self.missing_from is None:
                    self.missing_from = file.base_offset
                self._files.unlink(self._path(file))
                self.recovered.append(f"removed {file.name}, which has no log")

    def _segment(self, base_offset: int) -> LogSegment:
        loading = self._loading
        return LogSegment(loading.directory, base_offset, loading.config, loading.files, loading.now, self._jitter_ms())

    def _recover_unflushed(self) -> None:
        ends = [segment.base_offset for segment in self.segments[1:]]
        for number, segment in enumerate(list(self.segments)):
            if number < len(ends) and ends[number] <= self._loading.recovery_point:
                continue
            if self._recover(segment):
                for later in self.segments[number + 1 :]:
                    self._remove_segment(later)
                del self.segments[number + 1 :]
                return

    def _look_at_end(self, last: LogSegment) -> int:
        """The log's end; what stands behind it is cut off, or known. After an unclean stop nothing does."""
        end = last.end()
        if not self._loading.clean_shutdown:
            return end.offset
        if end.position == last.size:
            if _has_entries_from(last, end.offset):  # the log was cut between two batches
                last.cut(end)
        elif is_torn(last, end, self._loading.config.max_message_bytes):
            removed, name = last.cut(end), SegmentFile(last.base_offset, LOG_SUFFIX).name
            self.recovered.append(f"cut {removed} bytes off the end of {name}, which was torn")
        else:
            self.damaged_end = DamagedFileError(last.log_path, end.position, end.reason or "no batch")
        return end.offset

    def _look_for_gap(self) -> None:
        """What was deleted is not missing, and what stood at the end makes the log shorter, but leaves no gap."""
        if self.missing_from is not None:
            later = (each.base_offset for each in self.segments if each.base_offset > (self.missing_from or 0))
            if next(later, 0) <= (self._loading.log_start_offset or 0):
                self.missing_from = None

    def _read_epochs_anew(self) -> None:
        """The first batch of the last segment tells whether there should be epochs: older formats have none, nor has a
        log of which all records were deleted."""
        has_records = self.log_end_offset > (self._loading.log_start_offset or 0)
        last = next((segment for segment in reversed(self.segments) if segment.size and has_records), None)
        first = next(_good_headers(last), None) if last is not None else None
        found: list[EpochEntry] = []
        for segment in self.segments if first is not None and first.partition_leader_epoch >= 0 else ():
            for header in _good_headers(segment):
                if header.partition_leader_epoch > (found[-1].epoch if found else -1):
                    found.append(EpochEntry(header.partition_leader_epoch, header.base_offset))
        self.epochs.replace(found)
        if found or self.epochs.is_damaged:
            why = "it was damaged" if self.epochs.is_damaged else "it had none of their epochs"
            self.recovered.append(f"wrote {FILE_NAME} anew from the batches: {why}")

    def _recover(self, segment: LogSegment, why: str = "after an unclean stop") -> bool:
        state = self._state_before(segment)

        def visit(header: BatchHeader, data: Callable[[], bytes]) -> None:
            epoch, latest = header.partition_leader_epoch, self.epochs.latest_epoch
            if self._had_epochs and epoch >= 0 and (latest is None or epoch > latest):
                self.epochs.assign(epoch, header.base_offset)
            for txn in state.replay(header, data):
                segment.append_aborted_txn(txn)

        removed = segment.recover(visit)
        if removed:
            name = SegmentFile(segment.base_offset, LOG_SUFFIX).name
            self.recovered.append(f"cut {removed} bytes off the end of {name}, {why}")
        return removed > 0

    def _state_before(self, segment: LogSegment) -> ProducerState:
        """The producer state at the start of a segment, without touching the snapshots."""
        loading = self._loading
        state = ProducerState(loading.partition, loading.config.producer_id_expiration_ms)
        earlier = [other for other in self.segments if other.base_offset < segment.base_offset]
        start = max(loading.log_start_offset or 0, earlier[0].base_offset if earlier else segment.base_offset)
        offset, entries = newest_snapshot(loading.directory, start, segment.base_offset)
        state.load(entries, offset, loading.now)
        replay(state, earlier, segment.base_offset)
        return state

    def _remove_segment(self, segment: SegmentReader, why: str = "which came after the cut") -> None:
        for file in self._listed():
            if file.base_offset == segment.base_offset:
                self._files.unlink(self._path(file))
        self.recovered.append(f"removed segment {segment.base_offset}, {why}")

    def _drop_if_behind_start(self) -> None:
        start = self._loading.log_start_offset
        if not self.segments or start is None or self.log_end_offset >= start:
            return
        for segment in self.segments:
            self._remove_segment(segment, f"which ends before offset {start}, where the log begins")
        self.segments.clear()
        self.damaged_end = None
        self.epochs.clear()

    def _create_first(self) -> None:
        self.log_end_offset = self._loading.log_start_offset or 0
        segment = self._segment(self.log_end_offset)
        segment.create()
        self.segments.append(segment)

    def _load_producers(self) -> None:
        loading, end = self._loading, self.log_end_offset
        if loading.clean_shutdown and not self.snapshots.offsets:
            # Kafka takes this for a log from before there were producer ids
            self.state.clear(end)
        else:
            self.snapshots.load_newest(self.state, self.log_start_offset, end, loading.now)
            replay(self.state, self.segments, end)
        self.snapshots.take(self.state)
