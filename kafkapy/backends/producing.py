"""Records in, batches out: Kafka's RecordAccumulator.

A batch is open for each partition that has records waiting. It is closed when the next record would make it larger
than ``batch.size``; the first record of a batch may be larger. With a codec the size is what Kafka estimates: the
records' size times the ratio that the batches before came to.

A key decides its partition by murmur2. Records without one stick to a partition until its batch is full, then go to
another at random.

Lines that are values and nothing else are the common case and must be fast: they are added as a whole run, and the only
work that is done for each is to put its frame around it.

    length, 0, timestamp delta | offset delta | no key, value size | the line | no headers
    the head, by size                          the tail, by size
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from random import Random

from kafkapy.backends.line_reader import Line
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.formats.compression import Codec
from kafkapy.formats.murmur2 import partition_for_key
from kafkapy.formats.record_batch import HEADER_SIZE
from kafkapy.formats.varint import write_varint

RUN = 64  # lines that are measured at once: more would be measured in vain at the end of each batch
RATIO_MARGIN = 1.05
RATIO_IMPROVING_STEP = 0.005
RATIO_DETERIORATING_STEP = 0.05
NULL, NO_HEADERS = b"\x01", b"\x00"


def _encoded(value: int) -> bytes:
    out = bytearray()
    write_varint(value, out)
    return bytes(out)


VARINTS = [_encoded(value) for value in range(4096)]


def varint(value: int) -> bytes:
    """``value`` as a varint."""
    return VARINTS[value] if 0 <= value < len(VARINTS) else _encoded(value)


class _OfSize(dict[int, bytes]):
    """What a frame has for a line of some size, made when it is first asked for."""

    def __init__(self, make: Callable[[int], bytes]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, size: int) -> bytes:
        made = self[size] = self._make(size)
        return made


TAILS = _OfSize(lambda size: NULL + varint(size))


@lru_cache(maxsize=64)
def _heads(timestamp_delta: int, offset_size: int) -> _OfSize:
    """The heads of records whose offset delta takes ``offset_size`` bytes."""
    timestamp = b"\x00" + varint(timestamp_delta)
    fixed = len(timestamp) + offset_size + len(NO_HEADERS)
    return _OfSize(lambda size: varint(fixed + len(TAILS[size]) + size) + timestamp)


class OpenBatch:
    """The records of a batch to be, encoded."""

    def __init__(self, now: int) -> None:
        self.base_timestamp = self.max_timestamp = now
        self.count = 0
        self.size = 0
        self._pieces: list[bytes] = []

    @property
    def body(self) -> bytes:
        """The records as a batch has them."""
        return b"".join(self._pieces)

    def add_values(self, lines: Sequence[bytes], start: int, now: int, limit: int) -> int:
        """Add lines from ``start`` on as long as the size stays within ``limit``; the first one that was not added."""
        while start < len(lines):
            offset_size = len(varint(self.count))
            run = lines[start : start + min(RUN, _last_delta(offset_size) + 1 - self.count)]
            heads = _heads(now - self.base_timestamp, offset_size)
            around = offset_size + len(NO_HEADERS)
            sizes = [len(heads[size]) + len(TAILS[size]) + size + around for size in map(len, run)]
            sums = list(accumulate(sizes, initial=self.size))
            fitting = bisect_right(sums, limit) - 1
            if fitting <= 0 and not self.count:
                fitting = 1
            self._add_run(run[: max(fitting, 0)], heads)
            if fitting > 0:
                self.size = sums[fitting]
                self.max_timestamp = max(self.max_timestamp, now)
                start += fitting
            if fitting < len(run):
                break
        return start

    def _add_run(self, run: Sequence[bytes], heads: _OfSize) -> None:
        count = self.count
        self._pieces += [
            piece
            for line, delta in zip(run, map(varint, range(count, count + len(run))), strict=True)
            for piece in (heads[len(line)], delta, TAILS[len(line)], line, NO_HEADERS)
        ]
        self.count += len(run)

    def add(self, payload: bytes, now: int, limit: int) -> bool:
        """Add one record of any shape, by its encoded payload; False where it does not fit."""
        body = b"\x00" + varint(now - self.base_timestamp) + varint(self.count) + payload
        record = varint(len(body)) + body
        if self.count and self.size + len(record) > limit:
            return False
        self._pieces.append(record)
        self.count += 1
        self.size += len(record)
        self.max_timestamp = max(self.max_timestamp, now)
        return True


def _last_delta(offset_size: int) -> int:
    """The largest offset delta that takes so many bytes: a zigzag varint has 6 bits in its first, then 7."""
    return (1 << 7 * offset_size - 1) - 1


def encode_payload(line: Line) -> bytes:
    """Key, value and headers as a record has them."""
    payload = _sized(line.key) + _sized(line.value) + varint(len(line.headers))
    for header in line.headers:
        payload += _sized(header.key.encode()) + _sized(header.value)
    return payload


def _sized(data: bytes | None) -> bytes:
    return NULL if data is None else varint(len(data)) + data


Send = Callable[[int, OpenBatch], float]
"""Sends a batch to a partition; how much smaller its codec made it."""


class RecordAccumulator:
    """The open batches of a topic; ``send`` is given each that is full."""

    def __init__(self, partitions: int, options: ProducerOptions, random: Random, send: Send) -> None:
        self._partitions = partitions
        self._options = options
        self._random = random
        self._send = send
        self._open: dict[int, OpenBatch] = {}
        self._sticky = random.randrange(partitions)
        self._ratio = 1.0

    @property
    def oldest(self) -> int | None:
        """When the oldest batch that waits was begun; None where none waits."""
        return min((batch.base_timestamp for batch in self._open.values()), default=None)

    @property
    def record_count(self) -> int:
        """How many records wait."""
        return sum(batch.count for batch in self._open.values())

    def append_values(self, lines: Sequence[bytes], now: int) -> None:
        """Add records that have nothing but a value."""
        start = 0
        while start < len(lines):
            start = self._batch(self._sticky, now).add_values(lines, start, now, self._limit)
            if start < len(lines):
                self._finish(self._sticky)
                self._sticky = self._random.randrange(self._partitions)

    def append(self, key: bytes | None, payload: bytes, now: int) -> None:
        """Add a record of any shape; ``payload`` is what ``encode_payload`` gives."""
        if self._options.ignores_keys:
            key = None
        while True:
            partition = self._sticky if key is None else partition_for_key(key, self._partitions)
            if self._batch(partition, now).add(payload, now, self._limit):
                return
            self._finish(partition)
            if key is None:
                self._sticky = self._random.randrange(self._partitions)

    def drain(self, begun_before: int | None = None) -> None:
        """Send what waits: all, or the batches that were begun by a time."""
        for partition in [*self._waiting(begun_before)]:
            self._finish(partition)

    def _waiting(self, begun_before: int | None) -> Iterator[int]:
        for partition, batch in self._open.items():
            if begun_before is None or batch.base_timestamp <= begun_before:
                yield partition

    def _batch(self, partition: int, now: int) -> OpenBatch:
        if partition not in self._open:
            self._open[partition] = OpenBatch(now)
        return self._open[partition]

    def _finish(self, partition: int) -> None:
        observed = self._send(partition, self._open.pop(partition))
        if observed > self._ratio:
            self._ratio = max(self._ratio + RATIO_DETERIORATING_STEP, observed)
        else:
            self._ratio = max(self._ratio - RATIO_IMPROVING_STEP, observed)

    @property
    def _limit(self) -> int:
        """How large the records of a batch may be before they are compressed."""
        room = self._options.batch_size - HEADER_SIZE
        return room if self._options.codec is Codec.NONE else int(room / (self._ratio * RATIO_MARGIN))
