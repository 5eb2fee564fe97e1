"""Record batches of magic 2: round trips of every attribute, Kafka's arithmetic, and damage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptRecordError, FormatError
from kafkapy.formats.compression import Codec, compress
from kafkapy.formats.record_batch import (
    HEADER_SIZE,
    BatchHeader,
    BatchOptions,
    Header,
    Record,
    decode_header,
    decode_records,
    encode_batch,
    encode_header,
    increment_sequence,
    is_valid,
)
from kafkapy.formats.varint import write_varint

int16, int32, int64 = (st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (16, 32, 64))
maybe_bytes = st.one_of(st.none(), st.binary(max_size=20))
names = st.text(st.characters(codec="utf-8"), max_size=6)
headers = st.lists(st.builds(Header, names, maybe_bytes), max_size=3).map(tuple)
timestamps = st.integers(-(2**62), 2**62)


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Record], BatchOptions]:
    base = draw(st.integers(0, 2**62))
    deltas = sorted(draw(st.sets(st.one_of(st.integers(0, 50), st.integers(0, 2**31 - 1)), max_size=6)))
    records = [
        Record(base + delta, draw(timestamps), draw(maybe_bytes), draw(maybe_bytes), draw(headers)) for delta in deltas
    ]
    options = BatchOptions(
        base_offset=base,
        codec=draw(st.sampled_from(Codec)),
        partition_leader_epoch=draw(int32),
        log_append_time=draw(st.one_of(st.none(), timestamps)),
        delete_horizon_ms=draw(st.one_of(st.none(), timestamps)),
        transactional=draw(st.booleans()),
        control=draw(st.booleans()),
        producer_id=draw(int64),
        producer_epoch=draw(int16),
        base_sequence=draw(st.integers(-1, 2**31 - 1)),
        last_offset_delta=draw(st.one_of(st.none(), st.integers(0, 2**31 - 1))),
    )
    return records, options


def read_back(record: Record, options: BatchOptions) -> Record:
    """A record as it should come out: with the batch's clock and its own sequence number."""
    sequence = -1
    if options.base_sequence >= 0:
        sequence = (options.base_sequence + record.offset - options.base_offset) % 2**31
    timestamp = record.timestamp if options.log_append_time is None else options.log_append_time
    return record._replace(timestamp=timestamp, sequence=sequence)


@given(batches())
def test_round_trip(batch: tuple[list[Record], BatchOptions]) -> None:
    records, options = batch
    data = encode_batch(records, options)
    header = decode_header(data)
    assert header.size == len(data)
    assert is_valid(data, header)
    assert list(decode_records(header, data[HEADER_SIZE:])) == [read_back(record, options) for record in records]


@given(batches())
def test_the_header_says_what_the_options_say(batch: tuple[list[Record], BatchOptions]) -> None:
    records, options = batch
    header = decode_header(encode_batch(records, options))
    assert (header.magic, header.record_count, header.base_offset) == (2, len(records), options.base_offset)
    assert (header.codec, header.is_transactional, header.is_control, header.delete_horizon_ms) == (
        options.codec,
        options.transactional,
        options.control,
        options.delete_horizon_ms,
    )
    assert header.is_log_append_time is (options.log_append_time is not None)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.partition_leader_epoch) == (
        options.producer_id,
        options.producer_epoch,
        options.base_sequence,
        options.partition_leader_epoch,
    )
    if options.last_offset_delta is None and records:
        assert header.last_offset == records[-1].offset
    if options.log_append_time is None:
        assert header.max_timestamp == max((record.timestamp for record in records), default=-1)
    else:
        assert (header.timestamp_type, header.max_timestamp) == ("LogAppendTime", options.log_append_time)


@given(st.binary(min_size=HEADER_SIZE, max_size=HEADER_SIZE))
def test_any_61_bytes_are_a_header(data: bytes) -> None:
    header = decode_header(data)
    assert encode_header(header) == data
    assert -(2**63) <= header.last_offset < 2**63
    assert -(2**31) <= header.last_sequence < 2**31


def test_a_header_needs_61_bytes() -> None:
    with pytest.raises(CorruptRecordError, match="needs 61 bytes, 60 are left"):
        decode_header(bytes(70), 10)


@given(batches(), st.data())
def test_every_byte_under_the_checksum_is_guarded(
    batch: tuple[list[Record], BatchOptions], choose: st.DataObject
) -> None:
    data = bytearray(encode_batch(*batch))
    at = choose.draw(st.integers(17, len(data) - 1))
    data[at] ^= choose.draw(st.integers(1, 255))
    assert not is_valid(data, decode_header(data))


@given(batches(), st.integers(-(2**63), 2**63 - 1), int32)
def test_offset_and_epoch_may_be_rewritten(batch: tuple[list[Record], BatchOptions], offset: int, epoch: int) -> None:
    data = encode_batch(*batch)
    header = decode_header(data)._replace(base_offset=offset, partition_leader_epoch=epoch)
    rewritten = encode_header(header) + data[HEADER_SIZE:]
    assert is_valid(rewritten, decode_header(rewritten))


def test_validity_needs_the_whole_batch() -> None:
    data = encode_batch([Record(0, 0, b"k", b"v")])
    header = decode_header(data)
    assert is_valid(b"front" + data, header, 5)
    assert not is_valid(data[:-1], header)
    assert not is_valid(data, header._replace(batch_length=48))


@pytest.mark.parametrize(
    ("sequence", "increment", "result"),
    [
        (0, 0, 0),
        (5, 7, 12),
        (2**31 - 1, 0, 2**31 - 1),
        (2**31 - 1, 1, 0),
        (2**31 - 2, 5, 3),
        (2**31 - 1, 2**31 - 1, 2**31 - 2),
        # a damaged delta is negative; Java's int arithmetic goes on regardless
        (5, -1, -(2**31) + 4),
    ],
)
def test_sequences_wrap_as_in_kafka(sequence: int, increment: int, result: int) -> None:
    assert increment_sequence(sequence, increment) == result


def body(*records: bytes) -> bytes:
    out = bytearray()
    for record in records:
        write_varint(len(record), out)
        out += record
    return bytes(out)


#        attributes, timestamp delta, offset delta, null key, null value, no headers
EMPTY = bytes([0, 0, 0, 1, 1, 0])


@pytest.mark.parametrize(
    ("data", "count", "error"),
    [
        (body(EMPTY), 2, "runs past the end"),
        (body(EMPTY, EMPTY), 1, "records still remaining"),
        (body(EMPTY) + b"\x00", 1, "records still remaining"),
        (body(EMPTY), -1, "invalid record count -1"),
        (body(EMPTY)[:-1], 1, "Invalid record size: expected 6 bytes"),
        (b"\x01" + EMPTY, 1, "Invalid record size: expected -1 bytes"),
        (body(EMPTY + b"\x00"), 1, "expected to read 7 bytes in record payload, but instead read 6"),
        (body(bytes([0, 0, 0, 20, 1, 0])), 1, "Found invalid record structure"),
        (body(bytes([0, 0, 0, 1, 1, 1])), 1, "invalid number of record headers -1"),
        (body(bytes([0, 0, 0, 1, 1, 126])), 1, "63 is larger than the remaining size"),
        (body(bytes([0, 0, 0, 1, 1, 2, 1, 1])), 1, "Invalid negative header key size"),
    ],
)
def test_damage_in_records(data: bytes, count: int, error: str) -> None:
    with pytest.raises(CorruptRecordError, match=error):
        list(decode_records(BatchHeader(0, record_count=count), data))


def test_sizes_below_minus_one_are_null() -> None:
    header = BatchHeader(7, record_count=1)
    assert list(decode_records(header, body(bytes([0, 0, 0, 3, 5, 0])))) == [Record(7, -1, None, None)]


def test_offsets_and_times_wrap_as_in_java() -> None:
    header = BatchHeader(2**63 - 1, base_timestamp=2**63 - 1, record_count=1)
    (record,) = decode_records(header, body(bytes([0, 2, 2, 1, 1, 0])))
    assert (record.offset, record.timestamp) == (-(2**63), -(2**63))


@given(st.binary(max_size=80), int32, st.sampled_from(Codec))
def test_any_body_gives_records_or_a_format_error(data: bytes, count: int, codec: Codec) -> None:
    header = BatchHeader(0, attributes=codec, record_count=count)
    for packed in (data, compress(codec, data)):
        try:
            assert len(list(decode_records(header, packed))) == count
        except FormatError:
            continue
