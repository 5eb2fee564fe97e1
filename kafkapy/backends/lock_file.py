"""A file whose lock a process holds for as long as it does something that only one may do at a time.

The file is removed with the lock. Whoever came for it just then may have locked a file that has no name any more, so a
lock counts only where the name still means the file. After a crash the system has dropped the lock, and a file that is
left behind means nothing.
"""

from __future__ import annotations

import os


class LockFile:
    """A lock, taken when made; how, and what is said where another process has it, is for subclasses to say."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = self._take()
        while not self._is_current():
            os.close(self._descriptor)
            self._descriptor = self._take()

    def _take(self) -> int:
        """Open and lock the file, made where it is not there; the descriptor, or an error that names the holder."""
        raise NotImplementedError

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others have it; no file is left."""
        os.unlink(self._path)
        os.close(self._descriptor)
