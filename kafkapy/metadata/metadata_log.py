"""Loading ``__cluster_metadata-0``: the newest snapshot and the log after it, as one image. Nothing is written.

Which snapshot: of the whole ones the one with the highest (epoch, end offset); ``.part`` and ``.deleted`` files are not
looked at, and one that turns out torn gives way to the one before it. A snapshot that is ahead of the log replaces
the log, as it does in Kafka: the node fetched it because its log had been cut.

After a crash the last segment may end in a torn batch. The log ends before it: the bytes behind are counted in
``torn_bytes`` and whoever writes next cuts them off. All else that is missing is damage (metadata_damage.py): a batch
that whole ones follow, an end before what a snapshot or the leader epochs tell of, a log without records beside
partitions. ``salvage_metadata`` says so in ``damage`` and gives what is before; ``load_metadata`` refuses.

Where no record was ever written (the cluster was formatted and never started), ``bootstrap.checkpoint`` is the image:
the records that the first controller will write. Of several log dirs the one with the highest (last epoch, end
offset) is the truth, for a follower's log may end earlier; what is damaged in one is no loss where another has it.

Who appends uses ``write_epoch``: the highest epoch that any node has heard of. A batch with a lower one would be
cut off by the next leader.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from kafkapy.errors import DamagedFileError, FormatError, KafkaError
from kafkapy.formats import leader_epoch_checkpoint, quorum_state, snapshot_id
from kafkapy.formats.control_record import ControlRecordType
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.formats.message import Value
from kafkapy.formats.quorum_state import QuorumState
from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, decode_header, is_valid
from kafkapy.formats.snapshot_id import BOOTSTRAP_FILE_NAME, SnapshotId
from kafkapy.log.names import LOG_SUFFIX, parse_segment_file, partition_dirs
from kafkapy.metadata.delta import Replayer, replay
from kafkapy.metadata.image import EMPTY, MetadataImage, Provenance
from kafkapy.metadata.metadata_batch import decode_control, decode_metadata
from kafkapy.metadata.metadata_damage import LogEnd, damage_behind
from kafkapy.metadata.metadata_snapshot import Snapshot, decode_snapshot

DIRECTORY_NAME = "__cluster_metadata-0"

_READ_AHEAD = 1 << 20


class LoadedMetadata(NamedTuple):
    image: MetadataImage
    end_offset: int
    """The offset of the next record."""
    last_epoch: int
    """The epoch of the last batch, or of the snapshot where nothing follows it; 0 for an empty log."""
    write_epoch: int
    log_dir: str
    """The log dir that the image was read from."""
    kraft_version: int = 0
    voters: Value | None = None
    """The last VotersRecord; None with static voters, whom the quorum-state lists."""
    quorum_state: QuorumState | None = None
    in_transaction: bool = False
    """The log ends in an open metadata transaction: an AbortTransactionRecord has to be written first."""
    from_bootstrap: bool = False
    """The image is bootstrap.checkpoint's: its records are not in the log yet."""
    torn_bytes: int = 0
    damage: DamagedFileError | None = None
    """Why this is not all of the metadata."""

    @property
    def reach(self) -> tuple[int, int]:
        """By which of two logs the one is that the quorum takes."""
        return self.last_epoch, self.end_offset


class _Log(NamedTuple):
    """A metadata directory, looked at but not replayed."""

    log_dir: str
    snapshots: tuple[SnapshotId, ...]
    segments: tuple[str, ...]
    log_end: LogEnd
    last_entry: EpochEntry | None
    """Of the leader epochs."""

    @property
    def directory(self) -> str:
        return os.path.join(self.log_dir, DIRECTORY_NAME)

    @property
    def reach(self) -> tuple[int, int]:
        """The farther one of the log and the newest snapshot, if that is whole."""
        return max((self.log_end.reach, *map(_age, self.snapshots[:1])))


def load_metadata(*log_dirs: str) -> LoadedMetadata | None:
    """The metadata in these log dirs of one cluster, None where they hold none; DamagedFileError where it is not all
    there."""
    loaded = salvage_metadata(*log_dirs)
    if loaded is not None and loaded.damage is not None:
        raise loaded.damage
    return loaded


def salvage_metadata(*log_dirs: str) -> LoadedMetadata | None:
    """The same as far as it can be read from the beginning."""
    logs = [_look_at(log_dir) for log_dir in log_dirs if os.path.isdir(os.path.join(log_dir, DIRECTORY_NAME))]
    write_epoch = max((epoch for log in logs for epoch in _epochs(log)), default=0)
    loaded = _load_farthest(logs, write_epoch) if logs else None
    if loaded is not None:
        loaded = loaded._replace(damage=_damage(logs, loaded))
        if loaded.image._replace(provenance=Provenance()) != EMPTY:
            return loaded
    for log_dir in log_dirs:
        bootstrap = _load_bootstrap(log_dir, loaded)
        if bootstrap is not None:
            loaded = bootstrap
            break
    return loaded if loaded is None or loaded.damage else loaded._replace(damage=_emptied(log_dirs))


def _load_farthest(logs: Sequence[_Log], write_epoch: int) -> LoadedMetadata:
    """The log that reaches farthest; where it cannot be read that far, another that can."""
    in_order = sorted(logs, key=lambda log: log.reach, reverse=True)
    farthest, failure = None, None
    for log in in_order:
        try:
            loaded = _load(log, write_epoch)
        except DamagedFileError as error:
            failure = failure or error
            continue
        if farthest is None or loaded.reach > farthest.reach:
            farthest = loaded
        if farthest.reach >= in_order[0].reach:
            return farthest
    if failure is not None:
        raise failure
    assert farthest is not None
    return farthest


def _damage(logs: Sequence[_Log], loaded: LoadedMetadata) -> DamagedFileError | None:
    """What shows, in any of the logs, that there was more than what was loaded."""
    for log in logs:
        found = damage_behind(log.segments, log.log_end)
        if found is not None and found.reach > loaded.reach and _log_end(log.segments) == log.log_end:
            return found.error  # nobody is writing there: it looks the same as before
    for log in logs:
        if log.snapshots and _age(log.snapshots[0]) > loaded.reach:
            path = os.path.join(log.directory, log.snapshots[0].file_name())
            reason = f"this snapshot is not whole, and without it the log ends at offset {loaded.end_offset}"
            return DamagedFileError(path, 0, reason)
        entry = log.last_entry
        if entry is not None and entry.epoch >= loaded.last_epoch and entry.start_offset > loaded.end_offset:
            path = log.segments[-1] if log.segments else log.directory
            once = f"{leader_epoch_checkpoint.FILE_NAME} says that it went to {entry.start_offset}"
            reason = f"the log ends there, at offset {log.log_end.offset}, and {once}"
            return DamagedFileError(path, log.log_end.position, reason)
    return None


def _emptied(log_dirs: Sequence[str]) -> DamagedFileError | None:
    """The error that no record is left: who has partitions was told of them by records."""
    for log_dir in log_dirs:
        if any(os.path.basename(path) != DIRECTORY_NAME for _, path in partition_dirs(log_dir)):
            path = os.path.join(log_dir, DIRECTORY_NAME)
            return DamagedFileError(path, 0, "it has no records, and there are partitions beside it")
    return None


def load_file(path: str) -> MetadataImage:
    """The image of one metadata .log or .checkpoint file alone, as MetadataShell reads it."""
    replayer = Replayer(EMPTY)
    provenance = Provenance()
    for header, body, position in _batches(path, 0, last=True):
        if not header.is_control:
            _replay_batch(replayer, header, body, 0, path, position)
            provenance = Provenance(header.last_offset, header.partition_leader_epoch, header.max_timestamp)
    return replayer.image(provenance)


def read_snapshot(path: str) -> Snapshot:
    """A snapshot file; DamagedFileError if it is not whole."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return decode_snapshot(data)
    except FormatError as error:
        raise DamagedFileError(path, 0, str(error)) from error


def _look_at(log_dir: str) -> _Log:
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
    newest_first = tuple(sorted(snapshots, key=_age, reverse=True))
    last_entry = _last_entry(directory)  # before the log, which may be written to
    return _Log(log_dir, newest_first, paths, _log_end(paths), last_entry)


def _snapshot_name(name: str) -> SnapshotId | None:
    with suppress(FormatError):
        parsed = snapshot_id.parse(name)
        if parsed is not None and not parsed.partial and not parsed.deleted:
            return parsed.snapshot_id
    return None


def _age(snapshot: SnapshotId) -> tuple[int, int]:
    return snapshot.epoch, snapshot.end_offset


def _log_end(segments: Sequence[str]) -> LogEnd:
    """Where the log ends; an empty last segment leaves it to the one before."""
    for path in reversed(segments):
        end = None
        for header, _, position in _batches(path, 0, last=True):
            end = LogEnd(header.partition_leader_epoch, header.last_offset + 1, path, position + header.size)
        if end is not None:
            return end
    return LogEnd()


def _epochs(log: _Log) -> Iterator[int]:
    """Every epoch that the node may have heard of; unreadable marks are no reason not to read the log."""
    yield log.reach[0]
    state = _quorum_state(log)
    if state is not None:
        yield state.leader_epoch
    if log.last_entry is not None:
        yield log.last_entry.epoch


def _last_entry(directory: str) -> EpochEntry | None:
    path = os.path.join(directory, leader_epoch_checkpoint.FILE_NAME)
    with suppress(OSError, FormatError), open(path, "rb") as file:
        return next(reversed(leader_epoch_checkpoint.decode(file.read(), path)), None)
    return None


def _quorum_state(log: _Log) -> QuorumState | None:
    with suppress(OSError, FormatError), open(os.path.join(log.directory, quorum_state.FILE_NAME), "rb") as file:
        return quorum_state.decode(file.read())
    return None


def _load(log: _Log, write_epoch: int) -> LoadedMetadata:
    base, snapshot = _newest_whole_snapshot(log)
    start = base.end_offset if base is not None else 0
    epoch = base.epoch if base is not None else 0
    loaded = LoadedMetadata(EMPTY, start, epoch, write_epoch, log.log_dir, quorum_state=_quorum_state(log))
    if base is not None and snapshot is not None:
        provenance = Provenance(start - 1, base.epoch, snapshot.last_contained_log_timestamp)
        image = replay(EMPTY, snapshot.records, provenance)
        loaded = loaded._replace(image=image, kraft_version=snapshot.kraft_version, voters=snapshot.voters)
        if _age(base) > log.log_end.reach:
            return loaded
    return _replay_log(log, loaded)


def _newest_whole_snapshot(log: _Log) -> tuple[SnapshotId | None, Snapshot | None]:
    for candidate in log.snapshots:
        with suppress(DamagedFileError):
            return candidate, read_snapshot(os.path.join(log.directory, candidate.file_name()))
    return None, None


def _replay_log(log: _Log, loaded: LoadedMetadata) -> LoadedMetadata:
    """Replays what follows ``loaded.end_offset``."""
    replayer = Replayer(loaded.image)
    provenance = loaded.image.provenance
    position = 0
    path = ""
    for path in log.segments:
        position = 0
        for header, body, start in _batches(path, loaded.end_offset, last=path == log.segments[-1]):
            position = start + header.size
            if header.last_offset < loaded.end_offset:
                continue
            if header.base_offset > loaded.end_offset:
                raise DamagedFileError(path, start, f"offsets {loaded.end_offset} to {header.base_offset} are missing")
            if header.is_control:
                loaded = _replay_control(loaded, header, body)
            else:
                _replay_batch(replayer, header, body, loaded.end_offset, path, start)
            if not replayer.in_transaction:
                provenance = Provenance(header.last_offset, header.partition_leader_epoch, header.max_timestamp)
            loaded = loaded._replace(end_offset=header.last_offset + 1, last_epoch=header.partition_leader_epoch)
    torn = os.path.getsize(path) - position if path else 0
    image = replayer.image(provenance)
    return loaded._replace(image=image, in_transaction=replayer.in_transaction, torn_bytes=torn)


def _replay_batch(
    replayer: Replayer, header: BatchHeader, body: bytes, from_offset: int, path: str, position: int
) -> None:
    offset = header.base_offset
    try:
        for offset, record in decode_metadata(header, body):
            if offset >= from_offset:
                replayer.replay(record)
    except (FormatError, KafkaError) as error:
        reason = f"Error loading metadata log record from offset {offset}: {error}"
        raise DamagedFileError(path, position, reason) from error


def _replay_control(loaded: LoadedMetadata, header: BatchHeader, body: bytes) -> LoadedMetadata:
    for kind, value in decode_control(header, body):
        if kind is ControlRecordType.KRAFT_VERSION:
            loaded = loaded._replace(kraft_version=value["kRaftVersion"])
        elif kind is ControlRecordType.KRAFT_VOTERS:
            loaded = loaded._replace(voters=value)
    return loaded


def _load_bootstrap(log_dir: str, loaded: LoadedMetadata | None) -> LoadedMetadata | None:
    path = os.path.join(log_dir, BOOTSTRAP_FILE_NAME)
    if not os.path.isfile(path):
        return None
    image = replay(EMPTY, read_snapshot(path).records)
    loaded = loaded or LoadedMetadata(EMPTY, 0, 0, 0, log_dir)
    return loaded._replace(image=image._replace(provenance=loaded.image.provenance), from_bootstrap=True)


def _batches(path: str, from_offset: int, *, last: bool) -> Iterator[tuple[BatchHeader, bytes, int]]:
    """The batches of a segment with their positions; those that end before ``from_offset`` without their bodies.

    In the last segment they end at the first batch that is torn; in another one that is damage.
    """
    position = 0
    with open(path, "rb", buffering=_READ_AHEAD) as file:
        size = os.fstat(file.fileno()).st_size
        while position < size:
            data = file.read(HEADER_SIZE)
            header = decode_header(data) if len(data) == HEADER_SIZE else None
            if header is None or not _fits(header, size - position):
                break
            if header.last_offset < from_offset:
                file.seek(position + header.size)
                body = b""
            else:
                body = file.read(header.size - HEADER_SIZE)
                if not is_valid(data + body, header):
                    break
            yield header, body, position
            position += header.size
        else:
            return
    if not last:
        raise DamagedFileError(path, position, "a batch that is torn or damaged, and segments follow")


def _fits(header: BatchHeader, left: int) -> bool:
    return header.magic == 2 and HEADER_SIZE <= header.size <= left
