"""The rows of a dump: what any ``--output`` but Kafka's own lines prints, and the contract of their fields.

One kind of file gives one kind of row: a .log or .checkpoint gives ``batch`` rows, or ``record`` rows when records are
read; an .index, .timeindex, .txnindex and .snapshot give rows of their entries. A field that does not apply is ABSENT:
left out of JSON, empty in CSV. Bytes that are UTF-8 are text; others are base64, and ``..._encoding`` says so.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "", "__bool__": lambda self: False})()


@dataclass(frozen=True, slots=True)
class Row:
    """What every row has: the file it comes from."""

    type: ClassVar[str] = ""
    file: str

    def values(self) -> dict[str, Any]:
        """The fields that apply, in order, the kind of row first."""
        named = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {"type": self.type, **{name: value for name, value in named if value is not ABSENT}}


@dataclass(frozen=True, slots=True)
class BatchRow(Row):
    """A record batch; of a v0 or v1 message only offset, timestamp and checksum fields apply."""

    type: ClassVar[str] = "batch"
    position: int
    size: int
    base_offset: int = ABSENT
    last_offset: int = ABSENT
    count: int = ABSENT
    base_sequence: int = ABSENT
    last_sequence: int = ABSENT
    producer_id: int = ABSENT
    producer_epoch: int = ABSENT
    partition_leader_epoch: int = ABSENT
    transactional: bool = ABSENT
    control: bool = ABSENT
    delete_horizon_ms: int | None = ABSENT
    timestamp_type: str = ABSENT
    max_timestamp: int = ABSENT
    magic: int = ABSENT
    compression: str = ABSENT
    crc: int = ABSENT
    valid: bool = ABSENT


@dataclass(frozen=True, slots=True)
class RecordRow(Row):
    """A record, with what it shares with its batch."""

    type: ClassVar[str] = "record"
    offset: int
    timestamp: int
    timestamp_type: str
    key_size: int
    value_size: int
    sequence: int = ABSENT
    header_keys: list[str] = ABSENT
    headers: list[dict[str, Any]] = ABSENT
    key: Any = ABSENT
    key_encoding: str = ABSENT
    value: Any = ABSENT
    value_encoding: str = ABSENT
    control_record: dict[str, Any] = ABSENT
    batch_position: int = ABSENT
    base_offset: int = ABSENT
    producer_id: int = ABSENT
    producer_epoch: int = ABSENT
    partition_leader_epoch: int = ABSENT
    transactional: bool = ABSENT
    control: bool = ABSENT
    magic: int = ABSENT
    compression: str = ABSENT
    valid: bool = ABSENT


@dataclass(frozen=True, slots=True)
class OffsetIndexRow(Row):
    """An entry of an .index; ``log_offset`` is the last offset of the batch found at its position."""

    type: ClassVar[str] = "offset_index_entry"
    offset: int
    position: int
    log_offset: int
    matches: bool


@dataclass(frozen=True, slots=True)
class TimeIndexRow(Row):
    """An entry of a .timeindex."""

    type: ClassVar[str] = "time_index_entry"
    timestamp: int
    offset: int


@dataclass(frozen=True, slots=True)
class AbortedTxnRow(Row):
    """An entry of a .txnindex."""

    type: ClassVar[str] = "aborted_txn"
    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True)
class ProducerRow(Row):
    """A producer in a .snapshot; the batch fields are absent after a transaction marker."""

    type: ClassVar[str] = "producer"
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    current_txn_first_offset: int | None
    last_timestamp: int
    first_sequence: int = ABSENT
    last_sequence: int = ABSENT
    last_offset: int = ABSENT
    offset_delta: int = ABSENT
    timestamp: int = ABSENT


ROW_TYPES: tuple[type[Row], ...] = (
    BatchRow,
    RecordRow,
    OffsetIndexRow,
    TimeIndexRow,
    AbortedTxnRow,
    ProducerRow,
)

# Kafka's line and the row that says the same; no row for a line about the file as a whole
Emit = Callable[[str, Row | None], object]


def columns_by_type() -> dict[str, list[str]]:
    """The fields of every kind of row, in order."""
    return {row.type: ["type", *(field.name for field in fields(row))] for row in ROW_TYPES}


def text_or_base64(data: bytes | None) -> tuple[str | None, str]:
    """``data`` as text and ABSENT, or as base64 and ``base64``."""
    if data is None:
        return None, ABSENT
    try:
        return data.decode(), ABSENT
    except UnicodeDecodeError:
        return b64encode(data).decode(), "base64"
