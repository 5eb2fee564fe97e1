"""One ``__cluster_metadata-0`` as an image: the newest snapshot and the log after it.

Of the whole snapshots it is the one with the highest (epoch, end offset); one that turns out torn gives way to the one
before it. A snapshot that is ahead of the log replaces the log, as it does in Kafka: the node fetched it because its
log had been cut.

Replaying stops where the log cannot be followed: at a batch that is damaged and has segments behind it, at a hole, or
at a record that does not fit. ``damage`` then says so. Bytes behind the last good batch of the last segment are only
counted (``torn_bytes``).
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from kafkapy.errors import DamagedFileError, FormatError, KafkaError
from kafkapy.formats.control_record import ControlRecordType
from kafkapy.formats.message import Value
from kafkapy.formats.quorum_state import QuorumState
from kafkapy.formats.record_batch import BatchHeader
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.metadata.delta import Replayer, replay
from kafkapy.metadata.image import EMPTY, MetadataImage, Provenance
from kafkapy.metadata.metadata_batch import decode_control, decode_metadata
from kafkapy.metadata.metadata_directory import MetadataDirectory, age
from kafkapy.metadata.metadata_segments import PlacedBatch, good_batches
from kafkapy.metadata.metadata_snapshot import Snapshot, read_snapshot


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
    def has_records(self) -> bool:
        """Whether snapshot and log tell of anything; batches of controllers that were elected do not."""
        return not self.from_bootstrap and self.image._replace(provenance=Provenance()) != EMPTY

    @property
    def reach(self) -> tuple[int, int]:
        """By which of two logs the one is that the quorum takes."""
        return self.last_epoch, self.end_offset


def load_directory(directory: MetadataDirectory, write_epoch: int) -> LoadedMetadata:
    """The metadata of one directory, as far as it can be followed from the beginning."""
    base, snapshot = _newest_whole_snapshot(directory)
    start = base.end_offset if base is not None else 0
    epoch = base.epoch if base is not None else 0
    loaded = LoadedMetadata(EMPTY, start, epoch, write_epoch, directory.log_dir, quorum_state=directory.quorum_state)
    if base is not None and snapshot is not None:
        provenance = Provenance(start - 1, base.epoch, snapshot.last_contained_log_timestamp)
        image = replay(EMPTY, snapshot.records, provenance)
        loaded = loaded._replace(image=image, kraft_version=snapshot.kraft_version, voters=snapshot.voters)
        if age(base) > directory.log_end.reach:
            return loaded
    return _LogReplay(directory, loaded).loaded()


def replay_batch(replayer: Replayer, batch: PlacedBatch, from_offset: int, path: str) -> None:
    """Replays the records of a batch from an offset on; DamagedFileError where one does not fit."""
    header, body, position = batch
    offset = header.base_offset
    try:
        for offset, record in decode_metadata(header, body):
            if offset >= from_offset:
                replayer.replay(record)
    except (FormatError, KafkaError) as error:
        reason = f"Error loading metadata log record from offset {offset}: {error}"
        raise DamagedFileError(path, position, reason) from error


def _newest_whole_snapshot(directory: MetadataDirectory) -> tuple[SnapshotId | None, Snapshot | None]:
    for candidate in directory.snapshots:
        with suppress(DamagedFileError):
            return candidate, read_snapshot(os.path.join(directory.path, candidate.file_name()))
    return None, None


class _LogReplay:
    """What follows ``loaded.end_offset`` in the log."""

    def __init__(self, directory: MetadataDirectory, loaded: LoadedMetadata) -> None:
        self._directory = directory
        self._loaded = loaded
        self._replayer = Replayer(loaded.image)
        self._provenance = loaded.image.provenance

    def loaded(self) -> LoadedMetadata:
        torn, damage = 0, None
        try:
            torn = self._replay()
        except DamagedFileError as error:
            damage = error
        image = self._replayer.image(self._provenance)
        return self._loaded._replace(
            image=image, in_transaction=self._replayer.in_transaction, torn_bytes=torn, damage=damage
        )

    def _replay(self) -> int:
        """The bytes behind the last good batch."""
        left = 0
        for path in self._directory.segments:
            position = 0
            for batch in good_batches(path, self._loaded.end_offset):
                position = batch.end
                if batch.header.last_offset >= self._loaded.end_offset:
                    self._replay_batch(batch, path)
            left = os.path.getsize(path) - position
            if left and path != self._directory.segments[-1]:
                raise DamagedFileError(path, position, "a batch that is torn or damaged, and segments follow")
        return left

    def _replay_batch(self, batch: PlacedBatch, path: str) -> None:
        header, body, position = batch
        if header.base_offset > self._loaded.end_offset:
            reason = f"offsets {self._loaded.end_offset} to {header.base_offset} are missing"
            raise DamagedFileError(path if position else self._directory.path, position, reason)
        if header.is_control:
            self._replay_control(header, body)
        else:
            replay_batch(self._replayer, batch, self._loaded.end_offset, path)
        if not self._replayer.in_transaction:
            self._provenance = Provenance(header.last_offset, header.partition_leader_epoch, header.max_timestamp)
        self._loaded = self._loaded._replace(
            end_offset=header.last_offset + 1, last_epoch=header.partition_leader_epoch
        )

    def _replay_control(self, header: BatchHeader, body: bytes) -> None:
        for kind, value in decode_control(header, body):
            if kind is ControlRecordType.KRAFT_VERSION:
                self._loaded = self._loaded._replace(kraft_version=value["kRaftVersion"])
            elif kind is ControlRecordType.KRAFT_VOTERS:
                self._loaded = self._loaded._replace(voters=value)
