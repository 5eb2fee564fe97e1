"""Writing the metadata log of a cluster directory: the same bytes in every broker's ``__cluster_metadata-0``.

All brokers are controllers with static voters, so a batch counts once a majority has it; here it is appended to all
of them and synced, one after the other. Killed in between, some logs end with the batch and some without. The next
writer takes the log that reaches farthest, as the quorum would, and brings the others to its bytes first: a change is
there whole, or not at all.

A batch carries the highest epoch that any node has seen; with a lower one, real controllers would truncate it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from kafkapy.errors import KafkapyError
from kafkapy.formats import leader_epoch_checkpoint, snapshot_id
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.log.files import Files
from kafkapy.log.names import LOG_SUFFIX, parse_segment_file
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import MetadataImage, Provenance
from kafkapy.metadata.metadata_batch import encode_records
from kafkapy.metadata.metadata_log import DIRECTORY_NAME, load_metadata

LOOK_BACK = 1 << 12


class MetadataWriter:
    """The metadata of a cluster, its image always that of the last batch written."""

    def __init__(self, log_dirs: Sequence[str], files: Files) -> None:
        loaded = load_metadata(*log_dirs)
        if loaded is None or loaded.from_bootstrap:
            raise KafkapyError(f"{log_dirs[0]}: there is no metadata log to write to")
        self._files = files
        self._directories = [os.path.join(log_dir, DIRECTORY_NAME) for log_dir in log_dirs]
        self._best = os.path.join(loaded.log_dir, DIRECTORY_NAME)
        self.image: MetadataImage = loaded.image
        self._end_offset = loaded.end_offset
        self._epoch = loaded.write_epoch
        self.recovered: list[str] = []
        if loaded.torn_bytes:
            self._cut_off(loaded.torn_bytes)
        for directory in self._directories:
            if directory != self._best:
                self._bring_up(directory)
        self._segment = os.path.basename(_segments(self._best)[-1])

    def append(self, records: Sequence[MetadataRecord], now: int) -> None:
        """Write records as one batch and sync it."""
        batch = encode_records(records, self._end_offset, self._epoch, now)
        self._note_epoch()
        for directory in self._directories:
            path = os.path.join(directory, self._segment)
            self._files.append(path, batch)
            self._files.fsync(path)
        self._end_offset += len(records)
        self.image = replay(self.image, records, Provenance(self._end_offset - 1, self._epoch, now))

    def _note_epoch(self) -> None:
        for directory in self._directories:
            path = os.path.join(directory, leader_epoch_checkpoint.FILE_NAME)
            entries = _epochs(path)
            if not entries or entries[-1].epoch < self._epoch:
                entries = [entry for entry in entries if entry.start_offset < self._end_offset]
                entries.append(EpochEntry(self._epoch, self._end_offset))
                self._files.write_atomic(path, leader_epoch_checkpoint.encode(entries))

    def _cut_off(self, torn_bytes: int) -> None:
        path = _segments(self._best)[-1]
        self._files.truncate(path, os.path.getsize(path) - torn_bytes)
        self.recovered.append(f"{path}: {torn_bytes} bytes of an unfinished batch cut off")

    def _bring_up(self, directory: str) -> None:
        """Give a metadata directory what the best one has: snapshots it lacks, and the bytes of every segment."""
        for name in os.listdir(self._best):
            snapshot = snapshot_id.parse(name) if name.endswith(snapshot_id.SUFFIX) else None
            target = os.path.join(directory, name)
            if snapshot is not None and not os.path.exists(target):
                shutil.copy2(os.path.join(self._best, name), target)
        for source in _segments(self._best):
            target = os.path.join(directory, os.path.basename(source))
            if _is_same(source, target):
                continue
            size = os.path.getsize(target) if os.path.exists(target) else 0
            if not _is_prefix(target, size, source):
                self._files.truncate(target, 0)
                size = 0
            with open(source, "rb") as file:
                file.seek(size)
                rest = file.read()
            self._files.append(target, rest)
            self._files.fsync(target)
            self.recovered.append(f"{target}: brought to the same {size + len(rest)} bytes as the others")


def _segments(directory: str) -> list[str]:
    """The segments of a metadata log, in order."""
    names = [name for name in os.listdir(directory) if name.endswith(LOG_SUFFIX)]
    found = sorted((segment.base_offset, name) for name in names if (segment := parse_segment_file(name)) is not None)
    return [os.path.join(directory, name) for _, name in found]


def _is_same(source: str, target: str) -> bool:
    if not os.path.exists(target) or os.path.getsize(source) != os.path.getsize(target):
        return False
    return _is_prefix(target, os.path.getsize(target), source)


def _is_prefix(path: str, size: int, longer: str) -> bool:
    """Whether ``path`` is, by its last bytes, how ``longer`` begins: both only ever grow, batch by batch."""
    if size > os.path.getsize(longer):
        return False
    start = max(0, size - LOOK_BACK)
    return size == 0 or _bytes(path, start, size) == _bytes(longer, start, size)


def _bytes(path: str, start: int, end: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read(end - start)


def _epochs(path: str) -> list[EpochEntry]:
    try:
        with open(path, "rb") as file:
            return leader_epoch_checkpoint.decode(file.read(), path)
    except FileNotFoundError:
        return []
