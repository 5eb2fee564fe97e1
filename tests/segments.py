"""Random segment files for tests, and damage to them.

Everything takes a ``random.Random``, so that a seed names a file. Batches of magic 2 are written by kafkapy's own
encoder, which the reference tests hold against Kafka; message sets v0 and v1, which kafkapy never writes, by a small
encoder here. A mutation may repair the checksums afterwards: damage with a right checksum reaches the code behind it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple
from zlib import crc32

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Codec, compress
from kafkapy.formats.record_batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    BatchOptions,
    Header,
    Record,
    decode_header,
    encode_batch,
    encode_header,
)

V2_CODECS = tuple(Codec)
LEGACY_CODECS = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
TEXTS = (
    "",
    "k1",
    "Grüße",
    "日本語",
    "𝄞 clef",
    'say "hi"\\',
    "line\nbreak\r\n",
    "tab\there",
    "\x00\x1b[31m",
    "\x7f\u2028",
)
BAD_UTF8 = (
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xed\xbf",
    b"\xf0\x9d\x84",
    b"\xc0\x80",
    b"a\x80b",
    b"\xe2\x82",
    b"\xf4\x90\x80\x80",
)
EXTREMES = (0, -1, 1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))


def any_bytes(rng: Random) -> bytes | None:
    """A key, a value or a header's value."""
    kind = rng.randrange(8)
    if kind == 0:
        return None
    if kind == 1:
        return rng.choice(BAD_UTF8) + rng.choice(TEXTS).encode()
    if kind == 2:
        return rng.randbytes(rng.randrange(40))
    if kind == 3:
        return rng.choice(TEXTS).encode() * rng.randrange(1, 60)
    return f"{rng.choice(TEXTS)}-{rng.randrange(1000)}".encode()


def any_records(rng: Random, base_offset: int, count: int) -> list[Record]:
    """Records in order, some offsets left out as compaction does."""
    offset, timestamp, records = base_offset, 1_700_000_000_000 + rng.randrange(10**9), []
    for _ in range(count):
        headers = tuple(Header(rng.choice(TEXTS), any_bytes(rng)) for _ in range(rng.choice((0, 0, 0, 1, 3))))
        records.append(Record(offset, timestamp, any_bytes(rng), any_bytes(rng), headers))
        offset += rng.choice((1, 1, 1, 1, 1, 1, 2, 70))
        timestamp += rng.choice((0, 1, 5, 1000, -3000, 10**10))
    return records


def any_options(rng: Random, base_offset: int) -> BatchOptions:
    """A batch of any codec, timestamp type and producer."""
    options = BatchOptions(
        base_offset=base_offset,
        codec=rng.choice(V2_CODECS),
        partition_leader_epoch=rng.choice((-1, 0, 7)),
        log_append_time=1_800_000_000_000 if rng.randrange(4) == 0 else None,
        delete_horizon_ms=1_650_000_000_000 if rng.randrange(6) == 0 else None,
    )
    if rng.randrange(2):
        sequence = rng.choice((0, 5, 2**31 - 2, 2**31 - 1))
        transactional = rng.randrange(2) == 0
        options = options._replace(
            producer_id=rng.randrange(5), producer_epoch=3, base_sequence=sequence, transactional=transactional
        )
    return options


def control_marker(offset: int, producer_id: int, committed: bool) -> bytes:
    """The control batch that ends a transaction."""
    key, value = struct.pack(">hh", 0, 1 if committed else 0), struct.pack(">hi", 0, 9)
    options = BatchOptions(offset, transactional=True, control=True, producer_id=producer_id, producer_epoch=0)
    return encode_batch([Record(offset, 1_700_000_000_000, key, value)], options)


def control_batch(rng: Random, base_offset: int) -> bytes:
    """A control batch: markers of transactions, other control records, and keys and values that are neither."""
    keys = [struct.pack(">hh", 0, kind) for kind in (0, 1, 1, 0, 2, 3, 4, 5, 6, 9)] + [
        b"",
        b"\x00",
        None,
        b"\x00\x05\x00\x01",
    ]
    values = [
        struct.pack(">hi", 0, rng.choice((0, 1, 77, -1))),
        struct.pack(">hi", 0, 4),
        b"",
        b"\x00\x00",
        None,
        rng.randbytes(12),
    ]
    record = Record(base_offset, 1_700_000_000_000, rng.choice(keys), rng.choice(values))
    options = BatchOptions(base_offset, transactional=rng.randrange(2) == 0, control=True, producer_id=rng.randrange(3))
    return encode_batch([record], options._replace(codec=rng.choice((Codec.NONE, Codec.NONE, Codec.LZ4))))


def any_batch(rng: Random, base_offset: int, most_records: int = 8) -> bytes:
    """A whole and valid batch of magic 2."""
    if rng.randrange(8) == 0:
        return control_batch(rng, base_offset)
    records = any_records(rng, base_offset, rng.randrange(most_records + 1))
    return encode_batch(records, any_options(rng, base_offset))


def batch_with_body(header_of: bytes, body: bytes, codec: Codec | None = None) -> bytes:
    """The batch ``header_of`` with another body, compressed by its own codec or by another, and a right checksum."""
    header = decode_header(header_of)
    packed = compress(header.codec if codec is None else codec, body)
    whole = encode_header(header._replace(batch_length=HEADER_SIZE - LOG_OVERHEAD + len(packed))) + packed
    return repaired(whole)


def damaged_inside(rng: Random, base_offset: int) -> bytes:
    """A batch whose records are damaged although its compression and its checksum are right."""
    options = any_options(rng, base_offset)
    plain = encode_batch(any_records(rng, base_offset, rng.randrange(1, 6)), options._replace(codec=Codec.NONE))
    header = decode_header(plain)._replace(attributes=options.attributes)
    return batch_with_body(encode_header(header), mutated_bytes(rng, plain[HEADER_SIZE:]))


class OldMessage(NamedTuple):
    """A message of magic 0 or 1."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int = -1
    attributes: int = 0


def _sized(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def encode_message(message: OldMessage, magic: int) -> bytes:
    """A message with its offset and size."""
    body = struct.pack(">bb", magic, message.attributes)
    if magic == 1:
        body += struct.pack(">q", message.timestamp)
    body += _sized(message.key) + _sized(message.value)
    return struct.pack(">qiI", message.offset, len(body) + 4, crc32(body)) + body


def wrap_messages(
    messages: list[OldMessage], codec: Codec, magic: int, attributes: int = 0, timestamp: int = -1
) -> bytes:
    """A compressed message set: offsets inside are absolute in v0 and count from 0 in v1."""
    first = messages[0].offset if magic == 1 else 0
    inner = b"".join(encode_message(message._replace(offset=message.offset - first), magic) for message in messages)
    packed = lz4_of_magic_0(inner) if codec is Codec.LZ4 and magic == 0 else compress(codec, inner)
    return encode_message(OldMessage(messages[-1].offset, None, packed, timestamp, codec | attributes), magic)


def lz4_of_magic_0(data: bytes) -> bytes:
    """An LZ4 frame with a wrong header checksum, as clients wrote it with magic 0."""
    packed = bytearray(compress(Codec.LZ4, data))
    packed[6] ^= 0xFF
    return bytes(packed)


def any_message_set(rng: Random, base_offset: int) -> bytes:
    """Messages of one magic, plain or wrapped."""
    magic, codec = rng.randrange(2), rng.choice(LEGACY_CODECS)
    messages = [
        OldMessage(base_offset + n, any_bytes(rng), any_bytes(rng), 1_500_000_000_000 + n * 10)
        for n in range(rng.randrange(1, 5))
    ]
    if codec is Codec.NONE:
        append_time = 8 if magic and rng.randrange(3) == 0 else 0
        return b"".join(encode_message(message._replace(attributes=append_time), magic) for message in messages)
    attributes = 8 if magic and rng.randrange(3) == 0 else 0
    return wrap_messages(messages, codec, magic, attributes, 1_500_000_009_999)


def next_offset(data: bytes) -> int:
    """The offset after the last entry of ``data``, made up where the entry's own would be out of bounds."""
    last = 0
    for position, _, magic in entries(data):
        last = decode_header(data, position).last_offset if magic == 2 else struct.unpack_from(">q", data, position)[0]
    return last + 1 if 0 <= last < 2**62 else 0


def any_segment(rng: Random, base_offset: int = 0, most_batches: int = 5) -> bytes:
    """A whole segment: mostly batches of magic 2, at times message sets, at times what no broker writes."""
    data, offset = b"", base_offset
    for _ in range(rng.randrange(most_batches + 1)):
        kind = rng.randrange(12)
        if kind == 0:
            piece = damaged_inside(rng, offset)
        elif kind <= 2:
            piece = any_message_set(rng, offset)
        else:
            piece = any_batch(rng, offset)
        data += piece
        offset = next_offset(piece) + rng.choice((0, 0, 0, 0, 0, 3))
    return data


def entries(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Position, size and magic of every whole entry, by the size fields alone."""
    position = 0
    while position + 17 <= len(data):
        size = struct.unpack_from(">i", data, position + 8)[0] + LOG_OVERHEAD
        if size < 17 or position + size > len(data):
            return
        yield position, size, data[position + 16]
        position += size


def repaired(data: bytes) -> bytes:
    """``data`` with the right checksum in every entry that can be found."""
    out = bytearray(data)
    for position, size, magic in entries(data):
        if magic == 2 and size >= HEADER_SIZE:
            struct.pack_into(">I", out, position + 17, crc32c(bytes(out[position + 21 : position + size])))
        elif magic < 2:
            struct.pack_into(">I", out, position + 12, crc32(out[position + 16 : position + size]))
    return bytes(out)


def flip_bits(rng: Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def set_byte(rng: Random, data: bytes) -> bytes:
    out = bytearray(data)
    out[rng.randrange(len(out))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
    return bytes(out)


def truncate(rng: Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def zero_fill(rng: Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice((1, 8, 64, len(data))))
    return data[:start] + bytes(end - start) + data[end:]


def splice(rng: Random, data: bytes) -> bytes:
    """Cut a stretch out, double it, or put it elsewhere."""
    start = rng.randrange(len(data))
    end = rng.randrange(start, len(data)) + 1
    rest = data[:start] + data[end:]
    at = rng.randrange(len(rest) + 1)
    return rng.choice((rest, data[:end] + data[start:], rest[:at] + data[start:end] + rest[at:]))


def append_garbage(rng: Random, data: bytes) -> bytes:
    return data + rng.choice((bytes(rng.randrange(1, 100)), rng.randbytes(rng.randrange(1, 100)), data[:20]))


# form and place of the fields of a batch, and of a message; a field is there twice to be chosen more often
FIELDS = (
    (">q", 0), (">i", 8), (">i", 8), (">i", 12), (">b", 16), (">b", 16), (">b", 17), (">i", 18), (">h", 21), (">h", 21),
    (">i", 23), (">i", 26), (">q", 27), (">q", 35), (">q", 43), (">h", 51), (">i", 53), (">i", 57), (">i", 57),
)  # fmt: skip


def edit_field(rng: Random, data: bytes) -> bytes:
    """Change a field of the header of one entry: its size, attributes, deltas, times, counts."""
    found = list(entries(data))
    if not found:
        return set_byte(rng, data)
    position, size, _ = rng.choice(found)
    form, at = rng.choice(FIELDS)
    bits = 8 * struct.calcsize(form)
    if position + at + bits // 8 > len(data):
        return set_byte(rng, data)
    old = struct.unpack_from(form, data, position + at)[0]
    value = rng.choice((*EXTREMES, old + 1, old - 1, old * 2, size, 14, 49, rng.getrandbits(6)))
    value = (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    out = bytearray(data)
    struct.pack_into(form, out, position + at, value)
    return bytes(out)


Mutator = Callable[[Random, bytes], bytes]
BYTE_MUTATORS: tuple[Mutator, ...] = (flip_bits, set_byte, truncate, zero_fill, splice, append_garbage)
SEGMENT_MUTATORS: tuple[Mutator, ...] = (*BYTE_MUTATORS, edit_field, edit_field, edit_field)


def mutated_bytes(rng: Random, data: bytes) -> bytes:
    """Any bytes, damaged."""
    return rng.choice(BYTE_MUTATORS)(rng, data) if data else rng.randbytes(rng.randrange(4))


def mutated(rng: Random, data: bytes) -> bytes:
    """A segment with damage, its checksums repaired in half of the cases."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        data = rng.choice(SEGMENT_MUTATORS)(rng, data) if data else rng.randbytes(30)
    return repaired(data) if rng.randrange(2) else data


def offset_index(data: bytes, base_offset: int, every: int = 1) -> bytes:
    """The .index of a segment, an entry for each ``every`` entries."""
    out = b""
    for number, (position, _, magic) in enumerate(entries(data)):
        last = decode_header(data, position).last_offset if magic == 2 else struct.unpack_from(">q", data, position)[0]
        if number % every == 0 and position and 0 <= last - base_offset < 2**31:
            out += struct.pack(">ii", last - base_offset, position)
    return out


def time_index(data: bytes, base_offset: int) -> bytes:
    """The .timeindex of a segment: the largest timestamp so far and the last offset of its batch."""
    out, largest = b"", -1
    for position, size, magic in entries(data):
        if magic == 2 and size >= HEADER_SIZE:
            header = decode_header(data, position)
            last, time = header.last_offset, header.max_timestamp
        elif magic == 1:
            last, time = struct.unpack_from(">q", data, position)[0], struct.unpack_from(">q", data, position + 18)[0]
        else:
            continue
        if time > largest and 0 <= last - base_offset < 2**31:
            largest = time
            out += struct.pack(">qi", time, last - base_offset)
    return out
