"""A ``__cluster_metadata-0``, looked at but not replayed: its snapshots, its segments and where they end.

``.part`` and ``.deleted`` files are not looked at. Leader epochs and a quorum state that cannot be read are no reason
not to read the log.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats import leader_epoch_checkpoint, quorum_state, snapshot_id
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.quorum_state import QuorumState
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.log.names import LOG_SUFFIX, parse_segment_file
from kafkapy.metadata.metadata_segments import LogEnd, log_end

DIRECTORY_NAME = "__cluster_metadata-0"


class MetadataDirectory(NamedTuple):
    """``snapshots`` come newest first, ``segments`` are paths in the order of their offsets."""

    log_dir: str
    snapshots: tuple[SnapshotId, ...]
    segments: tuple[str, ...]
    log_end: LogEnd
    last_entry: EpochEntry | None
    """Of the leader epochs."""
    quorum_state: QuorumState | None

    @property
    def path(self) -> str:
        return os.path.join(self.log_dir, DIRECTORY_NAME)

    @property
    def reach(self) -> tuple[int, int]:
        """The farther one of the log and the newest snapshot, if that is whole."""
        return max((self.log_end.reach, *map(age, self.snapshots[:1])))

    @property
    def epochs(self) -> Iterator[int]:
        """Every epoch that the node may have heard of."""
        yield self.reach[0]
        if self.quorum_state is not None:
            yield self.quorum_state.leader_epoch
        if self.last_entry is not None:
            yield self.last_entry.epoch


def look_at(log_dir: str) -> MetadataDirectory:
    """The metadata directory of a log dir that has one."""
    directory = os.path.join(log_dir, DIRECTORY_NAME)
    snapshots, segments = [], []
    for name in os.listdir(directory):
        segment = parse_segment_file(name)
        if segment is not None and segment.suffix == LOG_SUFFIX and not segment.state:
            segments.append((segment.base_offset, os.path.join(directory, name)))
        found = _snapshot_name(name)
        if found is not None:
            snapshots.append(found)
    paths = tuple(path for _, path in sorted(segments))
    newest_first = tuple(sorted(snapshots, key=age, reverse=True))
    last_entry = _last_entry(directory)  # before the log, which may be written to
    return MetadataDirectory(log_dir, newest_first, paths, log_end(paths), last_entry, _quorum_state(directory))


def age(snapshot: SnapshotId) -> tuple[int, int]:
    """By which of two snapshots the one is that is newer; it compares with the reach of a log."""
    return snapshot.epoch, snapshot.end_offset


def _snapshot_name(name: str) -> SnapshotId | None:
    with suppress(FormatError):
        parsed = snapshot_id.parse(name)
        if parsed is not None and not parsed.partial and not parsed.deleted:
            return parsed.snapshot_id
    return None


def _last_entry(directory: str) -> EpochEntry | None:
    path = os.path.join(directory, leader_epoch_checkpoint.FILE_NAME)
    with suppress(OSError, FormatError), open(path, "rb") as file:
        return next(reversed(leader_epoch_checkpoint.decode(file.read(), path)), None)
    return None


def _quorum_state(directory: str) -> QuorumState | None:
    with suppress(OSError, FormatError), open(os.path.join(directory, quorum_state.FILE_NAME), "rb") as file:
        return quorum_state.decode(file.read())
    return None
