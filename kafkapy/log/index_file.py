"""An .index or .timeindex file: reading what was written of it, and adding to it.

A broker preallocates the index of its active segment with zeros, 10 MiB by default, so the end of what was written is
searched for before anything is read. kafkapy does not preallocate: it keeps new entries in memory and adds them to
the file when the log is flushed, rolled or closed.

After a crash the file may lack entries, end inside one, or end in zeros. Reading stops at the last whole entry that was
written; recovery makes the file anew from the log.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kafkapy.formats.abstract_index import AbstractIndex
from kafkapy.formats.offset_index import OffsetIndex
from kafkapy.formats.time_index import TimeIndex

if TYPE_CHECKING:
    from kafkapy.log.files import Files

IndexT = TypeVar("IndexT", bound=AbstractIndex[Any])

SMALL = 1 << 16
_RELATIVE_OFFSET_AT: dict[type[AbstractIndex[Any]], int] = {OffsetIndex: 0, TimeIndex: 8}


def read_written(path: str, kind: type[IndexT]) -> bytes:
    """The written entries of an index file; b"" where there is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        size = os.fstat(descriptor).st_size
        if size > SMALL:
            size = _written_slots(descriptor, size, kind) * kind.ENTRY.size
        data = os.pread(descriptor, size, 0)
    finally:
        os.close(descriptor)
    return data[: kind(0, data).written_count * kind.ENTRY.size]


def _written_slots(descriptor: int, size: int, kind: type[IndexT]) -> int:
    entry_size, at = kind.ENTRY.size, _RELATIVE_OFFSET_AT[kind]

    def is_unwritten(slot: int) -> bool:
        return not any(os.pread(descriptor, 4, slot * entry_size + at))

    return 1 + bisect_left(range(1, size // entry_size), True, key=is_unwritten)


class IndexFile(Generic[IndexT]):
    """The index of a segment that is written to."""

    def __init__(self, path: str, kind: type[IndexT], base_offset: int, files: Files) -> None:
        self.path = path
        self._kind = kind
        self._base_offset = base_offset
        self._files = files
        self._entries: bytearray | None = None
        self._saved = 0
        self._file_size = 0

    @property
    def entries(self) -> bytearray:
        """The entries' bytes, saved or not."""
        if self._entries is None:
            self._entries = bytearray(read_written(self.path, self._kind))
            self._file_size = os.path.getsize(self.path) if os.path.exists(self.path) else -1
            self._saved = len(self._entries)
        return self._entries

    @property
    def count(self) -> int:
        """How many entries there are."""
        return len(self.entries) // self._kind.ENTRY.size

    @property
    def index(self) -> IndexT:
        """The entries to search in."""
        return self._kind(self._base_offset, self.entries)

    def truncate(self, count: int) -> None:
        """Keep the first ``count`` entries."""
        entries = self.entries
        del entries[count * self._kind.ENTRY.size :]
        self._saved = min(self._saved, len(entries))

    def save(self) -> bool:
        """Have the file hold exactly the entries; whether it had to be touched."""
        entries = self.entries
        if self._file_size == len(entries) == self._saved:
            return False
        if self._file_size > self._saved:
            self._files.truncate(self.path, self._saved)
        if self._file_size < 0 or self._saved < len(entries):
            self._files.append(self.path, bytes(entries[self._saved :]))
        self._saved = self._file_size = len(entries)
        return True


def truncated_count(index: AbstractIndex[Any], offset: int, offset_of: int) -> int:
    """How many entries of an index lie before ``offset``; ``offset_of`` is the offset's place in an entry."""
    return bisect_left(range(index.written_count), offset, key=lambda slot: index.entry(slot)[offset_of])
