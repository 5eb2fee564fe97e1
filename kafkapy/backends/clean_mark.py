"""The mark of a clean stop of a log dir, taken away while something is written there.

Who finds a mark takes the files for what was left in good order: a log whose last batch is not whole has then lost what
was acknowledged. So the mark is gone, also for the machine, before the first byte is written, and put back after the
last one is synced. Killed in between, there is none, and the batch that is not whole is a write that was not finished.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kafkapy.formats import clean_shutdown
from kafkapy.log.files import Files


def take_away(files: Files, log_dir: str) -> bytes | None:
    """The mark that was there, if there was one."""
    path = _path(log_dir)
    try:
        with open(path, "rb") as file:
            mark = file.read()
    except FileNotFoundError:
        return None
    files.unlink(path)
    files.fsync_dir(log_dir)
    return mark


def leave(files: Files, log_dir: str, mark: bytes) -> None:
    """Say that all was left in good order."""
    files.write_atomic(_path(log_dir), mark)


@contextmanager
def without_mark(files: Files, log_dir: str) -> Iterator[None]:
    """A log dir without its mark; what fails inside leaves none, as it may have been done in part."""
    mark = take_away(files, log_dir)
    yield
    if mark is not None:
        leave(files, log_dir, mark)


def _path(log_dir: str) -> str:
    return os.path.join(log_dir, clean_shutdown.FILE_NAME)
