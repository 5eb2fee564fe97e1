"""Kafka's ``.lock``: who holds a log dir may write to it.

A broker locks the whole file with a POSIX record lock for as long as it runs; so does kafkapy while it writes. The
system drops the lock with the process, also after a crash, so a file that is left behind means nothing. The system
also knows which process holds it, and an error names it.

Who stops cleanly removes the file. Another process may have opened it just before: it would then hold a lock on a file
that nobody finds any more, so it looks again whether the name still means its file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct

from kafkapy.backends.lock_file import LockFile
from kafkapy.errors import KafkapyError

FILE_NAME = ".lock"
# struct flock of Linux on 64-bit machines: type, whence, start, length, pid
FLOCK = struct.Struct("hhqqi4x")


class LogDirLockError(KafkapyError):
    """A log dir whose lock cannot be had: nothing is wrong with what is in it."""


class LogDirHeldError(LogDirLockError):
    """Another process has the lock; ``waited_s`` is for how long it was waited for."""

    def __init__(self, log_dir: str, held_by: str, waited_s: float = 0) -> None:
        self.log_dir = log_dir
        self.held_by = held_by
        waited = f" (waited for {waited_s:g} s)" if waited_s else ""
        super().__init__(
            f"{log_dir} is held by {held_by}: a broker or another kafkapy is writing to it; stop it, or wait{waited}"
        )

    def after(self, waited_s: float) -> LogDirHeldError:
        """The same, when it was waited for."""
        return LogDirHeldError(self.log_dir, self.held_by, waited_s)


class LogDirLock(LockFile):
    """The lock of one log dir. A clean stop leaves no file, as a broker's does not."""

    def __init__(self, log_dir: str) -> None:
        self.log_dir = log_dir
        super().__init__(os.path.join(log_dir, FILE_NAME))

    def _take(self) -> int:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            raise LogDirLockError(f"the log dir {self.log_dir} is not writable: {error.strerror}") from None
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            held_by = _holder(descriptor)
            os.close(descriptor)
            raise LogDirHeldError(self.log_dir, held_by) from None
        return descriptor


def lock_all(log_dirs: tuple[str, ...]) -> list[LogDirLock]:
    """All of these locks, or none."""
    locks: list[LogDirLock] = []
    try:
        for log_dir in log_dirs:
            locks.append(LogDirLock(log_dir))
    except BaseException:
        for lock in locks:
            lock.release()
        raise
    return locks


def holder_of(log_dir: str) -> str | None:
    """Who holds a log dir just now; nothing is locked to find out, and a file that cannot be opened tells nothing."""
    try:
        descriptor = os.open(os.path.join(log_dir, FILE_NAME), os.O_RDONLY)
    except OSError:
        return None
    try:
        asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind = FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))[0]
        return None if kind == fcntl.F_UNLCK else _holder(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    try:
        pid = FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))[4]
    except OSError:
        pid = 0
    return f"process {pid}{_command(pid)}" if pid > 0 else "another process"


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return f" ({file.read().strip()})"
    except OSError:
        return ""
