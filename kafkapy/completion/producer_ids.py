"""The producers that partition directories know: those in the newest producer snapshot that each has.

A clean stop writes one; after a crash, producers that came later are not offered until the next stop.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from kafkapy.errors import FormatError
from kafkapy.formats.producer_snapshot import decode
from kafkapy.log.names import PRODUCER_SNAPSHOT_SUFFIX


def producer_ids(paths: Iterable[str]) -> set[int]:
    """The producer ids in partition directories; a file stands for the directory that it is in."""
    directories = {path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths}
    found: set[int] = set()
    for directory in directories:
        snapshots = (name for name in os.listdir(directory) if name.endswith(PRODUCER_SNAPSHOT_SUFFIX))
        newest = max(snapshots, default=None)
        if newest is not None:
            with suppress(OSError, FormatError), open(os.path.join(directory, newest), "rb") as file:
                found.update(each.producer_id for each in decode(file.read()))
    return found
