"""What compaction leaves of a batch.

A record stays if it is newer than the offset map knows, or if it has a key, is the newest of that key, and either has
a value or its tombstone's time has not come. A batch in which all stay keeps its bytes. One of which some go is
written anew with its base offset, last offset, sequences, epochs and codec. One that is left empty goes, unless it is
the last of a producer that is still known or ends the round: then its header stays, so that neither the sequence
number nor the end of the log is lost.

A tombstone, or a marker whose transaction has no data left, gets a delete horizon when it is first met: the batch is
written anew with bit 6 set and ``now + delete.retention.ms`` as its base timestamp. When that time has come it goes.
Messages of magic 0 and 1 become batches; of those, tombstones go by the age of their segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.formats.checksum import crc32c
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    CONTROL,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BatchHeader,
    BatchOptions,
    Record,
    encode_batch,
    encode_header,
)

if TYPE_CHECKING:
    from kafkapy.log.batch import Batch
    from kafkapy.log.offset_map import OffsetMap
    from kafkapy.log.producer_append import ProducerEntry


class FilterRules(NamedTuple):
    """What holds for a whole round; ``end_offset`` is where it ends, exclusive."""

    offsets: OffsetMap
    producers: dict[int, ProducerEntry]
    end_offset: int
    now: int
    delete_retention_ms: int


def filtered(batch: Batch, rules: FilterRules, may_go: bool, keeps_legacy_tombstones: bool) -> bytes | None:
    """The batch's new bytes, None where nothing stays; ``may_go`` is what its transaction says."""
    header = batch.header
    discarded = may_go and (not header.is_control or _is_due(header, rules.now))
    kept_empty = _is_last_of_producer(header, rules) or header.last_offset + 1 == rules.end_offset
    if discarded:
        return _empty(header) if kept_empty else None
    records = list(batch.records())
    kept = records
    if not header.is_control:
        kept = [record for record in records if _stays(record, header, rules, keeps_legacy_tombstones)]
    if not kept:
        return _empty(header) if kept_empty else None
    is_tombstone = any(record.value is None for record in kept)
    horizon = header.delete_horizon_ms
    if horizon is None and (is_tombstone or (header.is_control and may_go)):
        horizon = rules.now + rules.delete_retention_ms
    if len(kept) == len(records) and horizon == header.delete_horizon_ms and header.magic >= 2:
        return batch.data
    return _rebuilt(header, kept, horizon)


def _stays(record: Record, header: BatchHeader, rules: FilterRules, keeps_legacy_tombstones: bool) -> bool:
    if record.offset > rules.offsets.latest_offset:
        return True
    if record.key is None or record.offset < rules.offsets.get(record.key):
        return False
    if record.value is not None:
        return True
    return not _is_due(header, rules.now) if header.magic >= 2 else keeps_legacy_tombstones


def _is_due(header: BatchHeader, now: int) -> bool:
    horizon = header.delete_horizon_ms
    return horizon is not None and horizon <= now


def _is_last_of_producer(header: BatchHeader, rules: FilterRules) -> bool:
    entry = rules.producers.get(header.producer_id)
    if header.producer_id < 0 or entry is None:
        return False
    if entry.batches:
        return header.last_offset == entry.batches[-1].last_offset
    return header.is_control and header.producer_epoch == entry.producer_epoch


def _rebuilt(header: BatchHeader, kept: list[Record], horizon: int | None) -> bytes:
    is_batch = header.magic >= 2
    base_offset = header.base_offset if is_batch else kept[0].offset
    options = BatchOptions(
        base_offset=base_offset,
        codec=header.codec,
        partition_leader_epoch=header.partition_leader_epoch,
        log_append_time=header.max_timestamp if header.is_log_append_time else None,
        delete_horizon_ms=horizon,
        transactional=header.is_transactional,
        control=header.is_control,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        last_offset_delta=header.last_offset_delta if is_batch else kept[-1].offset - base_offset,
    )
    return encode_batch(kept, options)


def _empty(header: BatchHeader) -> bytes:
    empty = BatchHeader(
        base_offset=header.base_offset,
        partition_leader_epoch=header.partition_leader_epoch,
        attributes=header.attributes & (LOG_APPEND_TIME | TRANSACTIONAL | CONTROL),
        last_offset_delta=header.last_offset_delta,
        base_timestamp=NO_TIMESTAMP,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
    )
    return encode_header(empty._replace(crc=crc32c(encode_header(empty)[ATTRIBUTES_POSITION:])))
