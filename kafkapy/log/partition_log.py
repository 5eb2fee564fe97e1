"""One partition as a broker writes it: segments, leader epochs, producer state, in one directory.

Invariant: the last segment is the active one, every append goes to its end with the next offset, and a batch is whole
in the log before anything else knows of it. Nothing is appended behind damage (``damaged_end``): a leader refuses, a
follower cuts it off, since its leader has all of that. Bytes below ``recovery_point`` survived an fsync.

Killed at any point, ``open`` finds all that ``flush`` returned for, perhaps batches after that, never half of one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats import partition_metadata
from kafkapy.formats.record_batch import NO_TIMESTAMP, BatchHeader, Record, decode_header, is_valid
from kafkapy.log import validation
from kafkapy.log.log_loader import Loading, LogLoader
from kafkapy.log.log_view import LogView
from kafkapy.log.names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    PRODUCER_SNAPSHOT_SUFFIX,
    SEGMENT_SUFFIXES,
    SWAP_SUFFIX,
    SegmentFile,
)
from kafkapy.log.producer_append import KnownBatch, Origin, ProducerAppend
from kafkapy.log.producer_replay import replay
from kafkapy.log.segment import LogSegment, RollParams
from kafkapy.log.segment_reader import SegmentEnd

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from kafkapy.log.config import LogConfig
    from kafkapy.log.files import Files
    from kafkapy.log.topic_partition import TopicPartition


class AppendInfo(NamedTuple):
    """What an append came to; ``data`` are the bytes as stored, for the other replicas, b"" for a duplicate."""

    first_offset: int
    last_offset: int
    duplicate: bool = False
    log_append_time: int = NO_TIMESTAMP
    max_timestamp: int = NO_TIMESTAMP
    data: bytes = b""


class PartitionLog(LogView[LogSegment]):
    """Made by ``open``. ``missing_from`` is where records are missing before the end, since the .log file of a segment
    is gone; None where none is."""

    def __init__(self, loading: Loading, random: Random | None = None) -> None:
        self.config = loading.config
        self._files = loading.files
        self._random = random
        loader = LogLoader(loading, self._jitter_ms)
        loader.load()
        super().__init__(loading.directory, loading.partition, loader.segments)
        self.recovered = loader.recovered
        self.damaged_end = loader.damaged_end
        self.missing_from = loader.missing_from
        self.epochs = loader.epochs
        self.producers = loader.state
        self._snapshots = loader.snapshots
        self._log_start_offset = loader.log_start_offset
        self._log_end_offset = loader.log_end_offset
        self.recovery_point = loader.log_end_offset if loading.clean_shutdown else loading.recovery_point

    @classmethod
    def open(
        cls,
        directory: str,
        partition: TopicPartition,
        config: LogConfig,
        *,
        files: Files,
        now: int,
        clean_shutdown: bool,
        recovery_point: int = 0,
        log_start_offset: int | None = None,
        topic_id: str | None = None,
        random: Random | None = None,
    ) -> PartitionLog:
        """Open a partition's directory, or make one; ``recovered`` then tells what had to be put right.

        ``topic_id`` is written to a directory that has none, or a damaged one. ``random`` is for segment.jitter.ms.
        """
        loading = Loading(directory, partition, config, files, now, clean_shutdown, recovery_point, log_start_offset)
        log = cls(loading, random)
        if topic_id is not None:
            log._keep_topic_id(topic_id)
        return log

    @property
    def log_end_offset(self) -> int:
        return self._log_end_offset

    @property
    def active_segment(self) -> LogSegment:
        """The one that is appended to."""
        return self.segments[-1]

    def append_as_leader(
        self,
        batch: bytes | list[Record],
        leader_epoch: int,
        now: int,
        origin: Origin = Origin.CLIENT,
        transaction_version: int = 2,
    ) -> AppendInfo:
        """Give a batch the next offsets and append it, or say where it already is."""
        if self.damaged_end is not None:
            topic, number = self.partition
            raise KafkaError(
                "KafkaStorageException",
                f"{self.damaged_end}: nothing is appended behind that; what to do: kafkapy replica-diff "
                f"{topic}:{number} --repair-plan",
            )
        data = batch if isinstance(batch, bytes) else validation.build_batch(batch, self.config)
        header = decode_header(data)
        validation.check_batch(data, header, self.partition, self.config, origin)
        given = validation.Assignment(self._log_end_offset, leader_epoch, now)
        stored, header = validation.assign(data, header, self.partition, self.config, given)
        if header.producer_id >= 0 and origin is Origin.CLIENT:
            known = self.producers.find_duplicate(header)
            if known is not None:
                return _duplicate(known)
        self._append(stored, [header], now, origin, transaction_version)
        appended = now if self.config.is_log_append_time else NO_TIMESTAMP
        return AppendInfo(given.offset, header.last_offset, False, appended, header.max_timestamp, stored)

    def append_as_follower(self, data: bytes, now: int) -> AppendInfo | None:
        """Append whole batches that a leader wrote, as they are; None where there is none."""
        headers = self._checked(data)
        if not headers:
            return None
        self._cut_damaged_end()
        first = headers[0]
        if first.base_offset < self._log_end_offset == self._log_start_offset:
            # records were deleted up to the middle of the batch that is the leader's first
            self.truncate_fully_and_start_at(first.base_offset, now)
        if first.base_offset < self._log_end_offset:
            raise KafkaError(
                "UnexpectedAppendOffsetException",
                f"Unexpected offset in append to {self.partition}. First offset {first.base_offset} is less than the "
                f"next offset {self._log_end_offset}. Log start offset = {self._log_start_offset}",
            )
        self._append(data, headers, now, Origin.REPLICATION, 0)
        latest = max(header.max_timestamp for header in headers)
        return AppendInfo(first.base_offset, headers[-1].last_offset, max_timestamp=latest, data=data)

    def last_stable_offset(self, high_watermark: int) -> int:
        """Where read_committed readers must stop."""
        unstable = self.producers.first_unstable_offset(high_watermark)
        if unstable is None:
            return high_watermark
        return min(high_watermark, max(unstable, self._log_start_offset))

    def increment_log_start_offset(self, offset: int, high_watermark: int | None = None) -> bool:
        """Move the log start forward; whether it moved. Who calls keeps it in the log-start checkpoint."""
        end = self._log_end_offset if high_watermark is None else high_watermark
        if offset > end:
            raise KafkaError(
                "OffsetOutOfRangeException",
                f"Cannot increment the log start offset to {offset} of partition {self.partition} since it is larger "
                f"than the high watermark {end}",
            )
        if offset <= self._log_start_offset:
            return False
        self._log_start_offset = offset
        self.epochs.truncate_from_start(offset)
        self.epochs.flush()
        return True

    def truncate_to(self, offset: int, now: int) -> bool:
        """Cut off everything from ``offset`` on; whether there was anything."""
        self.epochs.truncate_from_end(min(offset, self._log_end_offset))
        self.epochs.flush()
        if offset >= self._log_end_offset:
            return False
        kept = [segment for segment in self.segments if segment.base_offset <= offset]
        for segment in reversed(self.segments[len(kept) :]):
            self.delete_segment(segment)
        self.damaged_end = None
        if self.missing_from is not None and self.missing_from >= offset:
            self.missing_from = None
        if kept:
            self.active_segment.truncate_to(offset)
        else:
            self._add_segment(offset, now)
        self._log_end_offset = offset
        self._log_start_offset = min(offset, self._log_start_offset)
        self.recovery_point = min(offset, self.recovery_point)
        self._snapshots.load_newest(self.producers, self._log_start_offset, offset, now)
        replay(self.producers, self.segments, offset)
        self.flush()
        return True

    def truncate_fully_and_start_at(self, offset: int, now: int) -> None:
        """Cut off everything and go on at ``offset``: the leader's log begins after the end of this one."""
        self.damaged_end = self.missing_from = None
        self.epochs.clear()
        self.epochs.flush()
        for segment in reversed(self.segments[:]):
            self.delete_segment(segment)
        self._add_segment(offset, now)
        self._log_end_offset = self._log_start_offset = offset
        self._snapshots.load_newest(self.producers, offset, offset, now)
        self.flush()

    def roll(self, now: int, base_offset: int | None = None) -> LogSegment:
        """Close the active segment and begin a new one."""
        base_offset = max(base_offset or 0, self._log_end_offset)
        if self.active_segment.base_offset == base_offset:
            return self.active_segment
        self.active_segment.become_inactive()
        self.active_segment.release()
        segment = self._add_segment(base_offset, now)
        self.producers.map_end_offset = base_offset
        self._snapshots.take(self.producers)
        return segment

    def delete_segment(self, segment: LogSegment) -> None:
        """Take a segment out: its files are renamed to .deleted, and removed after file.delete.delay.ms."""
        self._rename(segment.base_offset, "", DELETED_SUFFIX, (*SEGMENT_SUFFIXES, PRODUCER_SNAPSHOT_SUFFIX))
        self.segments.remove(segment)
        if segment.base_offset in self._snapshots.offsets:
            self._snapshots.offsets.remove(segment.base_offset)

    def new_cleaned_segment(self, base_offset: int) -> LogSegment:
        """A segment for compaction to write to, which is not part of the log."""
        segment = LogSegment(self.directory, base_offset, self.config, self._files, state=CLEANED_SUFFIX)
        segment.remove()
        segment.create()
        return segment

    def replace_segments(self, cleaned: LogSegment, replaced: Sequence[LogSegment]) -> None:
        """Put what compaction wrote in the place of what it read.

        Killed before all files of ``cleaned`` are named .swap, they are leftovers; after that, opening the log
        finishes the work.
        """
        first = replaced[0]
        self._rename(cleaned.base_offset, CLEANED_SUFFIX, SWAP_SUFFIX)
        self._files.fsync_dir(self.directory)
        self._rename(first.base_offset, "", DELETED_SUFFIX)
        for segment in replaced[1:]:
            self.delete_segment(segment)
        # the log last, by which opening knows a swap that is not finished
        self._rename(cleaned.base_offset, SWAP_SUFFIX, "", SEGMENT_SUFFIXES[::-1])
        self._files.fsync_dir(self.directory)
        number = self.segments.index(first)
        self.segments[number] = LogSegment(self.directory, first.base_offset, self.config, self._files)

    def flush(self) -> None:
        """Return when all that was appended would survive the machine."""
        self.active_segment.flush()
        self.epochs.flush()
        self.recovery_point = self._log_end_offset

    def close(self, now: int) -> None:
        """Leave the directory as a broker does at a clean stop."""
        self.producers.remove_expired(now)
        self._snapshots.take(self.producers)
        self.active_segment.become_inactive()
        self.flush()
        for segment in self.segments:
            segment.release()

    def _keep_topic_id(self, topic_id: str) -> None:
        try:
            if self.topic_id is not None:
                return
        except FormatError:
            self.recovered.append(f"wrote {partition_metadata.FILE_NAME} anew: it was damaged")
        metadata = partition_metadata.encode(partition_metadata.PartitionMetadata(topic_id))
        self._files.write_atomic(os.path.join(self.directory, partition_metadata.FILE_NAME), metadata)

    def _cut_damaged_end(self) -> None:
        if self.damaged_end is not None:
            segment = self.active_segment
            removed = segment.cut(SegmentEnd(self._log_end_offset, self.damaged_end.position))
            name = os.path.basename(segment.log_path)
            self.recovered.append(f"cut {removed} bytes off the end of {name}, which was damaged")
            self.damaged_end = None

    def _append(
        self, data: bytes, headers: list[BatchHeader], now: int, origin: Origin, transaction_version: int
    ) -> None:
        producers = self._check_producers(data, headers, origin, transaction_version)
        segment = self._segment_for(data, headers, now)
        for header in headers:
            if header.partition_leader_epoch >= 0:
                self.epochs.assign(header.partition_leader_epoch, header.base_offset)
        segment.append(data, headers)
        self._log_end_offset = headers[-1].last_offset + 1
        for append in producers:
            for txn in self.producers.update(append):
                segment.append_aborted_txn(txn)
        self.producers.map_end_offset = self._log_end_offset

    def _check_producers(
        self, data: bytes, headers: list[BatchHeader], origin: Origin, transaction_version: int
    ) -> list[ProducerAppend]:
        checked: dict[int, ProducerAppend] = {}
        position = 0
        for header in headers:
            if header.producer_id >= 0:
                append = checked.get(header.producer_id)
                if append is None:
                    append = self.producers.prepare(header.producer_id, origin, transaction_version)
                    checked[header.producer_id] = append
                append.append(header, lambda: data[position : position + header.size])  # noqa: B023
            position += header.size
        return list(checked.values())

    def _segment_for(self, data: bytes, headers: list[BatchHeader], now: int) -> LogSegment:
        if len(data) > self.config.segment_bytes:
            raise KafkaError(
                "RecordBatchTooLargeException",
                f"Message batch size is {len(data)} bytes in append to partition {self.partition}, which exceeds the "
                f"maximum configured segment size of {self.config.segment_bytes}.",
            )
        latest = max(header.max_timestamp for header in headers)
        if self.active_segment.should_roll(RollParams(len(data), latest, headers[-1].last_offset, now)):
            return self.roll(now, headers[0].base_offset)
        return self.active_segment

    def _checked(self, data: bytes) -> list[BatchHeader]:
        headers, position, last_offset = [], 0, -1
        while position < len(data):
            header = decode_header(data, position)
            if not is_valid(data, header, position):
                raise KafkaError(
                    "CorruptRecordException",
                    f"Record is corrupt (stored crc = {header.crc}) in topic partition {self.partition}.",
                )
            if last_offset >= header.last_offset:
                raise KafkaError(
                    "OffsetsOutOfOrderException",
                    f"Out of order offsets found in append to {self.partition}: {last_offset},{header.last_offset}",
                )
            last_offset = header.last_offset
            headers.append(header)
            position += header.size
        return headers

    def _add_segment(self, base_offset: int, now: int) -> LogSegment:
        segment = LogSegment(self.directory, base_offset, self.config, self._files, now, self._jitter_ms())
        segment.create()
        self.segments.append(segment)
        return segment

    def _rename(self, base_offset: int, state: str, new: str, suffixes: Sequence[str] = SEGMENT_SUFFIXES) -> None:
        """Move a segment's files from one state to another, in the order of ``suffixes``."""
        for suffix in suffixes:
            file = SegmentFile(base_offset, suffix, state)
            path = os.path.join(self.directory, file.name)
            if os.path.exists(path):
                self._files.rename(path, os.path.join(self.directory, file._replace(state=new).name))

    def _jitter_ms(self) -> int:
        bound = min(self.config.segment_jitter_ms, self.config.segment_ms)
        return self._random.randrange(bound) if self._random is not None and bound > 0 else 0


def _duplicate(known: KnownBatch) -> AppendInfo:
    return AppendInfo(known.first_offset, known.last_offset, True, known.timestamp, known.timestamp)
