"""A place in the log of one copy of a partition, which moves on by batches or by bytes.

Invariant: every batch it gives out is whole, passes its checksum, and has a magic and offsets that can be: no checksum
covers these. Indexes only help to find the beginning of a batch: an entry that the log does not agree with is not used.

The log ends before a torn write: a batch that is cut off, or nothing but zeros, at the end of the last segment. What is
there of such a batch has to begin as one that comes next would, and nothing good follows in it: else its size is wrong.
Every other thing that is no batch is damage, told by file and byte.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError, DamagedFileError
from kafkapy.log.batch import NEWEST_MAGIC, Batch, batch_bytes, flaw, walk
from kafkapy.log.batches import PREFIX, PREFIX_SIZE, Entry, next_entry, why_torn
from kafkapy.log.resync import is_valid_at, is_valid_entry, next_valid
from kafkapy.log.window import Window

if TYPE_CHECKING:
    from types import TracebackType

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.log.partition_reader import PartitionReader
    from kafkapy.log.segment_reader import SegmentReader

_SCAN = 1 << 20
_LARGEST_RELATIVE_OFFSET = (1 << 31) - 1


class Place(NamedTuple):
    """A byte of a segment."""

    number: int
    position: int


class BatchCursor:
    """Stands at the first batch that has ``offset`` or a later one; to be closed."""

    def __init__(self, log: PartitionReader, offset: int) -> None:
        self._segments = log.segments
        self._window: Window | None = None
        floor = bisect_right(self._segments, offset, key=lambda segment: segment.base_offset) - 1
        self.place = Place(max(0, floor), 0)
        if self._segments and offset > self.segment.base_offset:
            self.place = self._place_of(offset)

    def __enter__(self) -> BatchCursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    @property
    def segment(self) -> SegmentReader:
        return self._segments[self.place.number]

    @property
    def path(self) -> str:
        """The file of the batch here."""
        return self.segment.log_path

    def position(self, batch: Batch) -> int:
        """Where a batch that was given out lies in it."""
        return batch.position

    def skip_equal(self, other: BatchCursor) -> int:
        """Move both over the batches that are the same; how many bytes these are."""
        return skip_equal(self, other)

    @property
    def rest(self) -> int:
        """Bytes from here to the end of the segment."""
        return self.segment.size - self.place.position if self._segments else 0

    @property
    def is_last_segment(self) -> bool:
        return self.place.number >= len(self._segments) - 1

    def next_segment(self) -> bool:
        """Go to the start of the next segment; False where there is none."""
        if self.is_last_segment:
            return False
        self.move_to(Place(self.place.number + 1, 0))
        return True

    def move_to(self, place: Place) -> None:
        """Go to any place."""
        if place.number != self.place.number:
            self._close()
        self.place = place

    def skip(self, size: int) -> None:
        """Go on by some bytes of this segment."""
        self.place = Place(self.place.number, self.place.position + size)

    def peek(self, size: int) -> bytes:
        """Bytes from here on, of this segment."""
        return self._opened().peek(self.place.position, size)

    def batch(self) -> Batch | None:
        """The batch here, None at the end of the log; moves over the ends of segments."""
        while not self.rest:
            if not self.next_segment():
                return None
        window = self._opened()
        window.seek(self.place.position)
        try:
            for position, header in walk(window):
                batch = Batch(header, position, batch_bytes(window, header.size))
                reason = flaw(header, batch.data) or self._out_of_order(window, header)
                if reason is not None:
                    raise self._damage(reason)
                return batch
        except CorruptRecordError as error:
            if self.torn_bytes():
                return None
            raise self._damage(str(error)) from None
        if self.torn_bytes():
            return None
        if not self.is_last_segment:
            raise self._damage("the last batch of a segment is cut off")
        if not self._begins_as_next():
            raise self._damage("these bytes are no batch")
        window.seek(self.place.position)
        raise self._damage(why_torn(window))

    def torn_bytes(self) -> int:
        """How many bytes are left of a torn write, where the log ends here."""
        if not self.rest:
            return 0
        window = self._opened()
        window.seek(self.place.position)
        try:
            cut_off = self.is_last_segment and next_entry(window) is None and self._begins_as_next()
            cut_off = cut_off and not self._goes_on(window)
        except CorruptRecordError:
            cut_off = self.is_last_segment and self._only_zeros()
        return self.rest if cut_off else 0

    def last_boundary(self, since: int) -> int:
        """The last beginning of a batch, or end of one, at or before this place; ``since`` is an earlier one."""
        window = self._opened()
        window.seek(self._indexed_boundary(window, since))
        try:
            while (entry := next_entry(window)) is not None and entry.end <= self.place.position:
                window.seek(entry.end)
        except CorruptRecordError:
            pass
        return window.position

    def offset(self) -> int:
        """The offset after the batch before this place, where the next one is to be expected."""
        if not self._segments:
            return 0
        window = self._opened()
        window.seek(self._indexed_boundary(window, 0, before=1))
        found = self.segment.base_offset
        try:
            for position, header in walk(window):
                if position >= self.place.position:
                    break
                found = header.last_offset + 1
        except CorruptRecordError:
            pass
        return found

    def _indexed_boundary(self, window: Window, since: int, before: int = 0) -> int:
        """The position of the last index entry at or before this place, where the log has that batch."""
        index = self.segment.offset_index
        slots = range(index.written_count)
        slot = bisect_right(slots, self.place.position - before, key=lambda n: index.entry(n).position) - 1
        if slot < 0 or index.entry(slot).position <= since:
            return since
        offset, position = index.entry(slot)
        window.seek(position)
        try:
            header: BatchHeader | None = next((found for _, found in walk(window)), None)
        except CorruptRecordError:
            return since
        return position if header is not None and header.last_offset == offset else since

    def _place_of(self, offset: int) -> Place:
        """The batch with ``offset``, or where the batches before it end: at the end of the segment, or at damage."""
        end = 0
        for window, header in self.segment.walk_from(offset):
            if header.last_offset >= offset:
                return Place(self.place.number, window.position)
            end = window.position + header.size
        return Place(self.place.number, end)

    def _begins_as_next(self) -> bool:
        """Whether the first bytes here are those of a batch that may follow the one before."""
        head = self.peek(PREFIX_SIZE)
        if len(head) < PREFIX_SIZE:
            return True
        offset: int
        magic: int
        offset, _, magic = PREFIX.unpack(head)
        largest = self.segment.base_offset + _LARGEST_RELATIVE_OFFSET
        return 0 <= magic <= NEWEST_MAGIC and self.offset() <= offset <= largest

    def _goes_on(self, window: Window) -> bool:
        """Whether the batch here is all there, or a good one follows in the bytes that it claims."""
        position = self.place.position
        head = self.peek(PREFIX_SIZE)
        if len(head) < PREFIX_SIZE:
            return False
        offset, _, magic = PREFIX.unpack(head)
        if is_valid_entry(window, Entry(position, offset, self.rest, magic)):
            return True
        return next_valid(window, position + 1, self.offset()) is not None

    def _out_of_order(self, window: Window, header: BatchHeader) -> str | None:
        """Why the offsets of the good batch here cannot be; of two that are not in order the first one is told."""
        first, last, behind = self.segment.base_offset, header.last_offset, self.place.position + header.size
        if header.base_offset < first:
            return f"offset {header.base_offset} in a segment that begins with offset {first}"
        head = window.peek(behind, PREFIX_SIZE)
        if len(head) == PREFIX_SIZE:
            following: int = PREFIX.unpack(head)[0]
            is_behind = following <= last and is_valid_at(window, behind, first - 1)
        elif not self.is_last_segment:
            following = self._segments[self.place.number + 1].base_offset
            is_behind = following <= last
        else:
            return None
        return f"offset {last} is followed by offset {following}" if is_behind else None

    def _only_zeros(self) -> bool:
        position, window = self.place.position, self._opened()
        while data := window.peek(position, _SCAN):
            if data.count(0) < len(data):
                return False
            position += len(data)
        return True

    def _damage(self, reason: str) -> DamagedFileError:
        return DamagedFileError(self.segment.log_path, self.place.position, reason)

    def _opened(self) -> Window:
        if self._window is None:
            self._window = Window(self.segment.log_path, limit=self.segment.size)
        return self._window

    def _close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None


def skip_equal(ours: BatchCursor, theirs: BatchCursor, chunk: int = 1 << 12, largest: int = 1 << 20) -> int:
    """Move both over the batches that are the same, byte for byte; how many bytes these are.

    Bytes are compared in chunks, without a look at the batches in them. Both must stand at a batch, and do so in the
    end: at the first ones that differ, or where a log ends. Chunks grow with success, so that differences in every
    other batch do not cost a large one each.
    """
    skipped, anchor = 0, (ours.place, theirs.place)
    while True:
        for cursor in (ours, theirs):
            if not cursor.rest and anchor != (ours.place, theirs.place):
                exact = _align(ours, theirs, anchor)
                skipped += ours.place.position - anchor[0].position
                anchor = (ours.place, theirs.place)
                if not exact:
                    return skipped
            while not cursor.rest and cursor.next_segment():
                anchor = (ours.place, theirs.place)
        size = min(chunk, ours.rest, theirs.rest)
        if size == 0:
            return skipped
        mine, other = ours.peek(size), theirs.peek(size)
        same = size if mine == other else _same_length(mine, other)
        ours.skip(same)
        theirs.skip(same)
        if same < size:
            _align(ours, theirs, anchor)
            return skipped + ours.place.position - anchor[0].position
        chunk = min(2 * chunk, largest)


def _align(ours: BatchCursor, theirs: BatchCursor, anchor: tuple[Place, Place]) -> bool:
    """Bring both back to the last boundary of batches since ``anchor``; whether they stand at one."""
    boundary = ours.last_boundary(anchor[0].position)
    behind = ours.place.position - boundary
    ours.skip(-behind)
    theirs.skip(-behind)
    return behind == 0


def _same_length(mine: bytes, other: bytes) -> int:
    """How many bytes are the same at the start of two different strings of the same length."""
    low, high = 0, len(mine)
    while high - low > 1:
        middle = (low + high) // 2
        if mine[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
