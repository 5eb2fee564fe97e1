"""Where in a segment to begin, so that a narrow range of offsets or times reads a narrow range of bytes.

The .index leads from an offset to a position, the .timeindex from a time to an offset, the leader-epoch-checkpoint
from an epoch to an offset. An index is a hint: where the batch it names is not there, reading begins at the start.
"""

from __future__ import annotations

import os

from kafkapy.errors import FormatError
from kafkapy.formats import leader_epoch_checkpoint
from kafkapy.formats.offset_index import OffsetIndex
from kafkapy.formats.time_index import TimeIndex
from kafkapy.log.batches import last_offset, next_entry
from kafkapy.log.names import INDEX_SUFFIX, LOG_SUFFIX, TIME_INDEX_SUFFIX, offset_from_file_name
from kafkapy.log.window import Window
from kafkapy.scan.index_dump import beside, mapped
from kafkapy.scan.options import Filters


def logs_in_range(files: list[str], filters: Filters) -> list[str]:
    """The .log files among ``files``, in order, that can hold an offset that is asked for."""
    logs = [path for path in files if path.endswith(LOG_SUFFIX)]
    wanted = []
    for path, following in zip(logs, [*logs[1:], None], strict=True):
        same_log = following is not None and os.path.dirname(following) == os.path.dirname(path)
        end = offset_from_file_name(os.path.basename(following)) if following is not None and same_log else None
        before = end is not None and filters.from_offset is not None and end <= filters.from_offset
        after = filters.to_offset is not None and offset_from_file_name(os.path.basename(path)) > filters.to_offset
        if not before and not after:
            wanted.append(path)
    return wanted


def start_position(path: str, base_offset: int, filters: Filters) -> int:
    """A position of a batch before which no record can be wanted."""
    first = max(
        filters.from_offset or 0,
        _offset_of_time(path, base_offset, filters.from_time),
        _offset_of_epoch(path, filters.partition_leader_epoch),
    )
    if first <= base_offset or not os.path.exists(beside(path, INDEX_SUFFIX)):
        return 0
    with mapped(beside(path, INDEX_SUFFIX)) as data:
        # an entry holds the last offset of its batch, so the batch of a smaller entry lies wholly before
        entry = OffsetIndex(base_offset, data).lookup(first)
    return entry.position if entry.position and _agrees(path, entry.offset, entry.position) else 0


def _offset_of_time(path: str, base_offset: int, from_time: int | None) -> int:
    """Up to the offset of an entry, no record is later than the entry's time."""
    index_path = beside(path, TIME_INDEX_SUFFIX)
    if from_time is None or not os.path.exists(index_path):
        return 0
    with mapped(index_path) as data:
        return TimeIndex(base_offset, data).lookup(from_time - 1).offset


def _offset_of_epoch(path: str, epoch: int | None) -> int:
    checkpoint = os.path.join(os.path.dirname(path), leader_epoch_checkpoint.FILE_NAME)
    if epoch is None or not os.path.exists(checkpoint):
        return 0
    try:
        with open(checkpoint, "rb") as file:
            entries = leader_epoch_checkpoint.decode(file.read(), checkpoint)
    except FormatError:
        return 0
    return next((entry.start_offset for entry in entries if entry.epoch == epoch), 0)


def _agrees(path: str, offset: int, position: int) -> bool:
    with Window(path, start=min(position, os.path.getsize(path))) as window:
        try:
            entry = next_entry(window)
            return entry is not None and last_offset(window, entry) == offset
        except FormatError:
            return False
