"""A file read through a window of bounded size.

The window holds the bytes ``start`` to ``end`` of its buffer, which lie at ``position`` in the file. It grows for a
batch that is larger than itself, up to ``MAX_WINDOW``; what is larger still must be streamed. Reading never goes past
``limit``, so ``--max-bytes`` and growing files look like files that end there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkapy.errors import CorruptRecordError

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

FIRST_WINDOW = 1 << 20
MAX_WINDOW = 1 << 24
PIECE = 1 << 20


class Window:
    """A sliding view of a file."""

    def __init__(self, path: str, limit: int | None = None, start: int = 0) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        self.file_size = os.fstat(self._descriptor).st_size
        self.limit = self.file_size if limit is None else min(limit, self.file_size)
        self.buffer = bytearray(min(FIRST_WINDOW, max(self.limit - start, 64)))
        self.view = memoryview(self.buffer)
        self.position = start
        self.start = self.end = 0

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def remaining(self) -> int:
        """Bytes from here to the limit."""
        return self.limit - self.position

    @property
    def available(self) -> int:
        """Bytes in the window."""
        return self.end - self.start

    def skip_to(self, start: int) -> None:
        """Move on to ``start``, an index into the buffer."""
        self.position += start - self.start
        self.start = start

    def seek(self, position: int) -> None:
        """Move to any place in the file; the window is empty after it, unless the place lies inside."""
        if self.position <= position <= self.position + self.available:
            self.skip_to(self.start + position - self.position)
        else:
            self.position = position
            self.start = self.end = 0

    def fill(self) -> bool:
        """Slide, and read until the window is full or the limit is reached; whether anything was read."""
        if self.start:
            kept = self.available
            self.view[:kept] = self.view[self.start : self.end]
            self.start, self.end = 0, kept
        before = self.end
        while self.end < len(self.buffer):
            rest = self.limit - self.position - self.end
            if rest <= 0:
                break
            target = self.view[self.end : self.end + min(rest, len(self.buffer) - self.end)]
            n = os.preadv(self._descriptor, [target], self.position + self.end)
            if n == 0:
                break
            self.end += n
        return self.end > before

    def ensure(self, size: int) -> bool:
        """Have ``size`` bytes in the window; False where the file or ``MAX_WINDOW`` does not allow it."""
        if self.available >= size:
            return True
        if size > min(self.remaining, MAX_WINDOW):
            return False
        if size > len(self.buffer):
            self._grow(size)
        self.fill()
        return self.available >= size

    def peek(self, position: int, size: int) -> bytes:
        """Up to ``size`` bytes at ``position`` of the file, also past the limit."""
        return os.pread(self._descriptor, size, position)

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes ``start`` to ``end`` of the file, a piece at a time."""
        while start < end:
            piece = self.peek(start, min(PIECE, end - start))
            if not piece:
                raise CorruptRecordError("the file shrank while it was read")
            yield piece
            start += len(piece)

    def map(self, start: int, size: int) -> mmap.mmap:
        """A read-only memory map of a part of the file; ``start`` must be a multiple of the page size."""
        import mmap

        return mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ, offset=start)

    def _grow(self, size: int) -> None:
        larger = bytearray(min(max(size, 2 * len(self.buffer)), MAX_WINDOW))
        kept = self.available
        larger[:kept] = self.view[self.start : self.end]
        self.view.release()
        self.buffer = larger
        self.view = memoryview(larger)
        self.start, self.end = 0, kept
