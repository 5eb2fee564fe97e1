"""Who changes ``config.yaml``: one process at a time, from reading the file to replacing it.

    .config.yaml.lock   beside the file, for as long as it is changed

Without it, of two that read the same file the one who writes last would undo what the other did. A change takes a
moment, so whoever comes meanwhile waits. After a crash the system has dropped the lock, and a file that is left behind
means nothing. Reading needs no lock: the file is replaced as a whole.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafkapy.backends.lock_file import LockFile
from kafkapy.contexts.config_file import config_path
from kafkapy.errors import KafkapyError

WAIT_S, PAUSE_S = 10.0, 0.02


class ConfigLock(LockFile):
    """The lock of one file."""

    def __init__(self, config: str) -> None:
        self._config = config
        directory, name = os.path.split(os.path.realpath(config))  # a link and what it leads to have the same lock
        os.makedirs(directory, mode=0o700, exist_ok=True)
        super().__init__(os.path.join(directory, f".{name}.lock"))

    def _take(self) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        begun = time.monotonic()
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except BlockingIOError:
                if time.monotonic() - begun >= WAIT_S:
                    os.close(descriptor)
                    raise KafkapyError(
                        f"{self._config} is being changed by another kafkapy (waited for {WAIT_S:g} s): try again"
                    ) from None
                time.sleep(PAUSE_S)
            except BaseException:
                os.close(descriptor)
                raise


@contextmanager
def config_locked() -> Iterator[None]:
    """Nobody else changes the user's file meanwhile."""
    lock = ConfigLock(config_path())
    try:
        yield
    finally:
        lock.release()
