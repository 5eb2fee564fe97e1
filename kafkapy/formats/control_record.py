"""Control records: the records a broker writes into a log for itself (batch attribute bit 5).

    key    int16 version (0), int16 type
    value  of ABORT and COMMIT: int16 version (0), int32 coordinator epoch
           of the KRaft types: a flexible message without a prefix, whose own first field is called version

Kafka reads and writes the KRaft values at version 0 whatever that first field holds; the field only decides how the
message is printed. A key of a later version is read as version 0, and a type that is not known is no error: a
consumer steps over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.message import Value, decode, encode
from kafkapy.formats.message_json import to_json
from kafkapy.formats.message_reader import MessageReader
from kafkapy.formats.schema import Schema, schemas

_KEY = Struct(">hh")
_MARKER = Struct(">hi")
_VERSION = 0


class ControlRecordType(IntEnum):
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    UNKNOWN = -1

    @classmethod
    def _missing_(cls, value: object) -> ControlRecordType:
        return cls.UNKNOWN


_MARKER_TYPES = (ControlRecordType.ABORT, ControlRecordType.COMMIT)

# The message, and the words before its JSON in a dump: Kafka 4.3.1 prints a colon after the first alone.
_KRAFT = {
    ControlRecordType.LEADER_CHANGE: ("LeaderChangeMessage", "LeaderChange:"),
    ControlRecordType.SNAPSHOT_HEADER: ("SnapshotHeaderRecord", "SnapshotHeader"),
    ControlRecordType.SNAPSHOT_FOOTER: ("SnapshotFooterRecord", "SnapshotFooter"),
    ControlRecordType.KRAFT_VERSION: ("KRaftVersionRecord", "KRaftVersion"),
    ControlRecordType.KRAFT_VOTERS: ("VotersRecord", "KRaftVoters"),
}


@dataclass(frozen=True, slots=True)
class EndTransactionMarker:
    """The value of an ABORT or COMMIT record."""

    type: ControlRecordType
    coordinator_epoch: int


def encode_key(control_type: ControlRecordType) -> bytes:
    if control_type is ControlRecordType.UNKNOWN:
        raise CorruptRecordError("Cannot serialize UNKNOWN control record type")
    return _KEY.pack(_VERSION, control_type)


def decode_type_id(key: bytes | None) -> int:
    """The type as written, which ``ControlRecordType(id)`` names."""
    size = len(key or b"")
    if key is None or size < _KEY.size:
        raise CorruptRecordError(
            "Invalid value size found for control record key. "
            f"Must have at least {_KEY.size} bytes, but found only {size}"
        )
    version, type_id = _KEY.unpack_from(key)
    if version < _VERSION:
        raise CorruptRecordError(f"Invalid version found for control record: {version}. May indicate data corruption")
    return int(type_id)


def encode_marker(marker: EndTransactionMarker) -> bytes:
    _check_marker_type(marker.type)
    return _MARKER.pack(_VERSION, marker.coordinator_epoch)


def decode_marker(control_type: ControlRecordType, value: bytes) -> EndTransactionMarker:
    _check_marker_type(control_type)
    reader = MessageReader(value)
    version = reader.int16()
    if version < _VERSION:
        raise CorruptRecordError(
            f"Invalid version found for end transaction marker: {version}. May indicate data corruption"
        )
    return EndTransactionMarker(control_type, reader.int32())


def encode_kraft(control_type: ControlRecordType, value: Value) -> bytes:
    """The value of a KRaft control record."""
    return encode(_kraft_schema(control_type), _VERSION, value)


def decode_kraft(control_type: ControlRecordType, value: bytes) -> Value:
    return decode(_kraft_schema(control_type), _VERSION, value)


def describe(key: bytes | None, value: bytes | None) -> str:
    """What DumpLogSegments prints behind a control record, e.g. ``endTxnMarker: COMMIT coordinatorEpoch: 0``."""
    type_id = decode_type_id(key)
    control_type = ControlRecordType(type_id)
    if control_type is ControlRecordType.UNKNOWN:
        return f"controlType: {control_type.name}({type_id})"
    if value is None:
        raise CorruptRecordError(f"a {control_type.name} control record has no value")
    if control_type in _MARKER_TYPES:
        marker = decode_marker(control_type, value)
        return f"endTxnMarker: {marker.type.name} coordinatorEpoch: {marker.coordinator_epoch}"
    message = decode_kraft(control_type, value)
    return f"{_KRAFT[control_type][1]} {to_json(_kraft_schema(control_type), message['version'], message)}"


def _kraft_schema(control_type: ControlRecordType) -> Schema:
    if control_type not in _KRAFT:
        raise CorruptRecordError(f"a {control_type.name} control record has no KRaft message")
    return schemas("raft")[_KRAFT[control_type][0]]


def _check_marker_type(control_type: ControlRecordType) -> None:
    if control_type not in _MARKER_TYPES:
        raise CorruptRecordError(f"Invalid control record type for end transaction marker {control_type.name}")
