"""The seam for every write: whatever kafkapy changes on disk goes through a ``Files``.

Invariant: an operation that fails leaves the file as it was, and its error names the file. A short write (a full disk)
is cut off again; a file that is replaced is written beside, synced, and renamed.

After a crash an append may be there in part, a replaced file is old or new. What ``fsync`` has returned for stays.
With ``sync=False`` (play) only a crash of the machine can lose more than that. Tests subclass this to stop a
process after any operation.
"""

from __future__ import annotations

import contextlib
import os

MOST_OPEN = 128
TMP_SUFFIX = ".tmp"


class Files:
    """Files that are appended to stay open, the latest ``MOST_OPEN`` of them."""

    def __init__(self, sync: bool = True) -> None:
        self.sync = sync
        self._open: dict[str, int] = {}

    def append(self, path: str, data: bytes | bytearray | memoryview) -> None:
        """Add to the end of a file, which is made where it is not there."""
        descriptor = self._descriptor(path)
        try:
            written = os.write(descriptor, data)
            if written < len(data):
                self._append_rest(descriptor, memoryview(data), written)
        except OSError as error:
            raise _named(error, path) from None

    def write_atomic(self, path: str, data: bytes) -> None:
        """Replace or make a whole file."""
        self.release(path)
        tmp = path + TMP_SUFFIX
        descriptor = os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            self._write_all(descriptor, memoryview(data))
            if self.sync:
                os.fsync(descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(tmp)
            raise _named(error, path) from None
        finally:
            os.close(descriptor)
        os.replace(tmp, path)
        self.fsync_dir(os.path.dirname(path))

    def truncate(self, path: str, size: int) -> None:
        """Cut a file off at ``size``."""
        try:
            os.ftruncate(self._descriptor(path), size)
        except OSError as error:
            raise _named(error, path) from None

    def fsync(self, path: str) -> None:
        """Return when what the file holds would survive the machine."""
        if not self.sync:
            return
        try:
            os.fsync(self._descriptor(path))
        except OSError as error:
            raise _named(error, path) from None

    def fsync_dir(self, path: str) -> None:
        """Return when the names in a directory would survive the machine."""
        if not self.sync:
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, source: str, target: str) -> None:
        """Rename, over a file that has the new name."""
        self.release(source)
        self.release(target)
        os.replace(source, target)

    def set_modified(self, path: str, time_ms: int) -> None:
        """Date a file."""
        os.utime(path, ns=(time_ms * 1_000_000, time_ms * 1_000_000))

    def unlink(self, path: str) -> None:
        """Remove a file; one that is not there is no error."""
        self.release(path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def mkdir(self, path: str) -> None:
        """Make a directory and those above it; one that is there is no error."""
        os.makedirs(path, exist_ok=True)

    def rmtree(self, path: str) -> None:
        """Remove a directory and all it holds."""
        import shutil

        for held in [held for held in self._open if held.startswith(path + os.sep)]:
            self.release(held)
        shutil.rmtree(path)

    def release(self, path: str) -> None:
        """Let go of an open file."""
        descriptor = self._open.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """Let go of all open files."""
        for path in list(self._open):
            self.release(path)

    def _descriptor(self, path: str) -> int:
        descriptor = self._open.get(path)
        if descriptor is None:
            if len(self._open) >= MOST_OPEN:
                self.release(next(iter(self._open)))
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            self._open[path] = descriptor
        return descriptor

    def _append_rest(self, descriptor: int, data: memoryview, written: int) -> None:
        before = os.fstat(descriptor).st_size - written
        try:
            self._write_all(descriptor, data[written:])
        except OSError:
            os.ftruncate(descriptor, before)
            raise

    @staticmethod
    def _write_all(descriptor: int, data: memoryview) -> None:
        while len(data):
            data = data[os.write(descriptor, data) :]


def _named(error: OSError, path: str) -> OSError:
    """The same error with the file's name: the system knows none where it is given a descriptor."""
    return OSError(error.errno, error.strerror, path)
