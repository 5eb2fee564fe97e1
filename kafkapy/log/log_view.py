"""Finding and reading in the segments of one partition, the same for a log that is written and one that is only read.

Invariant: segments are in order of their base offsets and each ends before the next begins. Offsets from
``log_start_offset`` to ``log_end_offset``, exclusive, may be read; compaction may have removed some between.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from typing import TYPE_CHECKING, Generic, TypeVar

from kafkapy.errors import KafkaError
from kafkapy.formats import partition_metadata
from kafkapy.formats.record_batch import NO_TIMESTAMP
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.segment_reader import SegmentReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkapy.formats.time_index import TimestampOffset
    from kafkapy.log.batch import Batch
    from kafkapy.log.topic_partition import TopicPartition

SegmentT = TypeVar("SegmentT", bound=SegmentReader)


def read_topic_id(directory: str) -> str | None:
    """The id in a partition directory's partition.metadata; None in directories that are older than topic ids."""
    path = os.path.join(directory, partition_metadata.FILE_NAME)
    try:
        with open(path, "rb") as file:
            return partition_metadata.decode(file.read(), path).topic_id
    except FileNotFoundError:
        return None


class LogView(Generic[SegmentT]):
    """The reading side of a partition."""

    def __init__(self, directory: str, partition: TopicPartition, segments: list[SegmentT]) -> None:
        self.directory = directory
        self.partition = partition
        self.segments = segments
        self._log_start_offset = 0

    @property
    def log_start_offset(self) -> int:
        """The first offset that may be read."""
        return self._log_start_offset

    @property
    def log_end_offset(self) -> int:
        """The offset that the next record gets."""
        raise NotImplementedError

    def last_stable_offset(self, high_watermark: int) -> int:
        """Where read_committed readers must stop."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Bytes of all segments' logs."""
        return sum(segment.size for segment in self.segments)

    @property
    def topic_id(self) -> str | None:
        """The id in partition.metadata."""
        return read_topic_id(self.directory)

    def read(self, start: int, max_bytes: int | None = None, upper_bound: int | None = None) -> Iterator[Batch]:
        """Whole batches from the one with ``start`` on, which may begin before it, to ``upper_bound``, exclusive.

        At least one batch comes where there is one, also if it alone is larger than ``max_bytes``.
        """
        end = self.log_end_offset if upper_bound is None else min(upper_bound, self.log_end_offset)
        if not self.log_start_offset <= start <= self.log_end_offset:
            raise self._out_of_range(start)
        total = 0
        for segment in self.segments[self._floor(start) :]:
            for batch in segment.read(start, end):
                total += len(batch.data)
                if max_bytes is not None and total > max_bytes and total > len(batch.data):
                    return
                yield batch

    def offset_for_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record at or after ``timestamp``."""
        for segment in self.segments:
            if segment.largest_timestamp >= timestamp:
                found = segment.find_offset_by_timestamp(timestamp, self.log_start_offset)
                if found is not None and found.offset < self.log_end_offset:
                    return found
        return None

    def max_timestamp_offset(self) -> TimestampOffset | None:
        """The largest timestamp, and the first record that has it."""
        latest, largest = None, NO_TIMESTAMP
        for segment in self.segments:
            timestamp = segment.max_timestamp.timestamp
            if timestamp > largest:
                latest, largest = segment, timestamp
        return None if latest is None else latest.offset_of_max_timestamp()

    def aborted_transactions(self, start: int, upper_bound: int) -> list[AbortedTxn]:
        """The aborted transactions with records in [start, upper_bound)."""
        found: list[AbortedTxn] = []
        for segment in self.segments[self._floor(start) :]:
            txns, complete = segment.transaction_index.collect_aborted_txns(start, upper_bound)
            found += txns
            if complete:
                break
        return found

    def _floor(self, offset: int) -> int:
        """The number of the segment that ``offset`` is in."""
        return max(0, bisect_right(self.segments, offset, key=lambda segment: segment.base_offset) - 1)

    def _out_of_range(self, offset: int) -> KafkaError:
        if offset < self.log_start_offset:
            return KafkaError(
                "OffsetOutOfRangeException",
                f"Received request for offset {offset} for partition {self.partition}, but we only have log segments "
                f"starting from offset: {self.log_start_offset}.",
            )
        return KafkaError(
            "OffsetOutOfRangeException",
            f"Received request for offset {offset} for partition {self.partition}, but we only have log segments "
            f"upto {self.log_end_offset}.",
        )
