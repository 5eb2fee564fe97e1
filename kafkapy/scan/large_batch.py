"""Batches that do not fit into a window: read as a stream, so that memory does not grow with them.

A stream is read twice: one reader walks ahead over a record to check it and to find its parts, a second one follows
and takes the bytes. A compressed batch is walked once more before anything is printed, since Kafka prints none of its
records when one is broken. A record that is itself larger than ``MAX_WINDOW`` is printed as text in pieces; for every
other form of output it is read whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.compression import Codec, Reader, decompressing_reader
from kafkapy.formats.record_batch import HEADER_SIZE
from kafkapy.formats.varint import read_varint, read_varlong, write_varint
from kafkapy.kernel import problems
from kafkapy.log.batches import Entry
from kafkapy.log.window import MAX_WINDOW, Window

if TYPE_CHECKING:
    import mmap

PIECE = 1 << 20
LONGEST_VARINT = 10
NO_DATA = b"\x01\x01\x00"  # null, null, no headers


class Span(NamedTuple):
    """Where a record and its parts lie in the body of its batch."""

    start: int
    end: int
    key_start: int
    key_size: int
    value_start: int
    value_size: int
    headers_start: int
    header_count: int

    @property
    def size(self) -> int:
        """Bytes of the record, its length field too."""
        return self.end - self.start


class BodyStream:
    """A forward-only view of a batch's body, with a little of it in memory."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._buffer = bytearray(PIECE)
        self._start = self._end = 0
        self.position = 0

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        out = bytearray()
        while len(out) < size:
            out += self.take_some(size - len(out))
        return bytes(out)

    def take_some(self, size: int) -> bytes:
        """Some of the next ``size`` bytes, at least one."""
        self._need(1)
        n = min(size, self._end - self._start)
        data = bytes(self._buffer[self._start : self._start + n])
        self._start += n
        self.position += n
        return data

    def take_pieces(self, size: int) -> Iterator[bytes]:
        """The next ``size`` bytes, in pieces; all must be taken before anything else is."""
        while size > 0:
            piece = self.take_some(size)
            size -= len(piece)
            yield piece

    def skip(self, size: int) -> None:
        """Pass over ``size`` bytes."""
        while size > 0:
            self._need(1)
            n = min(size, self._end - self._start)
            self._start += n
            self.position += n
            size -= n

    def varint(self) -> int:
        """The variable-length integer that follows; also good for a longer one whose value does not matter."""
        self._fill(LONGEST_VARINT)
        ahead = bytes(self._buffer[self._start : min(self._start + LONGEST_VARINT, self._end)])
        value, used = read_varint(ahead, 0)
        self.skip(used)
        return value

    def varlong(self) -> None:
        """Pass over a long."""
        for _ in range(LONGEST_VARINT):
            if self.take_some(1)[0] < 0x80:
                return
        raise CorruptRecordError(problems.TEXTS[problems.INVALID_RECORD])

    @property
    def at_end(self) -> bool:
        """Whether nothing follows."""
        return not self._fill(1)

    def _need(self, size: int) -> None:
        if not self._fill(size):
            raise CorruptRecordError(problems.TEXTS[problems.NEED_MORE])

    def _fill(self, size: int) -> bool:
        if self._end - self._start < size:
            kept = bytes(self._buffer[self._start : self._end])
            self._buffer[: len(kept)] = kept
            self._start, self._end = 0, len(kept)
            while self._end < size:
                n = self._reader.readinto(memoryview(self._buffer)[self._end :])
                if n == 0:
                    break
                self._end += n
        return self._end - self._start >= size


class _RegionReader:
    """A region of a file as a reader."""

    def __init__(self, window: Window, start: int, end: int) -> None:
        self._window, self._start, self._end = window, start, end

    def readinto(self, target: memoryview, /) -> int:
        data = self._window.peek(self._start, min(len(target), self._end - self._start))
        target[: len(data)] = data
        self._start += len(data)
        return len(data)


class _MappedReader:
    """A reader over a memory map that lets go of pages, which would else count as memory of this process."""

    def __init__(self, reader: Reader, mapped: mmap.mmap) -> None:
        self._reader, self._map, self._read = reader, mapped, 0

    def readinto(self, target: memoryview, /) -> int:
        n = self._reader.readinto(target)
        self._read += n
        if self._read >= MAX_WINDOW:
            import mmap

            self._map.madvise(mmap.MADV_DONTNEED)
            self._read = 0
        return n


class Body:
    """The body of one batch, to be opened as often as needed."""

    def __init__(self, window: Window, entry: Entry, codec: Codec) -> None:
        self._window, self._codec = window, codec
        self._start, self._end = entry.position + HEADER_SIZE, entry.end
        self._map: mmap.mmap | None = None

    def open(self) -> BodyStream:
        """A stream from the start of the first record."""
        return BodyStream(self.reader())

    def reader(self) -> Reader:
        """A reader from the start of the first record."""
        if self._codec is Codec.NONE:
            return _RegionReader(self._window, self._start, self._end)
        if self._map is None:
            import mmap

            first = self._start // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
            self._map = self._window.map(first, self._end - first)
            self._view = memoryview(self._map)[self._start - first :]
        return _MappedReader(decompressing_reader(self._codec, self._view), self._map)


class LargeRecord:
    """A record that is given in pieces: its header keys, then its key, then its value, each taken to its end."""

    def __init__(self, body: Body, span: Span, follow: BodyStream) -> None:
        self._body, self.span, self._follow = body, span, follow
        self._fields = follow.take(span.key_start - span.start)

    def without_data(self) -> bytes:
        """The record with a null key, a null value and no headers: it decodes to the same offset and timestamp."""
        _, first = read_varint(self._fields, 0)
        _, position = read_varlong(self._fields, first + 1)
        _, position = read_varint(self._fields, position)
        record = bytearray()
        write_varint(position - first + len(NO_DATA), record)
        return bytes(record) + self._fields[first:position] + NO_DATA

    def header_keys(self) -> Iterator[Iterator[bytes]]:
        """The header keys."""
        stream = self._body.open()
        stream.skip(self.span.headers_start)
        for _ in range(self.span.header_count):
            yield stream.take_pieces(stream.varint())
            stream.skip(stream.varint())

    def key(self) -> Iterator[bytes]:
        """The key."""
        return self._part(self.span.key_start, self.span.key_size)

    def value(self) -> Iterator[bytes]:
        """The value."""
        return self._part(self.span.value_start, self.span.value_size)

    def close(self) -> None:
        """Go on to the next record."""
        self._follow.skip(self.span.end - self._follow.position)

    def _part(self, start: int, size: int) -> Iterator[bytes]:
        self._follow.skip(start - self._follow.position)
        return self._follow.take_pieces(size)


def spans(stream: BodyStream, count: int) -> Iterator[Span]:
    """The records of a body; each is checked before it is given."""
    for left in range(count, 0, -1):
        start = stream.position
        length = stream.varint()
        first = stream.position
        if length < 0:
            raise CorruptRecordError(problems.TEXTS[problems.INVALID_RECORD])
        span = _span(stream, start, first + length)
        if left == 1 and not stream.at_end:
            raise CorruptRecordError(problems.TEXTS[problems.REMAINING])
        yield span


def _span(stream: BodyStream, start: int, end: int) -> Span:
    stream.skip(1)
    stream.varlong()
    stream.varint()
    key_size, key_start = stream.varint(), stream.position
    stream.skip(key_size)
    value_size, value_start = stream.varint(), stream.position
    stream.skip(value_size)
    header_count, headers_start = stream.varint(), stream.position
    if not 0 <= header_count <= max(end - headers_start, 0):
        raise CorruptRecordError(problems.TEXTS[problems.INVALID_RECORD])
    for _ in range(header_count):
        size = stream.varint()
        if size < 0:
            raise CorruptRecordError(problems.TEXTS[problems.INVALID_RECORD])
        stream.skip(size)
        stream.skip(stream.varint())
    if stream.position != end:
        raise CorruptRecordError(problems.TEXTS[problems.INVALID_RECORD])
    return Span(start, end, key_start, key_size, value_start, value_size, headers_start, header_count)
