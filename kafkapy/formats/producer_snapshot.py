"""The producer state of a partition at one offset: ``%020d.snapshot``, named by the next offset.

| at | size | field                                  |
|----|------|----------------------------------------|
| 0  | 2    | version, 1                             |
| 2  | 4    | crc, CRC-32C of everything from byte 6 |
| 6  | 4    | count                                  |
| 10 | 46   | each producer                          |

A producer: int64 producerId, int16 epoch, int32 lastSequence, int64 lastOffset, int32 offsetDelta, int64 timestamp,
int32 coordinatorEpoch, int64 currentTxnFirstOffset.

Invariant: one entry a producer id, in no order. Only the last batch of each producer is kept; after an end marker
there is none: lastSequence and lastOffset are -1.

After a crash Kafka loads the newest snapshot that is whole and replays the log from its offset; one that is not is
deleted. Bytes after the last entry are ignored, but the checksum covers them.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptSnapshotError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkapy.formats.abstract_index import ReadableBuffer

VERSION = 1
NO_OFFSET = -1

_VERSION = Struct(">h")
_HEADER = Struct(">hIi")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_CRC_END = 6
_SEQUENCES = 2**31


class ProducerStateEntry(NamedTuple):
    """One producer, with the values that are on disk; -1 stands for none."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int = NO_OFFSET

    @property
    def has_batch(self) -> bool:
        """Whether the last batch is known."""
        return self.last_offset >= 0

    @property
    def has_open_txn(self) -> bool:
        return self.current_txn_first_offset >= 0

    @property
    def first_sequence(self) -> int:
        """Of the last batch; sequences wrap from 2^31 - 1 to 0."""
        first = self.last_sequence - self.offset_delta
        return first if self.last_sequence >= self.offset_delta else first + _SEQUENCES


def decode(data: ReadableBuffer) -> list[ProducerStateEntry]:
    """The entries, in file order; what is wrong is said in Kafka's words."""
    try:
        stored_crc, entries = _decode_schema(data)
    except CorruptSnapshotError as error:
        raise CorruptSnapshotError(f"Snapshot failed schema validation: {error}") from None
    computed_crc = _crc(data)
    if stored_crc != computed_crc:
        raise CorruptSnapshotError(
            f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {stored_crc}. Computed crc: {computed_crc}"
        )
    return entries


def encode(entries: Sequence[ProducerStateEntry]) -> bytes:
    body = _COUNT.pack(len(entries)) + b"".join(_ENTRY.pack(*entry) for entry in entries)
    unsealed = bytes(_CRC_END) + body
    return _HEADER.pack(VERSION, _crc(unsealed), len(entries)) + body[_COUNT.size :]


def _decode_schema(data: ReadableBuffer) -> tuple[int, list[ProducerStateEntry]]:
    # Kafka says "null" for bytes that end too soon: its BufferUnderflowException has no message.
    if len(data) < _VERSION.size:
        raise CorruptSnapshotError("null")
    version = _VERSION.unpack_from(data)[0]
    if version != VERSION:
        raise CorruptSnapshotError(f"Snapshot contained an unknown file version {version}")
    if len(data) < _HEADER.size:
        raise CorruptSnapshotError("null")
    _, stored_crc, count = _HEADER.unpack_from(data)
    _check_count(count, len(data) - _HEADER.size)
    end = _HEADER.size + count * _ENTRY.size
    return stored_crc, [ProducerStateEntry._make(row) for row in _ENTRY.iter_unpack(data[_HEADER.size : end])]


def _check_count(count: int, remaining: int) -> None:
    if count < 0:
        raise CorruptSnapshotError("non-nullable field producerEntries was serialized as null")
    if count > remaining:
        raise CorruptSnapshotError(
            f"Tried to allocate a collection of size {count}, but there are only {remaining} bytes remaining."
        )
    if count * _ENTRY.size > remaining:
        raise CorruptSnapshotError("null")


def _crc(data: ReadableBuffer) -> int:
    from kafkapy.formats.checksum import crc32c

    return crc32c(memoryview(data)[_CRC_END:])
