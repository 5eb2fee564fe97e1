"""What a dump found wrong and tells at its end, on stderr, in Kafka's words and order.

Offsets that do not follow one another can be as many as the records of a compacted log, so they go to a temporary file
once they are many. Kafka sorts them by the offset before the gap, and keeps the last of two with the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import SpooledTemporaryFile

PAIR = Struct(">qq")
IN_MEMORY = 1 << 22

Pairs = dict[str, list[tuple[int, int]]]


class OffsetGaps:
    """Pairs of offsets, of one file."""

    def __init__(self) -> None:
        self._spool: SpooledTemporaryFile[bytes] | None = None
        self._last = -(2**63) - 1
        self._ordered = True

    def found(self, previous: int, offset: int) -> None:
        """Note that ``offset`` came after ``previous``."""
        if self._spool is None:
            from tempfile import SpooledTemporaryFile

            self._spool = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - lives as long as the report
        self._ordered = self._ordered and previous > self._last
        self._last = previous
        self._spool.write(PAIR.pack(previous, offset))

    def __bool__(self) -> bool:
        return self._spool is not None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The pairs, by the offset before the gap."""
        pairs = self._read()
        return pairs if self._ordered else iter(sorted(dict(pairs).items()))

    def _read(self) -> Iterator[tuple[int, int]]:
        if self._spool is None:
            return
        self._spool.seek(0)
        while chunk := self._spool.read(PAIR.size * 4096):
            yield from PAIR.iter_unpack(chunk)


class Report:
    """All findings of one dump."""

    def __init__(self) -> None:
        self._index_mismatches: dict[str, dict[int, int]] = {}
        self._time_mismatches: Pairs = {}
        self._times_out_of_order: Pairs = {}
        self._offsets_not_found: Pairs = {}
        self._gaps: dict[str, OffsetGaps] = {}

    def index_mismatch(self, path: str, index_offset: int, log_offset: int) -> None:
        """The batch at an .index entry's position ends with another offset."""
        self._index_mismatches.setdefault(os.path.abspath(path), {})[index_offset] = log_offset

    def time_mismatch(self, path: str, index_time: int, log_time: int) -> None:
        """The batch of a .timeindex entry has another largest timestamp."""
        self._time_mismatches.setdefault(os.path.abspath(path), []).append((index_time, log_time))

    def time_out_of_order(self, path: str, index_time: int, previous: int) -> None:
        """A .timeindex entry is not later than the one before it."""
        self._times_out_of_order.setdefault(os.path.abspath(path), []).append((index_time, previous))

    def offset_not_found(self, path: str, index_offset: int, log_offset: int) -> None:
        """No batch ends with a .timeindex entry's offset."""
        self._offsets_not_found.setdefault(os.path.abspath(path), []).append((index_offset, log_offset))

    def gaps(self, path: str) -> OffsetGaps:
        """Where to note the offsets of a log that do not follow one another."""
        return self._gaps.setdefault(os.path.abspath(path), OffsetGaps())

    def write(self, line: Callable[[str], object]) -> None:
        """Tell all findings."""
        for path, by_offset in self._index_mismatches.items():
            line(f"Mismatches in :{path}")
            for index_offset, log_offset in sorted(by_offset.items(), reverse=True):
                line(f"  Index offset: {index_offset}, log offset: {log_offset}")
        for path, pairs in self._time_mismatches.items():
            line(f"Found timestamp mismatch in :{path}")
            for index_time, log_time in pairs:
                line(f"  Index timestamp: {index_time}, log timestamp: {log_time}")
        for path, pairs in self._times_out_of_order.items():
            line(f"Found out of order timestamp in :{path}")
            for index_time, previous in pairs:
                line(f"  Index timestamp: {index_time}, Previously indexed timestamp: {previous}")
        for path, pairs in self._offsets_not_found.items():
            line(f"The following indexed offsets are not found in :{path}")
            for index_offset, log_offset in pairs:
                line(f"Indexed offset: {index_offset}, found log offset: {log_offset}")
        for path, gaps in self._gaps.items():
            if gaps:
                line(f"Non-consecutive offsets in {path}")
                for previous, offset in gaps:
                    line(f"  {previous} is followed by {offset}")
