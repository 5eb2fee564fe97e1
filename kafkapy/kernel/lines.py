"""Kafka's text lines and JSON rows of batches, where no kernel writes them.

DumpLogSegments prints a batch's line in two steps and looks at the codec only in the second one, so the first step is a
function of its own here: it is what stands on stdout when the codec is unknown.
"""

from __future__ import annotations

from kafkapy.formats.record_batch import CODEC_MASK, BatchHeader

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BOOLEANS = ("false", "true")


def batch_start(header: BatchHeader) -> bytes:
    """The line of a batch up to its position."""
    horizon = header.delete_horizon_ms
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.record_count}"
        f" baseSequence: {header.base_sequence} lastSequence: {header.last_sequence}"
        f" producerId: {header.producer_id} producerEpoch: {header.producer_epoch}"
        f" partitionLeaderEpoch: {header.partition_leader_epoch}"
        f" isTransactional: {BOOLEANS[header.is_transactional]} isControl: {BOOLEANS[header.is_control]}"
        f" deleteHorizonMs: {'OptionalLong.empty' if horizon is None else f'OptionalLong[{horizon}]'}"
    ).encode()


def batch_line(header: BatchHeader, position: int, valid: bool) -> bytes:
    """The line of a batch."""
    return (
        batch_start(header)
        + (
            f" position: {position} {header.timestamp_type}: {header.max_timestamp} size: {header.size}"
            f" magic: {header.magic} compresscodec: {CODECS[header.attributes & CODEC_MASK]} crc: {header.crc}"
            f" isvalid: {BOOLEANS[valid]}\n"
        ).encode()
    )


def text_head(timestamp_type: str, offset: int, timestamp: int, key_size: int, value_size: int, sequence: int) -> bytes:
    """The line of a record up to its header keys."""
    return (
        f"| offset: {offset} {timestamp_type}: {timestamp} keySize: {key_size} valueSize: {value_size}"
        f" sequence: {sequence} headerKeys: ["
    ).encode()


def json_batch(header: BatchHeader, position: int, valid: bool) -> bytes:
    """A batch as the rest of a JSON row, after its file."""
    horizon = header.delete_horizon_ms
    return (
        f',"position":{position},"size":{header.size},"base_offset":{header.base_offset}'
        f',"last_offset":{header.last_offset},"count":{header.record_count}'
        f',"base_sequence":{header.base_sequence},"last_sequence":{header.last_sequence}'
        f',"producer_id":{header.producer_id},"producer_epoch":{header.producer_epoch}'
        f',"partition_leader_epoch":{header.partition_leader_epoch}'
        f',"transactional":{BOOLEANS[header.is_transactional]},"control":{BOOLEANS[header.is_control]}'
        f',"delete_horizon_ms":{"null" if horizon is None else horizon}'
        f',"timestamp_type":"{header.timestamp_type}","max_timestamp":{header.max_timestamp}'
        f',"magic":{header.magic},"compression":"{CODECS[header.attributes & CODEC_MASK]}","crc":{header.crc}'
        f',"valid":{BOOLEANS[valid]}}}'
    ).encode()


def json_batch_of_record(header: BatchHeader, position: int, valid: bool) -> bytes:
    """What a record shares with its batch, as the rest of a JSON row."""
    return (
        f',"batch_position":{position},"base_offset":{header.base_offset}'
        f',"producer_id":{header.producer_id},"producer_epoch":{header.producer_epoch}'
        f',"partition_leader_epoch":{header.partition_leader_epoch}'
        f',"transactional":{BOOLEANS[header.is_transactional]},"control":{BOOLEANS[header.is_control]}'
        f',"magic":{header.magic},"compression":"{CODECS[header.attributes & CODEC_MASK]}"'
        f',"valid":{BOOLEANS[valid]}}}'
    ).encode()
