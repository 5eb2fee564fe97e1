"""The names in the keys of an internal topic: group ids in __consumer_offsets, ids in __transaction_state.

Each key begins with the type of its record (int16) and then the name (an int16 length, UTF-8). A name is there while
one of its keys has a value: a record without one is a tombstone. Only keys are decoded. A torn end is what any crash
leaves, and whatever else cannot be read ends the walk of its segment: what was found is better than nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from struct import Struct

from kafkapy.errors import KafkapyError
from kafkapy.log.batch import batch_bytes, read_records, walk
from kafkapy.log.names import LOG_SUFFIX
from kafkapy.log.window import Window

_TYPE_AND_LENGTH = Struct(">hH")
LARGEST_SEGMENTS_BYTES = 64 << 20
"""What is read of a partition: its newest segments up to this, for who presses a key waits."""


def names_in_keys(partitions: Iterable[str]) -> set[str]:
    """The names that are in partition directories of an internal topic."""
    found: set[str] = set()
    for directory in partitions:
        keys: dict[bytes, bool] = {}
        for path in _newest_segments(directory):
            with suppress(KafkapyError, OSError):
                _fold(path, keys)
        found.update(_name(key) for key, has_value in keys.items() if has_value)
    return found


def _newest_segments(directory: str) -> list[str]:
    paths = sorted(entry.path for entry in os.scandir(directory) if entry.name.endswith(LOG_SUFFIX))
    sizes = 0
    newest: list[str] = []
    for path in reversed(paths):
        sizes += os.path.getsize(path)
        if newest and sizes > LARGEST_SEGMENTS_BYTES:
            break
        newest.append(path)
    return newest[::-1]


def _fold(path: str, keys: dict[bytes, bool]) -> None:
    size = os.path.getsize(path)
    if not size:
        return
    with Window(path, size, 0) as window:
        for _, header in walk(window):
            if header.is_control:
                continue
            for record in read_records(header, batch_bytes(window, header.size)):
                if record.key is not None:
                    keys[bytes(record.key)] = record.value is not None


def _name(key: bytes) -> str:
    length = _TYPE_AND_LENGTH.unpack_from(key)[1]
    return key[_TYPE_AND_LENGTH.size :][:length].decode("utf-8", "replace")
