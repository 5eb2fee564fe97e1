"""A Fetch response, taken apart by hand: what is said of each partition, and where its batches lie in the response.

The generic decoder would copy every byte of the records once more; here they stay where the network put them until a
batch is taken. Before version 12 lengths are fixed integers, from then on they are varints of the length plus one, and
there are tagged fields; before version 13 a topic has a name, from then on its id.

A partition's records are whole batches one after the other. The first may begin before the offset that was asked for,
and the last may be cut off where the response was full: it comes again, whole, with the next fetch.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, error
from typing import NamedTuple

from kafkapy.errors import CorruptRecordError, SchemaError
from kafkapy.formats.record_batch import LOG_OVERHEAD, MAGIC_POSITION, decode_header
from kafkapy.formats.uuid import uuid_text
from kafkapy.log.batch import Batch, legacy_header

FLEXIBLE, WITH_TOPIC_IDS = 12, 13
_CURRENT_LEADER = 1  # the tag
_HEAD = Struct(">ihi")  # throttle time, error code, session id
_PARTITION = Struct(">ihqqq")  # index, error code, high watermark, last stable offset, log start offset
_PARTITION_4 = Struct(">ihqq")
_ABORTED = Struct(">qq")
_LEADER = Struct(">ii")
_OVERHEAD = Struct(">qi")  # base offset, length
_SHORTEST = 14  # of a message of magic 0 without key and value
_DELTA_POSITION = 23  # of the last offset delta
_INT16, _INT32 = Struct(">h"), Struct(">i")


class FetchedPartition(NamedTuple):
    """What a response has of one partition; ``topic`` is its id or its name, ``leader`` who leads it by now, and since
    which epoch."""

    topic: str
    partition: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    aborted: list[tuple[int, int]]
    leader: tuple[int, int] | None
    records: memoryview

    def batches(self, start: int) -> Iterator[Batch]:
        """The whole batches, from the one that has ``start`` on."""
        for _, position, end in self._spans():
            data = bytes(self.records[position:end])
            header = legacy_header(data) if data[MAGIC_POSITION] < 2 else decode_header(data)
            if header.last_offset >= start:
                yield Batch(header, 0, data)

    def next_offset(self, start: int) -> int:
        """Where to go on after what is here; only the last batch needs to be looked at."""
        last = None
        for last in self._spans():  # noqa: B007
            pass
        if last is None:
            return start
        base, position, _ = last
        is_legacy = self.records[position + MAGIC_POSITION] < 2
        delta = 0 if is_legacy else _INT32.unpack_from(self.records, position + _DELTA_POSITION)[0]
        return max(start, base + int(delta) + 1)

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """The base offset of each whole batch, and where it begins and ends."""
        position, size = 0, len(self.records)
        while position + MAGIC_POSITION < size:
            base, length = _OVERHEAD.unpack_from(self.records, position)
            end = position + LOG_OVERHEAD + length
            if end > size:
                return
            if length < _SHORTEST:
                raise CorruptRecordError(f"Record batch at offset {base} has the invalid size {length}")
            yield base, position, end
            position = end


class FetchResponse(NamedTuple):
    """The error of the whole request, and the partitions."""

    error_code: int
    partitions: list[FetchedPartition]


def decode_fetch_response(version: int, body: memoryview) -> FetchResponse:
    """What a broker answered to a Fetch of a version."""
    try:
        return _Reader(version, body).response()
    except (error, IndexError):
        raise SchemaError(f"the response to Fetch version {version} ends too early") from None


class _Reader:
    def __init__(self, version: int, body: memoryview) -> None:
        self._version = version
        self._flexible = version >= FLEXIBLE
        self._body = body
        self._position = 0

    def response(self) -> FetchResponse:
        code = 0
        if self._version >= 7:
            _, code, _ = self._unpack(_HEAD)
        else:
            self._position += _INT32.size
        partitions: list[FetchedPartition] = []
        for _ in range(self._length()):
            topic = self._topic()
            partitions += [self._partition(topic) for _ in range(self._length())]
            self._tags()
        return FetchResponse(code, partitions)

    def _topic(self) -> str:
        size = 16 if self._version >= WITH_TOPIC_IDS else self._length(_INT16)
        data = bytes(self._slice(size))
        return uuid_text(data) if self._version >= WITH_TOPIC_IDS else data.decode()

    def _partition(self, topic: str) -> FetchedPartition:
        fixed = self._unpack(_PARTITION if self._version >= 5 else _PARTITION_4)
        aborted = [self._aborted() for _ in range(max(self._length(), 0))]
        if self._version >= 11:
            self._position += _INT32.size  # the preferred read replica: none was asked for
        records = self._slice(max(self._length(), 0))
        leader = self._tags()
        index, code, high_watermark, last_stable_offset = fixed[:4]
        return FetchedPartition(
            topic, index, code, high_watermark, last_stable_offset, aborted, leader, records
        )  # fmt: skip

    def _aborted(self) -> tuple[int, int]:
        producer_id, first_offset = self._unpack(_ABORTED)
        self._tags()
        return producer_id, first_offset

    def _tags(self) -> tuple[int, int] | None:
        """Step over tagged fields; the current leader, if one tells it."""
        leader = None
        for _ in range(self._unsigned_varint() if self._flexible else 0):
            tag = self._unsigned_varint()
            field = self._slice(self._unsigned_varint())
            if tag == _CURRENT_LEADER and len(field) >= _LEADER.size:
                leader = _LEADER.unpack_from(field)
        return leader

    def _length(self, fixed: Struct = _INT32) -> int:
        """The length of an array, of records or of a text; -1 for null."""
        if self._flexible:
            return self._unsigned_varint() - 1
        (length,) = self._unpack(fixed)
        return int(length)

    def _unsigned_varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._body[self._position]
            self._position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _slice(self, size: int) -> memoryview:
        start = self._position
        self._position += size
        if self._position > len(self._body):
            raise IndexError
        return self._body[start : self._position]

    def _unpack(self, fixed: Struct) -> tuple[int, ...]:
        values = fixed.unpack_from(self._body, self._position)
        self._position += fixed.size
        return values
