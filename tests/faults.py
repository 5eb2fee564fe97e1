"""Files that stop working: the process is killed at the n-th write, and with it the machine, if one likes.

``FaultyFiles`` counts operations and raises ``Killed`` at the given one, which is done in part or not at all.
``lose_unsynced`` then makes of the directory what a machine could find after a power cut: of what was appended since
the last fsync, any part may be missing. Operations on names are kept, as journalling file systems do. ``TornFiles``
stops the first append at a given byte.
"""

from __future__ import annotations

import os
from random import Random

from kafkapy.log.files import Files


class Killed(BaseException):
    """Not an Exception, so that no handler takes it for an error."""


class FaultyFiles(Files):
    """``kill_at`` is the number of the operation that does not return, from 0; None for none."""

    def __init__(self, kill_at: int | None = None, rng: Random | None = None) -> None:
        super().__init__()
        self.operations = 0
        self._kill_at = kill_at
        self._rng = rng or Random(0)
        self._synced: dict[str, int] = {}

    def append(self, path: str, data: bytes | bytearray | memoryview) -> None:
        self._synced.setdefault(path, os.path.getsize(path) if os.path.exists(path) else 0)
        if self._is_killed():
            super().append(path, bytes(data)[: self._rng.randrange(len(data) + 1)])
            raise Killed
        super().append(path, data)

    def write_atomic(self, path: str, data: bytes) -> None:
        if self._is_killed():
            with open(path + ".tmp", "wb") as file:
                file.write(data[: self._rng.randrange(len(data) + 1)])
            raise Killed
        self._synced[path] = len(data)
        super().write_atomic(path, data)

    def truncate(self, path: str, size: int) -> None:
        self._count()
        super().truncate(path, size)
        self._synced[path] = min(size, self._synced.get(path, size))

    def fsync(self, path: str) -> None:
        self._count()
        self._synced[path] = os.path.getsize(path)

    def fsync_dir(self, path: str) -> None:
        self._count()

    def rename(self, source: str, target: str) -> None:
        self._count()
        super().rename(source, target)
        if source in self._synced:
            self._synced[target] = self._synced.pop(source)

    def set_modified(self, path: str, time_ms: int) -> None:
        self._count()
        super().set_modified(path, time_ms)

    def unlink(self, path: str) -> None:
        self._count()
        super().unlink(path)
        self._synced.pop(path, None)

    def mkdir(self, path: str) -> None:
        self._count()
        super().mkdir(path)

    def rmtree(self, path: str) -> None:
        self._count()
        super().rmtree(path)

    def kill_after(self, operations: int) -> None:
        """Let that many more operations through."""
        self._kill_at = self.operations + operations

    def lose_unsynced(self) -> None:
        """Cut each file somewhere between what was synced and what was written."""
        self.close()
        for path, synced in self._synced.items():
            if os.path.exists(path) and os.path.getsize(path) > synced:
                os.truncate(path, self._rng.randint(synced, os.path.getsize(path)))

    def _is_killed(self) -> bool:
        self.operations += 1
        return self.operations - 1 == self._kill_at

    def _count(self) -> None:
        if self._is_killed():
            raise Killed


class TornFiles(Files):
    """Killed behind so many bytes of an append."""

    def __init__(self, size: int) -> None:
        super().__init__(sync=False)
        self._size = size

    def append(self, path: str, data: bytes | bytearray | memoryview) -> None:
        super().append(path, bytes(data)[: self._size])
        raise Killed
