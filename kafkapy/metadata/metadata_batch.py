"""Batches of the metadata log: records in their frame, and the control batches of the quorum.

Every batch carries the epoch of the leader that wrote it, and one timestamp for all its records. A controller's
decision is one batch, so after a crash it is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkapy.formats import control_record, metadata_record
from kafkapy.formats.control_record import ControlRecordType
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.record_batch import BatchHeader, BatchOptions, Record, decode_records, encode_batch

ControlRecord = tuple[ControlRecordType, Value]


def encode_records(records: Iterable[MetadataRecord], base_offset: int, epoch: int, timestamp: int) -> bytes:
    """One batch of metadata records."""
    values = [(None, metadata_record.encode(record)) for record in records]
    return _encode(values, base_offset, epoch, timestamp, control=False)


def encode_control(records: Iterable[ControlRecord], base_offset: int, epoch: int, timestamp: int) -> bytes:
    """One batch of control records."""
    values = [(control_record.encode_key(kind), control_record.encode_kraft(kind, value)) for kind, value in records]
    return _encode(values, base_offset, epoch, timestamp, control=True)


def leader_change(leader_id: int, voters: Sequence[int], granting_voters: Sequence[int]) -> ControlRecord:
    """What a new leader of a quorum with static voters writes first."""
    value: Value = {
        "version": 0,
        "leaderId": leader_id,
        "voters": [{"voterId": voter} for voter in voters],
        "grantingVoters": [{"voterId": voter} for voter in granting_voters],
    }
    return ControlRecordType.LEADER_CHANGE, value


def decode_metadata(header: BatchHeader, body: bytes) -> Iterator[tuple[int, MetadataRecord]]:
    """The offset and the record of each metadata record of a batch that is not a control batch."""
    for record in decode_records(header, body):
        yield record.offset, metadata_record.decode(record.value)


def decode_control(header: BatchHeader, body: bytes) -> Iterator[ControlRecord]:
    """The KRaft control records of a control batch; a type that is not known is stepped over."""
    for record in decode_records(header, body):
        kind = ControlRecordType(control_record.decode_type_id(record.key))
        if kind is not ControlRecordType.UNKNOWN:
            yield kind, control_record.decode_kraft(kind, record.value or b"")


def _encode(
    values: Sequence[tuple[bytes | None, bytes]], base_offset: int, epoch: int, timestamp: int, *, control: bool
) -> bytes:
    records = [Record(offset, timestamp, key, value) for offset, (key, value) in enumerate(values, base_offset)]
    options = BatchOptions(base_offset=base_offset, partition_leader_epoch=epoch, control=control)
    return encode_batch(records, options)
