"""The offset index of a segment: ``%020d.index``.

| at | size | field          |                                                     |
|----|------|----------------|-----------------------------------------------------|
| 0  | 4    | relativeOffset | **last** offset of the batch, minus the base offset |
| 4  | 4    | position       | first byte of that batch in the .log                |

Invariant: both columns strictly increase. It is sparse: one entry per ``index.interval.bytes`` of log, none for the
first batch. A reader starts at the entry's position and walks batches from there.

After a crash it is rebuilt from the log; see abstract_index for the preallocated zeros.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptIndexError
from kafkapy.formats.abstract_index import AbstractIndex, relative_offset

if TYPE_CHECKING:
    from collections.abc import Iterable

ENTRY = Struct(">ii")
_INT = Struct(">i")

WARM_SLOTS = 8192 // ENTRY.size  # Kafka searches the last 8192 bytes first, to touch few pages


class OffsetPosition(NamedTuple):
    offset: int
    position: int


class OffsetIndex(AbstractIndex[OffsetPosition]):
    ENTRY = ENTRY

    def entry(self, n: int) -> OffsetPosition:
        relative, position = ENTRY.unpack_from(self.buffer, n * ENTRY.size)
        return OffsetPosition(self.base_offset + relative, position)

    def lookup(self, target_offset: int) -> OffsetPosition:
        """The last entry at or before ``target_offset``, else the start of the segment."""
        slot = self._largest_lower_bound_slot(target_offset - self.base_offset)
        return OffsetPosition(self.base_offset, 0) if slot < 0 else self.entry(slot)

    def lookup_over_slots(self, target_offset: int) -> OffsetPosition:
        """What Kafka's own lookup finds when the file was not trimmed: it searches the unwritten slots too.

        Their zeros are not in order, so where the search lands depends on its steps: these are Kafka's.
        """
        if self.entry_count == 0:
            return OffsetPosition(self.base_offset, 0)
        target = target_offset - self.base_offset
        first_warm = max(0, self.entry_count - 1 - WARM_SLOTS)
        if self._key(first_warm) < target:
            low, high = first_warm, self.entry_count - 1
        elif self._key(0) > target:
            return OffsetPosition(self.base_offset, 0)
        else:
            low, high = 0, first_warm
        while low < high:
            middle = (low + high + 1) // 2
            found = self._key(middle)
            if found == target:
                return self.entry(middle)
            if found > target:
                high = middle - 1
            else:
                low = middle
        return self.entry(low)

    def last_entry(self) -> OffsetPosition:
        """The last written entry, else the start of the segment."""
        return self.entry(self.written_count - 1) if self.written_count else OffsetPosition(self.base_offset, 0)

    def sanity_check(self, location: str) -> None:
        if self.entry_count:
            last_offset = self.entry(self.entry_count - 1).offset
            if last_offset < self.base_offset:
                raise CorruptIndexError(
                    f"Corrupt index found, index file {location} has non-zero size but the last offset is "
                    f"{last_offset} which is less than the base offset {self.base_offset}"
                )
        if self.length % ENTRY.size:
            raise CorruptIndexError(
                f"Index file {location} is corrupt, found {self.length} bytes which is neither positive nor a "
                f"multiple of {ENTRY.size}"
            )

    def _relative_offset(self, n: int) -> int:
        relative: int = _INT.unpack_from(self.buffer, n * ENTRY.size)[0]
        return relative

    def _key(self, n: int) -> int:
        return self._relative_offset(n)


def encode(base_offset: int, entries: Iterable[tuple[int, int]]) -> bytes:
    """The bytes of (offset, position) entries."""
    return b"".join(ENTRY.pack(relative_offset(base_offset, offset), position) for offset, position in entries)
