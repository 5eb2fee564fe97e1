"""The time index of a segment: ``%020d.timeindex``.

| at | size | field          |                                                                         |
|----|------|----------------|-------------------------------------------------------------------------|
| 0  | 8    | timestamp      | the largest timestamp in the segment so far                             |
| 8  | 4    | relativeOffset | last offset of the **batch** that carried it, minus the base offset     |

Invariant: both columns increase. An entry (T, O) says that every record with a timestamp above T comes after O. The
last entry, written on roll and on close, holds the segment's largest timestamp. Logs of magic 0 have no entries.

After a crash it is rebuilt from the log; see abstract_index for the preallocated zeros.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptIndexError
from kafkapy.formats.abstract_index import AbstractIndex, relative_offset

if TYPE_CHECKING:
    from collections.abc import Iterable

ENTRY = Struct(">qi")
_LONG = Struct(">q")
_INT = Struct(">i")

NO_TIMESTAMP = -1


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class TimeIndex(AbstractIndex[TimestampOffset]):
    ENTRY = ENTRY

    def entry(self, n: int) -> TimestampOffset:
        timestamp, relative = ENTRY.unpack_from(self.buffer, n * ENTRY.size)
        return TimestampOffset(timestamp, self.base_offset + relative)

    def lookup(self, target_timestamp: int) -> TimestampOffset:
        """The last entry at or before ``target_timestamp``, else (NO_TIMESTAMP, base offset)."""
        slot = self._largest_lower_bound_slot(target_timestamp)
        return TimestampOffset(NO_TIMESTAMP, self.base_offset) if slot < 0 else self.entry(slot)

    def last_entry(self) -> TimestampOffset:
        """The last written entry, which holds the largest timestamp, else (NO_TIMESTAMP, base offset)."""
        if self.written_count:
            return self.entry(self.written_count - 1)
        return TimestampOffset(NO_TIMESTAMP, self.base_offset)

    def sanity_check(self, location: str) -> None:
        if self.entry_count:
            self._check_last_entry(f"Corrupt time index found, time index file ({location}) has non-zero size but")
        if self.length % ENTRY.size:
            raise CorruptIndexError(
                f"Time index file {location} is corrupt, found {self.length} bytes which is neither positive nor a "
                f"multiple of {ENTRY.size}"
            )

    def _check_last_entry(self, found: str) -> None:
        first_timestamp = self.entry(0).timestamp
        last = self.entry(self.entry_count - 1)
        if last.timestamp < first_timestamp:
            raise CorruptIndexError(
                f"{found} the last timestamp is {last.timestamp} which is less than the first timestamp "
                f"{first_timestamp}"
            )
        if last.offset < self.base_offset:
            raise CorruptIndexError(
                f"{found} the last offset is {last.offset} which is less than the first offset {self.base_offset}"
            )

    def _relative_offset(self, n: int) -> int:
        relative: int = _INT.unpack_from(self.buffer, n * ENTRY.size + _LONG.size)[0]
        return relative

    def _key(self, n: int) -> int:
        timestamp: int = _LONG.unpack_from(self.buffer, n * ENTRY.size)[0]
        return timestamp


def encode(base_offset: int, entries: Iterable[tuple[int, int]]) -> bytes:
    """The bytes of (timestamp, offset) entries."""
    return b"".join(ENTRY.pack(timestamp, relative_offset(base_offset, offset)) for timestamp, offset in entries)
