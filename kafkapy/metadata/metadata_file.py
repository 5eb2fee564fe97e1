"""One metadata .log or .checkpoint alone as an image, as MetadataShell reads it: without what comes before or after.

What can be read from the beginning is given, with what is wrong behind it. A file of which nothing can be read is none
of the two.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.errors import DamagedFileError, FormatError, KafkapyError
from kafkapy.formats.control_record import ControlRecordType
from kafkapy.log.names import LOG_SUFFIX
from kafkapy.metadata.delta import Replayer
from kafkapy.metadata.image import EMPTY, MetadataImage, Provenance
from kafkapy.metadata.metadata_batch import decode_control
from kafkapy.metadata.metadata_damage import damages_behind
from kafkapy.metadata.metadata_replay import replay_batch
from kafkapy.metadata.metadata_segments import LogEnd, PlacedBatch, good_batches, log_end


class SalvagedImage(NamedTuple):
    """``damage`` says why the image is not all of the file."""

    image: MetadataImage
    damage: DamagedFileError | None

    @property
    def problems(self) -> list[str]:
        """What to tell of the damage, if there is any."""
        return [] if self.damage is None else [str(self.damage)]


def load_file(path: str) -> SalvagedImage:
    """The image of a file; KafkapyError where it holds no metadata."""
    reading = _Reading(path)
    damage = None
    try:
        reading.read()
    except DamagedFileError as error:
        damage = error
    damage = damage or reading.damage_behind()
    if reading.end == LogEnd() and (damage is not None or not path.endswith(LOG_SUFFIX)):
        why = "it is empty" if damage is None else damage.reason
        raise KafkapyError(f"{path} is neither a metadata log nor a snapshot of one: {why}")
    return SalvagedImage(reading.image(), damage)


class _Reading:
    """``end`` is the end of what was read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._replayer = Replayer(EMPTY)
        self._provenance = Provenance()
        self._control: set[ControlRecordType] = set()
        self.end = LogEnd()

    def image(self) -> MetadataImage:
        return self._replayer.image(self._provenance)

    def read(self) -> None:
        for batch in good_batches(self._path):
            header = batch.header
            if header.is_control:
                self._read_control(batch)
            else:
                replay_batch(self._replayer, batch, 0, self._path)
                self._provenance = Provenance(header.last_offset, header.partition_leader_epoch, header.max_timestamp)
            self.end = batch.log_end(self._path)

    def _read_control(self, batch: PlacedBatch) -> None:
        header, body, position = batch
        try:
            self._control |= {kind for kind, _ in decode_control(header, body)}
        except FormatError as error:
            raise DamagedFileError(self._path, position, f"control records that are not KRaft's: {error}") from error

    def damage_behind(self) -> DamagedFileError | None:
        """What is wrong with the bytes that follow, unless somebody is writing them just now."""
        found = next(damages_behind([self._path], self.end), None)
        if found is not None and log_end([self._path]) == self.end:
            reason = "the last batch is not whole" if found.is_torn else found.error.reason
            return DamagedFileError(self._path, self.end.position, reason)
        is_snapshot = ControlRecordType.SNAPSHOT_HEADER in self._control
        if is_snapshot and ControlRecordType.SNAPSHOT_FOOTER not in self._control:
            return DamagedFileError(self._path, os.path.getsize(self._path), "the snapshot ends without its footer")
        return None
