"""The leader epochs of a partition: where each began, kept in ``leader-epoch-checkpoint``.

Invariant: epochs and start offsets increase together. A new epoch drops those that contradict it.

A new epoch is on disk before the first batch of it is in the log, so after a crash none is missing. Dropped ones are
written late and may be back: who opens the log drops them again, for they start at or past its end or before its start.
A file that was lost or damaged by something else is made anew from the batches, each of which has its epoch
(log_loader.py): without epochs a log seems to know none of what other replicas have. That is one write: a file with
some of its epochs would not be known for what it is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkapy.errors import FormatError
from kafkapy.formats import leader_epoch_checkpoint
from kafkapy.formats.leader_epoch_checkpoint import FILE_NAME, EpochEntry

if TYPE_CHECKING:
    from kafkapy.log.files import Files


class LeaderEpochs:
    """The epochs of one partition directory; ``is_damaged`` says that its file could not be read."""

    def __init__(self, directory: str, files: Files) -> None:
        self.path = os.path.join(directory, FILE_NAME)
        self._files = files
        self.is_damaged = False
        try:
            self.entries = read_epochs(directory)
        except FormatError:
            self.entries, self.is_damaged = [], True
        self._changed = self.is_damaged or not os.path.exists(self.path)

    @property
    def latest_epoch(self) -> int | None:
        """The epoch that is being written, None where no batch had one."""
        return self.entries[-1].epoch if self.entries else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """``epoch`` writes from ``start_offset`` on, unless it is known to begin before."""
        if self.entries and self.entries[-1].epoch == epoch and self.entries[-1].start_offset <= start_offset:
            return
        while self.entries and (self.entries[-1].epoch >= epoch or self.entries[-1].start_offset >= start_offset):
            self.entries.pop()
        self.entries.append(EpochEntry(epoch, start_offset))
        self._changed = True
        self.flush()

    def truncate_from_end(self, end_offset: int) -> None:
        """Drop the epochs that start at or after ``end_offset``."""
        while self.entries and self.entries[-1].start_offset >= end_offset:
            self.entries.pop()
            self._changed = True

    def truncate_from_start(self, start_offset: int) -> None:
        """Drop the epochs that ended at or before ``start_offset``; the one that wrote there starts there."""
        before = [entry for entry in self.entries if entry.start_offset <= start_offset]
        if before and (len(before) > 1 or before[0].start_offset != start_offset):
            self.entries[: len(before)] = [EpochEntry(before[-1].epoch, start_offset)]
            self._changed = True

    def replace(self, entries: list[EpochEntry]) -> None:
        """Have these and no others."""
        self._changed = self._changed or entries != self.entries
        self.entries = entries

    def clear(self) -> None:
        """Drop all."""
        self.replace([])

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest epoch <= the given one."""
        return leader_epoch_checkpoint.end_offset_for(self.entries, epoch, log_end_offset)

    def epoch_for_offset(self, offset: int) -> int | None:
        """The epoch that wrote ``offset``."""
        return leader_epoch_checkpoint.epoch_for_offset(self.entries, offset)

    def flush(self) -> None:
        """Write the file if it is not what the epochs are; without epochs Kafka's new file has no bytes."""
        if self._changed:
            self._files.write_atomic(self.path, leader_epoch_checkpoint.encode(self.entries) if self.entries else b"")
            self._changed = False


def read_epochs(directory: str) -> list[EpochEntry]:
    """The epochs of a partition directory; none where there is no file."""
    path = os.path.join(directory, FILE_NAME)
    try:
        with open(path, "rb") as file:
            return leader_epoch_checkpoint.decode(file.read(), path)
    except FileNotFoundError:
        return []
