"""Snapshots of the metadata log: ``%020d-%010d.checkpoint``, and ``bootstrap.checkpoint`` in the same format.

    control batch  SnapshotHeader; with kraft.version 1 also KRaftVersion and Voters
    data batches   the records of an image
    control batch  SnapshotFooter

Offsets inside count from 0 whatever the name says; the name has the log offset at which the snapshot ends (exclusive)
and the epoch of the record before it, which is every batch's epoch too.

Invariant: a snapshot is whole or not there. It is written under a name ending in ``.part``, synced, made read-only and
renamed; after a crash the ``.part`` is a leftover. A file without a footer is not a snapshot.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptRecordError, DamagedFileError, FormatError
from kafkapy.formats.control_record import ControlRecordType
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, decode_header, is_valid
from kafkapy.formats.snapshot_id import PARTIAL_SUFFIX, SnapshotId
from kafkapy.metadata.metadata_batch import (
    ControlRecord,
    decode_control,
    decode_metadata,
    encode_control,
    encode_records,
)

if TYPE_CHECKING:
    from kafkapy.log.files import Files

RECORDS_PER_BATCH = 1024
SNAPSHOT_MODE = 0o400


class Snapshot(NamedTuple):
    """``voters`` is the value of the VotersRecord, None with static voters."""

    records: tuple[MetadataRecord, ...]
    last_contained_log_timestamp: int = 0
    kraft_version: int = 0
    voters: Value | None = None


def encode_snapshot(snapshot: Snapshot, epoch: int, now: int) -> bytes:
    out = bytearray(encode_control(_header_records(snapshot), 0, epoch, now))
    offset = len(_header_records(snapshot))
    records = iter(snapshot.records)
    while chunk := list(islice(records, RECORDS_PER_BATCH)):
        out += encode_records(chunk, offset, epoch, now)
        offset += len(chunk)
    footer: ControlRecord = (ControlRecordType.SNAPSHOT_FOOTER, {"version": 0})
    return bytes(out + encode_control([footer], offset, epoch, now))


def decode_snapshot(data: bytes) -> Snapshot:
    """The content of a whole snapshot; FormatError for one that is torn or has no header or footer."""
    records: list[MetadataRecord] = []
    control: dict[ControlRecordType, Value] = {}
    for header, body in _batches(data):
        if header.is_control:
            control |= dict(decode_control(header, body))
        else:
            records.extend(record for _, record in decode_metadata(header, body))
    for kind in (ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER):
        if kind not in control:
            raise FormatError(f"the snapshot has no {kind.name}")
    return Snapshot(
        tuple(records),
        control[ControlRecordType.SNAPSHOT_HEADER]["lastContainedLogTimestamp"],
        control.get(ControlRecordType.KRAFT_VERSION, {}).get("kRaftVersion", 0),
        control.get(ControlRecordType.KRAFT_VOTERS),
    )


def read_snapshot(path: str) -> Snapshot:
    """A snapshot file; DamagedFileError if it is not whole."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return decode_snapshot(data)
    except FormatError as error:
        raise DamagedFileError(path, 0, str(error)) from error


def write_snapshot(files: Files, directory: str, snapshot_id: SnapshotId, data: bytes) -> str:
    """Puts a snapshot in place and returns its path."""
    path = os.path.join(directory, snapshot_id.file_name())
    partial = os.path.join(directory, snapshot_id.file_name(PARTIAL_SUFFIX))
    files.unlink(partial)
    files.append(partial, data)
    files.fsync(partial)
    os.chmod(partial, SNAPSHOT_MODE)
    files.rename(partial, path)
    files.fsync_dir(directory)
    return path


def voters_value(voters: Iterable[Value]) -> Value:
    """A VotersRecord's value."""
    return {"version": 0, "voters": list(voters)}


def voter(node_id: int, directory_id: str, name: str, host: str, port: int) -> Value:
    """One voter, as a 4.3.1 controller describes itself: one endpoint, kraft.version 0 to 1."""
    return {
        "voterId": node_id,
        "voterDirectoryId": directory_id,
        "endpoints": [{"name": name, "host": host, "port": port}],
        "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
    }


def _header_records(snapshot: Snapshot) -> list[ControlRecord]:
    timestamp = snapshot.last_contained_log_timestamp
    records: list[ControlRecord] = [
        (ControlRecordType.SNAPSHOT_HEADER, {"version": 0, "lastContainedLogTimestamp": timestamp})
    ]
    if snapshot.kraft_version >= 1:
        version = {"version": 0, "kRaftVersion": snapshot.kraft_version}
        records.append((ControlRecordType.KRAFT_VERSION, version))
        records.append((ControlRecordType.KRAFT_VOTERS, snapshot.voters or voters_value(())))
    return records


def _batches(data: bytes) -> Iterator[tuple[BatchHeader, bytes]]:
    position = 0
    while position < len(data):
        header = decode_header(data, position)
        if not is_valid(data, header, position):
            raise CorruptRecordError(f"the batch at byte {position} of the snapshot is torn or damaged")
        yield header, data[position + HEADER_SIZE : position + header.size]
        position += header.size
