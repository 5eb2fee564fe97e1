"""Kafka's text lines of batches and records, where no kernel writes them.

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
