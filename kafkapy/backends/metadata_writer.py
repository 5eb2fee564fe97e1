"""Writing the metadata log of a cluster directory: the same bytes in every broker's ``__cluster_metadata-0``.

All brokers are controllers with static voters, so a batch counts once a majority has it; here it is appended to all
of them and synced, one after the other. Killed in between, some logs end with the batch and some without. The next
writer takes the log that reaches farthest, as the quorum would, and brings the others to its bytes first: a change is
there whole, or not at all.

Copies are compared to the last byte: one that is damaged in the middle would otherwise go on growing, and be of no use
when the others are lost.

A batch carries the highest epoch that any node has seen; with a lower one, real controllers would truncate it. Where
bytes are cut off, the segment's indexes go too: a broker makes them anew. Only a write that was not finished is cut
off: where whole batches follow, or something tells that the log was longer, nothing is written at all. A mark of a
clean stop would tell that of the batch that is being written, so there is none beside it meanwhile (clean_mark.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from kafkapy.backends.clean_mark import without_mark
from kafkapy.errors import DamagedFileError, FormatError, KafkapyError
from kafkapy.formats import leader_epoch_checkpoint, snapshot_id
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.log.files import Files
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX, TIME_INDEX_SUFFIX, SegmentFile, parse_segment_file
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import MetadataImage, Provenance
from kafkapy.metadata.metadata_batch import encode_records
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_log import load_metadata
from kafkapy.metadata.metadata_replay import LoadedMetadata
from kafkapy.metadata.metadata_snapshot import write_snapshot
from kafkapy.metadata.records import new_record

COMPARED_AT_ONCE = 1 << 20


class MetadataWriter:
    """The metadata of a cluster, its image always that of the last batch written."""

    def __init__(self, log_dirs: Sequence[str], files: Files) -> None:
        loaded = _load(log_dirs)
        if loaded is None or loaded.from_bootstrap:
            raise KafkapyError(f"{log_dirs[0]}: there is no metadata log to write to")
        self._files = files
        self._directories = [os.path.join(log_dir, DIRECTORY_NAME) for log_dir in log_dirs]
        self._best = os.path.join(loaded.log_dir, DIRECTORY_NAME)
        self.image: MetadataImage = loaded.image
        self._end_offset = loaded.end_offset
        self._epoch = loaded.write_epoch
        self._in_transaction = loaded.in_transaction
        self.recovered: list[str] = []
        if loaded.torn_bytes:
            self._cut_off(loaded.torn_bytes)
        for directory in self._directories:
            if directory != self._best:
                self._bring_up(directory)
        self._segment = self._segment_to_write()

    def append(self, records: Sequence[MetadataRecord], now: int) -> None:
        """Write records as one batch and sync it."""
        if self._in_transaction:  # its controller died in it, and what follows must not count as part of it
            self._write([new_record("AbortTransactionRecord", 0, {"reason": "its controller stopped"})], now)
            self._in_transaction = False
        self._write(records, now)
        self.image = replay(self.image, records, Provenance(self._end_offset - 1, self._epoch, now))

    def write_snapshot(self, taken: SnapshotId, data: bytes) -> None:
        """Put a snapshot beside every log; a node that has none yet could take it from one that has."""
        for directory in self._directories:
            write_snapshot(self._files, directory, taken, data)
        self._segment = self._segment_to_write()

    def _write(self, records: Sequence[MetadataRecord], now: int) -> None:
        batch = encode_records(records, self._end_offset, self._epoch, now)
        self._note_epoch()
        for directory in self._directories:
            self._append(os.path.join(directory, self._segment), batch)
        self._end_offset += len(records)

    def _append(self, path: str, data: bytes) -> None:
        """Append to a segment and sync it."""
        with without_mark(self._files, os.path.dirname(os.path.dirname(path))):
            self._files.append(path, data)
            self._files.fsync(path)

    def _segment_to_write(self) -> str:
        """The last segment; a new one where the log ends with a snapshot, for the segments may end before it."""
        segments = _segments(self._best)
        ends = {parsed.snapshot_id.end_offset for parsed in map(snapshot_id.parse, _snapshots(self._best)) if parsed}
        if segments and self._end_offset not in ends:
            return segments[-1]
        return SegmentFile(self._end_offset, LOG_SUFFIX).name

    def _note_epoch(self) -> None:
        for directory in self._directories:
            path = os.path.join(directory, leader_epoch_checkpoint.FILE_NAME)
            entries = _epochs(path)
            if not entries or entries[-1].epoch < self._epoch:
                entries = [entry for entry in entries if entry.start_offset < self._end_offset]
                entries.append(EpochEntry(self._epoch, self._end_offset))
                self._files.write_atomic(path, leader_epoch_checkpoint.encode(entries))

    def _cut_off(self, torn_bytes: int) -> None:
        path = os.path.join(self._best, _segments(self._best)[-1])
        self._truncate(path, os.path.getsize(path) - torn_bytes)
        self._files.fsync(path)
        self.recovered.append(f"{path}: {torn_bytes} bytes of an unfinished batch cut off")

    def _truncate(self, path: str, size: int) -> None:
        for suffix in (INDEX_SUFFIX, TIME_INDEX_SUFFIX):
            self._files.unlink(path.removesuffix(LOG_SUFFIX) + suffix)
        self._files.truncate(path, size)

    def _bring_up(self, directory: str) -> None:
        """Give a metadata directory what the best one has: the bytes of every segment, the epochs, and the snapshots
        where the segments do not go back to the beginning."""
        if not os.path.isdir(directory):
            self._files.mkdir(directory)
        wanted, before = _segments(self._best), len(self.recovered)
        if SegmentFile(0, LOG_SUFFIX).name not in wanted:
            for name in _snapshots(self._best) - _snapshots(directory):
                self._copy(name, directory)
        for name in _segments(directory):
            if name not in wanted:
                self._truncate(os.path.join(directory, name), 0)
                self._files.unlink(os.path.join(directory, name))
                self.recovered.append(f"{os.path.join(directory, name)}: removed, the others do not have it")
        for name in wanted:
            self._bring_up_segment(os.path.join(self._best, name), os.path.join(directory, name))
        if len(self.recovered) > before and os.path.exists(os.path.join(self._best, leader_epoch_checkpoint.FILE_NAME)):
            self._copy(leader_epoch_checkpoint.FILE_NAME, directory)

    def _bring_up_segment(self, source: str, target: str) -> None:
        if _is_same(source, target):
            return
        size = os.path.getsize(target) if os.path.exists(target) else 0
        if not _is_prefix(target, size, source):
            self._truncate(target, 0)
            size = 0
        rest = _bytes(source, size, os.path.getsize(source))
        self._append(target, rest)
        self.recovered.append(f"{target}: brought to the same {size + len(rest)} bytes as the others")

    def _copy(self, name: str, directory: str) -> None:
        path = os.path.join(self._best, name)
        self._files.write_atomic(os.path.join(directory, name), _bytes(path, 0, os.path.getsize(path)))


def _load(log_dirs: Sequence[str]) -> LoadedMetadata | None:
    try:
        return load_metadata(*log_dirs)
    except DamagedFileError as damage:
        reason = f"{damage.reason}; nothing is written"
        raise DamagedFileError(damage.path, damage.position, reason) from damage


def _segments(directory: str) -> list[str]:
    """The names of a metadata log's segments, in order."""
    files = (parse_segment_file(name) for name in os.listdir(directory) if name.endswith(LOG_SUFFIX))
    return [file.name for file in sorted(file for file in files if file is not None)]


def _snapshots(directory: str) -> set[str]:
    """The names of whole snapshots."""
    found = set()
    for name in os.listdir(directory):
        with suppress(FormatError):
            if name.endswith(snapshot_id.SUFFIX) and snapshot_id.parse(name) is not None:
                found.add(name)
    return found


def _is_same(source: str, target: str) -> bool:
    if not os.path.exists(target) or os.path.getsize(source) != os.path.getsize(target):
        return False
    return _is_prefix(target, os.path.getsize(target), source)


def _is_prefix(path: str, size: int, longer: str) -> bool:
    """Whether ``longer`` begins with the bytes of ``path``: all of them, for one may be damaged anywhere."""
    if size > os.path.getsize(longer):
        return False
    chunks = range(0, size, COMPARED_AT_ONCE)
    ends = (min(start + COMPARED_AT_ONCE, size) for start in chunks)
    return all(_bytes(path, *chunk) == _bytes(longer, *chunk) for chunk in zip(chunks, ends, strict=True))


def _bytes(path: str, start: int, end: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read(end - start)


def _epochs(path: str) -> list[EpochEntry]:
    try:
        with open(path, "rb") as file:
            return leader_epoch_checkpoint.decode(file.read(), path)
    except (FileNotFoundError, FormatError):
        return []
