"""Who consumes with a group in a cluster directory: one process at a time.

    .group-orders-app.lock   in the cluster directory: "1234 1794800000000\\n", the process and since when (ms)

The members of a group live in one process, so a second one would take the first one's members for dead. The process
holds a flock on the file for as long as it consumes and removes the file at the end. After a crash the system has
dropped the lock, so a file that is left behind means nothing, and whoever comes next takes it over.

Who only asks for the holder has a shared lock for a moment. A process that wants the group just then tries again.
"""

from __future__ import annotations

import fcntl
import os
import time

from kafkapy.backends.lock_file import LockFile
from kafkapy.errors import KafkapyError
from kafkapy.formats.time_text import utc_text

LONGEST_NAME = 200  # of 255 bytes that file systems allow
TRIES, PAUSE_S = 3, 0.02


class GroupLock(LockFile):
    """The lock of one group."""

    def __init__(self, directory: str, group_id: str, now_ms: int) -> None:
        self._group_id = group_id
        super().__init__(_path(directory, group_id))
        try:
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()} {now_ms}\n".encode())
        except OSError as error:
            self.release()
            raise OSError(error.errno, error.strerror, self._path) from None

    def _take(self) -> int:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise KafkapyError(
                f"{os.path.dirname(self._path)} cannot be written ({error.strerror}), and members of a group commit "
                "there: read without a group"
            ) from None
        for _ in range(TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except OSError:
                time.sleep(PAUSE_S)
        held_by = _holder(descriptor)
        os.close(descriptor)
        raise KafkapyError(
            f"group {self._group_id} is consumed by {held_by}: stop it, have more members in one process with "
            "--members, or use another group"
        )


def holder(directory: str, group_id: str) -> str | None:
    """The process that consumes with a group, in words; None for none."""
    try:
        descriptor = os.open(_path(directory, group_id), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)


def _path(directory: str, group_id: str) -> str:
    return os.path.join(directory, f".group-{_file_name(group_id)}.lock")


def _holder(descriptor: int) -> str:
    try:
        pid, since_ms = map(int, os.pread(descriptor, 64, 0).split())
    except ValueError:
        return "another process"
    return f"process {pid} since {utc_text(since_ms)}"


def _file_name(group_id: str) -> str:
    """The group id with all that a file name cannot have in percent codes; a long one by its hash."""
    from urllib.parse import quote

    quoted = quote(group_id, safe="")
    if len(quoted) <= LONGEST_NAME:
        return quoted
    from hashlib import sha256

    return sha256(group_id.encode()).hexdigest()
