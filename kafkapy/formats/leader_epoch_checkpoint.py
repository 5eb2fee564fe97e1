"""A partition's leader epochs: ``leader-epoch-checkpoint``, lines of ``epoch startOffset`` in a checkpoint frame.

Invariant: epochs increase, and so do their start offsets. An epoch ends where the next one starts; the latest one is
still being written and ends at the log's end.

After a crash entries may be stale (a truncation is flushed late), never missing: who loads the log drops those at or
past its end.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.formats import checkpoint_file
from kafkapy.formats.java_parsing import parse_int, parse_long

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE_NAME = "leader-epoch-checkpoint"

UNDEFINED_EPOCH = -1
UNDEFINED_EPOCH_OFFSET = -1


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


def decode(data: bytes, location: str) -> list[EpochEntry]:
    return checkpoint_file.decode(data, location, _entry)


def encode(entries: Iterable[tuple[int, int]]) -> bytes:
    return checkpoint_file.encode([f"{epoch} {start_offset}" for epoch, start_offset in entries])


def _entry(fields: list[str]) -> EpochEntry:
    epoch, start_offset = fields
    return EpochEntry(parse_int(epoch), parse_long(start_offset))


def end_offset_for(entries: Sequence[EpochEntry], requested_epoch: int, log_end_offset: int) -> tuple[int, int]:
    """(epoch, end offset) of the largest epoch <= the requested one; ``entries`` are in order.

    An epoch older than all answers with itself and the first start offset: its data is gone from the log. One newer
    than all is undefined.
    """
    if requested_epoch == UNDEFINED_EPOCH:
        return UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET
    if entries and entries[-1].epoch == requested_epoch:
        return requested_epoch, log_end_offset
    higher = bisect_right(entries, requested_epoch, key=lambda entry: entry.epoch)
    if higher == len(entries):
        return UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET
    floor_epoch = entries[higher - 1].epoch if higher else requested_epoch
    return floor_epoch, entries[higher].start_offset


def epoch_for_offset(entries: Sequence[EpochEntry], offset: int) -> int | None:
    """The epoch that wrote ``offset``; None when it is before the first start offset."""
    after = bisect_right(entries, offset, key=lambda entry: entry.start_offset)
    return entries[after - 1].epoch if after else None
