"""Where the files of a run are written, and what a run that did not end has left.

    OUT/_kafkapy_export.json               the manifest (manifest.py)
    OUT/.kafkapy-export/lock               held by the run that is under way
    OUT/.kafkapy-export/RUN/part-...       files that are being written
    OUT/[topic=orders/...]part-...         files that are done

    part-TOPIC-PARTITION-OFFSET-NUMBER-ATTEMPT.parquet

OFFSET is where the run began to read the partition, NUMBER that of its piece, so that names sort as rows do. ATTEMPT is
drawn for every file that is begun, so two attempts at the same work never meet, and a name is never used
twice. A RUN directory is the last thing that a run removes: while there is one, there may be files of ours that the
manifest does not name, which the next run removes. What is not named like ours is never touched.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection, Iterator
from uuid import uuid4

from kafkapy.backends.lock_file import LockFile
from kafkapy.errors import KafkapyError
from kafkapy.log.files import Files

DIRECTORY = ".kafkapy-export"
LOCK = "lock"
OURS = re.compile(r"part-.*-[0-9a-f]{32}\.[a-z.]+")


class ExportLock(LockFile):
    """One run at a time."""

    def __init__(self, out: str) -> None:
        self._out = out
        super().__init__(os.path.join(out, DIRECTORY, LOCK))

    def _take(self) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise KafkapyError(f"another export to {self._out} is under way: wait until it has ended") from None
        return descriptor


def new_name(of: str, offset: int, number: int, ending: str) -> str:
    """A name for a file that is begun: ``of`` is the partition, or the table where there is none."""
    return f"part-{of}-{offset:020d}-{number:05d}-{uuid4().hex}{ending}"


def new_run(out: str, files: Files) -> str:
    """The directory of a run that begins."""
    path = os.path.join(out, DIRECTORY, uuid4().hex)
    files.mkdir(path)
    files.fsync_dir(os.path.dirname(path))
    return path


def clean(out: str, kept: Collection[str], files: Files) -> bool:
    """Remove what a run that did not end has left; whether there was one. ``kept`` are the paths of the manifest."""
    runs = list(_runs(out))
    if not runs:
        return False
    for path in _ours(out):
        if os.path.relpath(path, out) not in kept:
            remove(out, path, files)
    for run in runs:
        files.rmtree(run)
    return True


def remove(out: str, path: str, files: Files) -> None:
    """Remove a file, and the directories above it that are empty then."""
    files.unlink(path)
    above = os.path.dirname(path)
    while above != out and not os.listdir(above):
        files.rmtree(above)
        above = os.path.dirname(above)


def _runs(out: str) -> Iterator[str]:
    directory = os.path.join(out, DIRECTORY)
    if os.path.isdir(directory):
        yield from (os.path.join(directory, name) for name in sorted(os.listdir(directory)) if name != LOCK)


def _ours(out: str) -> Iterator[str]:
    for directory, below, names in os.walk(out):
        below[:] = [name for name in below if name != DIRECTORY]
        yield from (os.path.join(directory, name) for name in sorted(names) if OURS.fullmatch(name))
