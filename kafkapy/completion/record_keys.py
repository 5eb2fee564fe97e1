"""The names in the keys of an internal topic: group ids in __consumer_offsets, ids in __transaction_state.

Each key begins with the type of its record (int16) and then the name (an int16 length, UTF-8). A name is there while
one of its keys has a value: a record without one is a tombstone. Only keys are decoded. A torn end is what any crash
leaves, and whatever else cannot be read ends the walk of its segment: what was found is better than nothing.

Who presses a key waits, so reading ends after a while. Each partition has its share of that time, and newest segments
are read first: what is left out of large logs is what was written long ago.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from struct import Struct
from time import monotonic

from kafkapy.errors import KafkapyError
from kafkapy.log.batch import batch_bytes, read_records, walk
from kafkapy.log.names import LOG_SUFFIX
from kafkapy.log.window import Window

LONGEST_READ_S = 1.0
_TYPE_AND_LENGTH = Struct(">hH")


def names_in_keys(partitions: Sequence[str], longest_s: float = LONGEST_READ_S) -> set[str]:
    """The names that are in partition directories of an internal topic."""
    found: set[str] = set()
    end = monotonic() + longest_s
    for number, directory in enumerate(partitions):
        now = monotonic()
        keys = _keys(directory, now + (end - now) / (len(partitions) - number))
        found.update(_name(key) for key, has_value in keys.items() if has_value)
    return found


def _keys(directory: str, deadline: float) -> dict[bytes, bool]:
    """Every key of a partition, and whether it has a value."""
    keys: dict[bytes, bool] = {}
    logs = (entry.path for entry in os.scandir(directory) if entry.name.endswith(LOG_SUFFIX))
    for path in sorted(logs, reverse=True):
        older: dict[bytes, bool] = {}
        with suppress(KafkapyError, OSError):
            _fold(path, older, deadline)
        keys = {**older, **keys}
    return keys


def _fold(path: str, keys: dict[bytes, bool], deadline: float) -> None:
    with Window(path) as window:
        for _, header in walk(window):
            if monotonic() > deadline:
                return
            if header.is_control:
                continue
            for record in read_records(header, batch_bytes(window, header.size)):
                if record.key is not None:
                    keys[bytes(record.key)] = record.value is not None


def _name(key: bytes) -> str:
    length = _TYPE_AND_LENGTH.unpack_from(key)[1]
    return key[_TYPE_AND_LENGTH.size :][:length].decode("utf-8", "replace")
