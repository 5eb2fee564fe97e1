"""What the offset index and the time index have in common.

Format: entries of one fixed size, back to back, no header and no checksum. Each entry ends or begins with an
int32 offset relative to the segment's base offset, so four bytes are enough for it.

Invariant: entries are appended in increasing order. While its segment is active the file is preallocated with zeros;
a roll or a clean stop trims it. So the written entries end where the relative offset falls back to 0 at any slot
but the first.

After a crash the zeros are still there. Kafka counts them as entries (``entry_count`` is the file's length divided by
the entry size, a ragged end is dropped), fails its sanity check on them and rebuilds the index from the log. kafkapy
reads such files in place, so ``lookup`` and ``last_entry`` see the written entries only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from struct import Struct
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from kafkapy.errors import CorruptIndexError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap
    from typing import TypeAlias

    ReadableBuffer: TypeAlias = bytes | bytearray | memoryview | mmap

EntryT = TypeVar("EntryT")

MAX_RELATIVE_OFFSET = 2**31 - 1


class AbstractIndex(Generic[EntryT]):
    """A read-only view of an index file's bytes; it copies nothing and holds no export of the buffer."""

    ENTRY: ClassVar[Struct]

    def __init__(self, base_offset: int, buffer: ReadableBuffer) -> None:
        self.base_offset = base_offset
        self.buffer = buffer
        self.length = len(buffer)
        self.entry_count = self.length // self.ENTRY.size
        self.written_count = self._count_written()

    def entry(self, n: int) -> EntryT:
        """The entry in slot ``n``, written or not."""
        raise NotImplementedError

    def sanity_check(self, location: str) -> None:
        """Raise what Kafka raises on load, when it decides to rebuild the index; ``location`` is the absolute path."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[EntryT]:
        """The entries as DumpLogSegments walks them: slot 0 always, then up to the first relative offset of 0."""
        for n in range(self.entry_count):
            if n > 0 and self._relative_offset(n) == 0:
                return
            yield self.entry(n)

    def _relative_offset(self, n: int) -> int:
        raise NotImplementedError

    def _key(self, n: int) -> int:
        """What ``lookup`` searches by."""
        raise NotImplementedError

    def _largest_lower_bound_slot(self, target: int) -> int:
        """The last written slot whose key is <= target, -1 when there is none."""
        return bisect_right(range(self.written_count), target, key=self._key) - 1

    def _count_written(self) -> int:
        if self.entry_count == 0:
            return 0
        later = range(1, self.entry_count)
        count = 1 + bisect_left(later, True, key=lambda n: self._relative_offset(n) == 0)
        size = self.ENTRY.size
        # A preallocated file that nothing was written to; losing a genuine entry of zeros only makes the index sparser.
        if count == 1 < self.entry_count and self.buffer[:size] == bytes(size):
            return 0
        return count


def relative_offset(base_offset: int, offset: int) -> int:
    """``offset`` as an index stores it; a segment is rolled before it would overflow."""
    relative = offset - base_offset
    if not 0 <= relative <= MAX_RELATIVE_OFFSET:
        raise CorruptIndexError(f"Integer overflow for offset: {offset} (base offset {base_offset})")
    return relative
