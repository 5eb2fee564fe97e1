"""A batch as a producer sends it: the header around records that are encoded and compressed already.

Base offset and leader epoch are left to whoever appends it. The producer's id, epoch and sequence stand in the header
and under the checksum, so a batch that is to have others is sealed anew; its records stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import compress
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    HEADER_SIZE,
    LOG_OVERHEAD,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    BatchHeader,
    BatchOptions,
    Record,
    decode_header,
    decode_records,
    encode_batch,
    encode_header,
)

if TYPE_CHECKING:
    from kafkapy.backends.producer_options import ProducerOptions
    from kafkapy.backends.producing import OpenBatch


class Numbers(NamedTuple):
    """Whose batch it is, and where in the order of a partition's batches it stands."""

    producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_PRODUCER_EPOCH
    sequence: int = NO_SEQUENCE
    transactional: bool = False


class Packed(NamedTuple):
    """Records of a batch, compressed by a codec (its number)."""

    records: bytes
    record_count: int
    codec: int
    base_timestamp: int
    max_timestamp: int


def pack(batch: OpenBatch, options: ProducerOptions) -> Packed:
    """The records of a batch that is full, compressed."""
    records = compress(options.codec, batch.body, options.level)
    return Packed(records, batch.count, options.codec, batch.base_timestamp, batch.max_timestamp)


def halves(data: bytes, options: ProducerOptions) -> list[Packed]:
    """The records of a whole batch in two parts."""
    records = list(decode_records(decode_header(data), data[HEADER_SIZE:]))
    middle = len(records) // 2
    return [_packed(part, options) for part in (records[:middle], records[middle:])]


def _packed(records: list[Record], options: ProducerOptions) -> Packed:
    numbered = [record._replace(offset=number) for number, record in enumerate(records)]
    encoded = encode_batch(numbered, BatchOptions(codec=options.codec, level=options.level))
    header = decode_header(encoded)
    return Packed(encoded[HEADER_SIZE:], len(records), options.codec, header.base_timestamp, header.max_timestamp)


def seal(packed: Packed, numbers: Numbers) -> bytes:
    """The whole batch."""
    header = BatchHeader(
        base_offset=0,
        batch_length=HEADER_SIZE - LOG_OVERHEAD + len(packed.records),
        attributes=packed.codec | (TRANSACTIONAL if numbers.transactional else 0),
        last_offset_delta=packed.record_count - 1,
        base_timestamp=packed.base_timestamp,
        max_timestamp=packed.max_timestamp,
        producer_id=numbers.producer_id,
        producer_epoch=numbers.epoch,
        base_sequence=numbers.sequence,
        record_count=packed.record_count,
    )
    crc = crc32c(packed.records, crc32c(encode_header(header)[ATTRIBUTES_POSITION:]))
    return encode_header(header._replace(crc=crc)) + packed.records
