"""What a leader checks before it appends a batch, and what it changes in it.

Offsets and the leader epoch stand outside the checksum and are written over. LogAppendTime sets a bit and the largest
timestamp. Another codec than the topic's, unless that is ``producer``, means that the records are packed anew.

A batch's header is believed to agree with its records (no client that kafkapy did not build writes here), so records
are looked at only where the header cannot tell: for keys on compacted topics, and for timestamps that may be out of
bounds.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError, KafkaError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import Codec, decompress
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    CRC_POSITION,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    BatchHeader,
    BatchOptions,
    Record,
    decode_header,
    decode_records,
    encode_batch,
    encode_header,
    is_valid,
)
from kafkapy.formats.varint import read_varint
from kafkapy.log.producer_append import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkapy.log.config import LogConfig
    from kafkapy.log.topic_partition import TopicPartition

_FRONT = Struct(">qii")  # base offset, batch length, leader epoch
MAX_SHOWN = 3
NULL_SIZE = 1  # -1 as a varint


class RecordError(NamedTuple):
    """What is wrong with the record at ``batch_index`` of a batch."""

    batch_index: int
    message: str

    def __str__(self) -> str:
        return f"RecordError(batchIndex={self.batch_index}, message='{self.message}')"


class RecordValidationError(KafkaError):
    """A batch was refused because of some of its records."""

    def __init__(self, name: str, message: str, record_errors: list[RecordError]) -> None:
        super().__init__(name, message)
        self.record_errors = record_errors


class Assignment(NamedTuple):
    """What the leader gives to a batch."""

    offset: int
    leader_epoch: int
    now: int


def check_batch(data: bytes, header: BatchHeader, partition: TopicPartition, config: LogConfig, origin: Origin) -> None:
    """Refuse a batch that a leader does not take, by its header, size and checksum."""
    if origin is Origin.CLIENT and header.base_offset != 0:
        raise _invalid(
            f"The baseOffset of the record batch in the append to {partition} should be 0, but it is "
            f"{header.base_offset}"
        )
    if header.size > config.max_message_bytes:
        raise KafkaError(
            "RecordTooLargeException",
            f"The record batch size in the append to {partition} is {header.size} bytes which exceeds the maximum "
            f"configured value of {config.max_message_bytes}).",
        )
    if header.size != len(data):
        raise _invalid("Compressed outer record has more than one batch")
    if not is_valid(data, header):
        raise KafkaError(
            "CorruptRecordException",
            f"Record is corrupt (stored crc = {header.crc}) in topic partition {partition}.",
        )
    if origin is Origin.CLIENT:
        _check_client_header(header, partition)


def assign(
    data: bytes, header: BatchHeader, partition: TopicPartition, config: LogConfig, given: Assignment
) -> tuple[bytes, BatchHeader]:
    """The batch as it is stored, with offsets, leader epoch, timestamps and codec; what is wrong inside is refused."""
    if _needs_look(data, header, config, given.now):
        _check_records(data, header, partition, config, given.now)
    target = config.target_codec(header.codec)
    if target is not header.codec and not header.is_control:
        return _repacked(data, header, partition, config, given)
    stored = header._replace(base_offset=given.offset, partition_leader_epoch=given.leader_epoch)
    front = _FRONT.pack(given.offset, header.batch_length, given.leader_epoch)
    if not config.is_log_append_time:
        return front + data[_FRONT.size :], stored
    stored = stored._replace(attributes=header.attributes | LOG_APPEND_TIME, max_timestamp=given.now)
    return _sealed(stored, data[HEADER_SIZE:])


def build_batch(records: list[Record], config: LogConfig) -> bytes:
    """A client's batch of ``records``, whose offsets do not matter."""
    numbered = [record._replace(offset=number) for number, record in enumerate(records)]
    codec = config.target_codec(Codec.NONE)
    return encode_batch(numbered, BatchOptions(codec=codec, level=config.compression_level(codec)))


def _check_client_header(header: BatchHeader, partition: TopicPartition) -> None:
    span = f"[{header.base_offset}, {header.last_offset}]"
    if header.last_offset_delta < 0:
        raise _invalid(f"Batch has an invalid offset range: {span} in topic partition {partition}")
    if header.record_count <= 0:
        raise _invalid(f"Invalid reported count for record batch: {header.record_count} in topic partition {partition}")
    if header.last_offset_delta + 1 != header.record_count:
        raise _invalid(
            f"Inconsistent batch offset range {span} and count of records {header.record_count} in topic partition "
            f"{partition}"
        )
    if header.is_control:
        raise _invalid(f"Clients are not allowed to write control records in topic partition {partition}")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise _invalid(
            f"Invalid sequence number {header.base_sequence} in record batch with producerId {header.producer_id} in "
            f"topic partition {partition}"
        )


def _needs_look(data: bytes, header: BatchHeader, config: LogConfig, now: int) -> bool:
    if header.is_log_append_time or (config.compact and not _all_have_keys(data, header)):
        return True
    if config.is_log_append_time:
        return False
    # the header has the largest timestamp only, so a lower bound that any time since 1970 could miss needs a look
    too_old = config.message_timestamp_before_max_ms < now
    return too_old or header.max_timestamp - now > config.message_timestamp_after_max_ms


def _all_have_keys(data: bytes, header: BatchHeader) -> bool:
    """Whether no record's key is null; False also where the records do not look like records."""
    body = data[HEADER_SIZE:] if header.codec is Codec.NONE else decompress(header.codec, data[HEADER_SIZE:])
    position = 0
    try:
        for _ in range(header.record_count):
            length, position = read_varint(body, position)
            end = position + length
            position += 1
            for _ in range(2):  # timestamp and offset deltas
                while body[position] > 0x7F:
                    position += 1
                position += 1
            if body[position] == NULL_SIZE or length <= 0:
                return False
            position = end
    except (IndexError, CorruptRecordError):
        return False
    return True


def _check_records(data: bytes, header: BatchHeader, partition: TopicPartition, config: LogConfig, now: int) -> None:
    errors, timestamps = [], False
    for index, record in enumerate(decode_records(header, memoryview(data)[HEADER_SIZE:])):
        if config.compact and record.key is None:
            message = f"Compacted topic cannot accept message without key in topic partition {partition}"
            errors.append(RecordError(index, message))
            continue
        wrong = _wrong_timestamp(record, header, config, now)
        if wrong is not None:
            errors.append(RecordError(index, wrong))
            timestamps = True
    if timestamps:
        message = "One or more records have been rejected due to invalid timestamp"
        raise RecordValidationError("InvalidTimestampException", message, errors)
    if errors:
        raise RecordValidationError("InvalidRecordException", _rejected(errors), errors)


def _wrong_timestamp(record: Record, header: BatchHeader, config: LogConfig, now: int) -> str | None:
    if not config.is_log_append_time and record.timestamp != NO_TIMESTAMP:
        before, after = config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms
        if now - record.timestamp > before or record.timestamp - now > after:
            return (
                f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range. "
                f"The timestamp should be within [{now - before}, {now + after}]"
            )
    elif header.is_log_append_time:
        return (
            f"Invalid timestamp type in message {_shown(record)}. Producer should not set timestamp type to "
            "LogAppendTime."
        )
    return None


def _shown(record: Record) -> str:
    sizes = [len(part or b"") for part in (record.key, record.value)]
    return (
        f"DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, key={sizes[0]} bytes, "
        f"value={sizes[1]} bytes)"
    )


def _rejected(errors: list[RecordError]) -> str:
    shown = ", ".join(str(error) for error in errors[:MAX_SHOWN])
    return (
        f"One or more records have been rejected due to {len(errors)} record errors in total, and only showing the "
        f"first three errors at most: [{shown}]"
    )


def _repacked(
    data: bytes, header: BatchHeader, partition: TopicPartition, config: LogConfig, given: Assignment
) -> tuple[bytes, BatchHeader]:
    codec = config.target_codec(header.codec)
    options = BatchOptions(
        base_offset=given.offset,
        codec=codec,
        partition_leader_epoch=given.leader_epoch,
        log_append_time=given.now if config.is_log_append_time else None,
        transactional=header.is_transactional,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        level=config.compression_level(codec),
    )
    packed = encode_batch(_numbered(data, header, given.offset), options)
    if len(packed) > config.max_message_bytes:
        raise KafkaError(
            "RecordTooLargeException",
            f"Message batch size is {len(packed)} bytes in append topartition {partition} which exceeds the maximum "
            f"configured size of {config.max_message_bytes}.",
        )
    return packed, decode_header(packed)


def _numbered(data: bytes, header: BatchHeader, offset: int) -> Iterator[Record]:
    for number, record in enumerate(decode_records(header, memoryview(data)[HEADER_SIZE:])):
        yield record._replace(offset=offset + number)


def _sealed(header: BatchHeader, body: bytes) -> tuple[bytes, BatchHeader]:
    whole = encode_header(header) + body
    header = header._replace(crc=crc32c(whole[ATTRIBUTES_POSITION:]))
    seal = header.crc.to_bytes(4, "big")
    return whole[:CRC_POSITION] + seal + whole[ATTRIBUTES_POSITION:], header


def _invalid(message: str) -> KafkaError:
    return KafkaError("InvalidRecordException", message)
