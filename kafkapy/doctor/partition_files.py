"""The files of one partition directory: segments to the last checksum, indexes against their logs, and small files.

A broker mends indexes, snapshots and what a crash left by itself when it starts, so these are warnings. Damage inside a
log is data that this copy has lost: where the broker was not stopped cleanly, it cuts the log there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from shlex import quote

from kafkapy.doctor.finding import Finding, error, info, warning
from kafkapy.errors import DamagedFileError, FormatError
from kafkapy.formats import leader_epoch_checkpoint, partition_metadata, producer_snapshot
from kafkapy.formats.offset_index import OffsetIndex
from kafkapy.formats.time_index import TimeIndex
from kafkapy.log.batch import batch_bytes, flaw
from kafkapy.log.index_file import read_written
from kafkapy.log.names import (
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    PRODUCER_SNAPSHOT_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    SegmentFile,
    parse_segment_file,
)
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.segment_reader import SegmentReader
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME

SAMPLED_ENTRIES = 64
ON_START = "a broker makes it anew when it starts; kafkapy reads without it"


def check_partition(reader: PartitionReader, is_stopped: bool, is_quick: bool, repair: str) -> Iterator[Finding]:
    """Everything in the directory. ``is_stopped`` says whether its broker stopped in good order, ``is_quick`` leaves
    the inside of segments out, ``repair`` is the command that tells which copy to trust."""
    directory = reader.directory
    damages = list(_segments(reader, is_quick, repair))
    yield from damages
    for segment in reader.segments:
        yield from _indexes(segment, segment.closed or (is_stopped and not directory.endswith(DIRECTORY_NAME)))
    files = filter(None, map(parse_segment_file, sorted(os.listdir(directory))))
    for file in files:
        path = os.path.join(directory, file.name)
        yield from _leftover(path, file)
        if file.suffix == PRODUCER_SNAPSHOT_SUFFIX and not file.state:
            yield from _snapshot(path)
            if file.base_offset > reader.log_end_offset and not damages:
                text = f"says that the log once went to {file.base_offset}, and it ends at {reader.log_end_offset}"
                yield error(path, text, repair)
    yield from _small_files(directory)


def _segments(reader: PartitionReader, is_quick: bool, repair: str) -> Iterator[Finding]:
    missing = reader.damage if reader.damage is not None and reader.damage.startswith(f"{reader.directory}: ") else None
    if missing is not None:
        yield error(reader.directory, _without(reader.directory, missing), repair)
    if not is_quick:
        for segment in reader.segments:
            yield from _batches(segment, repair)
    elif reader.segments:
        last = reader.segments[-1]
        end = last.end()
        if end.reason is not None and not last.is_preallocated(end.position):
            yield _damage(DamagedFileError(last.log_path, end.position, end.reason), last, repair)


def _batches(segment: SegmentReader, repair: str) -> Iterator[Finding]:
    """Every batch against its checksum, its magic and the offsets before it."""
    end = segment.base_offset
    try:
        for window, header in segment.walk_from(segment.base_offset, whole=True):
            at = window.position
            lost = f"offsets {header.base_offset} to {header.last_offset}"
            reason = flaw(header, batch_bytes(window, header.size))
            if reason is not None:
                yield _damage(DamagedFileError(segment.log_path, at, reason), segment, repair, lost)
            elif header.last_offset < end:
                text = f"offset {header.last_offset} at byte {at} stands behind offset {end - 1}"
                yield error(segment.log_path, text, repair)
            end = max(end, header.last_offset + 1)
    except DamagedFileError as problem:
        if not segment.is_preallocated(problem.position):
            yield _damage(problem, segment, repair)


def _damage(problem: DamagedFileError, segment: SegmentReader, repair: str, lost: str = "") -> Finding:
    how = "torn" if "the file ends after" in problem.reason else "damaged"
    lost = lost or f"the last {segment.size - problem.position} bytes"
    text = f"is {how} at byte {problem.position}: {problem.reason}; {lost} cannot be read"
    return error(segment.log_path, text, repair)


def _indexes(segment: SegmentReader, is_trimmed: bool) -> Iterator[Finding]:
    """One that is not trimmed yet has zeros behind its entries: a crash leaves them, and they are no damage. Those of
    the metadata log are made anew at every start, and a cluster directory's has none."""
    offsets, times = segment.path(INDEX_SUFFIX), segment.path(TIME_INDEX_SUFFIX)
    yield from _index(segment, offsets, OffsetIndex, is_trimmed, _disagreement)
    yield from _index(segment, times, TimeIndex, is_trimmed, _time_disagreement)
    try:
        segment.transaction_index.sanity_check()
    except FormatError as problem:
        path = segment.path(TXN_INDEX_SUFFIX)
        yield warning(path, _without(path, str(problem)), ON_START)


def _index(
    segment: SegmentReader,
    path: str,
    kind: type[OffsetIndex] | type[TimeIndex],
    is_trimmed: bool,
    disagreement: Callable[[SegmentReader], str],
) -> Iterator[Finding]:
    try:
        is_whole = is_trimmed or os.path.getsize(path) % kind.ENTRY.size
        with open(path, "rb") as file:
            data = file.read() if is_whole else read_written(path, kind)
        kind(segment.base_offset, data).sanity_check(path)
    except FileNotFoundError:
        if segment.size and not segment.directory.endswith(DIRECTORY_NAME):
            yield warning(path, "is missing", ON_START)
    except FormatError as problem:
        yield warning(path, _without(path, str(problem)), ON_START)
    else:
        wrong = disagreement(segment)
        if wrong:
            yield warning(path, wrong, f"while the broker is stopped, so that it makes it anew: rm {quote(path)}")


def _disagreement(segment: SegmentReader) -> str:
    """What is wrong with an offset index that has the right size; entries are sampled, since there may be a million."""
    index = segment.offset_index
    entries = [index.entry(slot) for slot in range(index.written_count)]
    for before, after in pairwise(entries):
        if after.offset <= before.offset or after.position <= before.position:
            return f"its entries are not in order: offset {after.offset} stands behind {before.offset}"
    step = max(1, len(entries) // SAMPLED_ENTRIES)
    asked = entries[::-1][::step][::-1]
    agreed = {*segment.boundaries(asked)}
    for entry in asked:
        if entry.position >= segment.size and segment.size:
            return f"leads to byte {entry.position}, past the end of the log at {segment.size}"
        if entry.position and entry.position not in agreed:
            return f"says that offset {entry.offset} is at byte {entry.position}, where the log has no such batch"
    return ""


def _time_disagreement(segment: SegmentReader) -> str:
    index = segment.time_index
    entries = [index.entry(slot) for slot in range(index.written_count)]
    for before, after in pairwise(entries):
        if after.timestamp < before.timestamp or after.offset < before.offset:
            return f"its entries are not in order: timestamp {after.timestamp} stands behind {before.timestamp}"
    return ""


def _leftover(path: str, file: SegmentFile) -> Iterator[Finding]:
    if file.state == DELETED_SUFFIX:
        yield info(path, "is on its way out", "a broker removes it when it starts")
    elif file.state:
        yield warning(path, "is left of a compaction that did not finish", "a broker tidies it up when it starts")


def _snapshot(path: str) -> Iterator[Finding]:
    try:
        with open(path, "rb") as file:
            producer_snapshot.decode(file.read())
    except FormatError as problem:
        yield warning(path, f"is damaged: {_without(path, str(problem))}", ON_START)


def _small_files(directory: str) -> Iterator[Finding]:
    path = os.path.join(directory, partition_metadata.FILE_NAME)
    try:
        with open(path, "rb") as file:
            partition_metadata.decode(file.read(), path)
    except FileNotFoundError:
        if not directory.endswith(DIRECTORY_NAME):
            yield info(path, "is missing, as of brokers before 2.8: nothing says which topic id it has", ON_START)
    except FormatError as problem:
        yield error(path, f"is damaged: {_without(path, str(problem))}", "copy it from another replica")
    path = os.path.join(directory, leader_epoch_checkpoint.FILE_NAME)
    try:
        with open(path, "rb") as file:
            leader_epoch_checkpoint.decode(file.read(), path)
    except FileNotFoundError:
        if not directory.endswith(DIRECTORY_NAME):
            yield warning(path, "is missing: the broker cannot tell where it parted from its leader", ON_START)
    except FormatError as problem:
        yield error(path, f"is damaged: {_without(path, str(problem))}", "copy it from another replica, or remove it")


def _without(path: str, text: str) -> str:
    """A message without the path, which the finding names already."""
    return text.removeprefix(f"{path}: ").replace(f" {path}", "").replace(f" ({path})", "")
