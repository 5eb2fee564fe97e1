"""Text: the lines of kafka-dump-log.sh --print-data-log, one file a partition and run, in the order of the log.

The file of a first run is what the tool prints of the partition's .log files, up to the end of what is exported. That
of a later run goes on in the middle of a segment, so it begins with a batch; all files of a partition one after the
other are the whole dump again.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.export.plan import Step
from kafkapy.export.staging import new_name
from kafkapy.export.work import Written, synced_size
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.segment_reader import SegmentReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.sink import Buffer, Sink
from kafkapy.scan.dump import dump_part
from kafkapy.scan.options import DumpOptions, Filters
from kafkapy.tables.scan import Mode, Range, Scan


class TextSegment(NamedTuple):
    """A segment's .log up to the byte ``end``. ``heading`` is that its two first lines are still to be written."""

    path: str
    base_offset: int
    start_offset: int
    end: int
    heading: bool


class TextPart(NamedTuple):
    """The segments of one partition."""

    partition: TopicPartition
    offset: int
    timestamps: Range
    resync: bool
    segments: tuple[TextSegment, ...]

    @property
    def size(self) -> int:
        """About how many bytes are read."""
        return sum(segment.end for segment in self.segments)


def text_part(log: PartitionReader, step: Step, scan: Scan) -> TextPart:
    """The segments that hold the offsets of a step."""
    following = [segment.base_offset for segment in log.segments[1:]]
    dumped_to = None if step.done is None else step.done.end
    segments = tuple(
        TextSegment(
            segment.log_path,
            segment.base_offset,
            segment.base_offset if dumped_to is None else step.start,
            _end(segment, step.end),
            dumped_to is None or dumped_to <= segment.base_offset,
        )
        for segment, next_base in zip(log.segments, [*following, log.log_end_offset], strict=True)
        if segment.base_offset < step.end and (dumped_to is None or next_base > step.start)
    )
    return TextPart(step.partition, step.start, scan.timestamps, scan.mode is not Mode.FAILFAST, segments)


def _end(segment: SegmentReader, offset: int) -> int:
    """Where the batches before an offset end."""
    if segment.closed:
        return segment.size
    end = segment.end()
    if end.offset <= offset:
        return end.position
    return next(
        (position for position, header in segment.headers(offset) if header.base_offset >= offset), end.position
    )


def write_text(run: str, part: TextPart) -> tuple[list[Written], list[str]]:
    """Dump the segments into one file; the file, and what was told of damage."""
    staged = os.path.join(run, new_name(str(part.partition), part.offset, 0, ".txt"))
    told: list[str] = []
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    sink = _CountingSink(descriptor)
    try:
        for segment in part.segments:
            sink.skip(0 if segment.heading else _heading_size(segment))
            dump_part(_options(segment, part), sink, told.append)
    finally:
        os.close(descriptor)
    written = Written(part.partition, staged, os.path.basename(staged), sink.lines, synced_size(staged))
    return [written], told


def _options(segment: TextSegment, part: TextPart) -> DumpOptions:
    times = part.timestamps
    filters = Filters(
        from_offset=segment.start_offset if segment.start_offset > segment.base_offset else None,
        from_time=times.start,
        to_time=None if times.end is None else times.end - 1,
    )
    return DumpOptions(
        (segment.path,),
        print_data_log=True,
        max_bytes=segment.end,
        filters=filters,
        resync=part.resync,
        tells_gaps=False,
    )


def _heading_size(segment: TextSegment) -> int:
    return len(
        f"Dumping {segment.path}\nLog starting offset: {segment.base_offset}\n".encode("utf-8", "surrogateescape")
    )


class _CountingSink(Sink):
    """Leaves out the first bytes, and counts lines."""

    lines = 0

    def skip(self, size: int) -> None:
        """Leave out the next bytes that come."""
        self._left_out = size

    def write(self, data: Buffer) -> None:
        """Write what is not left out."""
        rest = memoryview(data)[self._left_out :]
        self._left_out -= min(self._left_out, len(data))
        self.lines += bytes(rest).count(b"\n")
        super().write(rest)
