"""``batches``: a row for each record batch, with what DumpLogSegments shows of its header.

A message of format 0 or 1 is a batch of its own; a compressed one is one row, whose offsets are those of the message
around the others. Offsets of a scan choose batches that overlap them, timestamps go by ``max_timestamp``. ``valid``
takes all bytes to be read; without that column only headers are looked at. A wrong checksum is no damage here but a row
that says so; a size that cannot be is, since no batch can be found behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from kafkapy.errors import CorruptRecordError, DamagedFileError, FormatError
from kafkapy.formats.record_batch import BatchHeader
from kafkapy.log.batch import batch_bytes, is_good, walk
from kafkapy.log.batches import why_torn
from kafkapy.log.window import Window
from kafkapy.tables.arrow_rows import TIMESTAMP, row_batches
from kafkapy.tables.damage_rows import DamageRows
from kafkapy.tables.scan import Scan
from kafkapy.tables.segment_parts import LogPart, bounds, log_splits
from kafkapy.tables.table import Split, Table, Tell, read_schema, unheard

SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("base_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("count", pa.int32()),
        ("base_sequence", pa.int32()),
        ("last_sequence", pa.int32()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("leader_epoch", pa.int32()),
        ("transactional", pa.bool_()),
        ("control", pa.bool_()),
        ("delete_horizon", TIMESTAMP),
        ("position", pa.int64()),
        ("size", pa.int32()),
        ("base_timestamp", TIMESTAMP),
        ("max_timestamp", TIMESTAMP),
        ("timestamp_type", pa.string()),
        ("magic", pa.int8()),
        ("compression", pa.string()),
        ("crc", pa.int64()),
        ("valid", pa.bool_()),
        ("file", pa.string()),
    ]
)


class BatchesTable:
    """The table."""

    name = "batches"
    schema = SCHEMA

    def splits(self, scan: Scan) -> list[Split]:
        """Byte ranges of segments."""
        return log_splits(scan)

    def read(self, scan: Scan, split: Split, tell: Tell = unheard) -> Iterator[pa.RecordBatch]:
        """The batches of a byte range."""
        schema = read_schema(self, scan)
        damages = DamageRows(self, scan, split, tell)
        part: LogPart = split.part
        if part.has_bytes:
            yield from row_batches(schema, _rows(scan, split, "valid" in schema.names, damages))
        damages.end(part)
        yield from damages.batches()


def _rows(scan: Scan, split: Split, verify: bool, damages: DamageRows) -> Iterator[dict[str, Any]]:
    part: LogPart = split.part
    first_offset, end_offset, first_time, end_time = bounds(part, scan)
    with Window(part.path, part.end, part.start) as window:
        try:
            for position, header in walk(window):
                if (
                    header.last_offset >= first_offset
                    and header.base_offset < end_offset
                    and first_time <= header.max_timestamp < end_time
                    and not part.leaves_out(header)
                ):
                    valid = is_good(header, batch_bytes(window, header.size)) if verify else None
                    yield _row(split, header, position, valid)
            if window.remaining:
                raise CorruptRecordError(why_torn(window))
        except FormatError as error:
            damages.found(DamagedFileError(part.path, window.position, str(error)), part.end)


def _row(split: Split, header: BatchHeader, position: int, valid: bool | None) -> dict[str, Any]:
    return {
        "topic": split.topic,
        "partition": split.partition,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "leader_epoch": header.partition_leader_epoch,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "delete_horizon": header.delete_horizon_ms,
        "position": position,
        "size": header.size,
        "base_timestamp": header.base_timestamp,
        "max_timestamp": header.max_timestamp,
        "timestamp_type": header.timestamp_type,
        "magic": header.magic,
        "compression": _codec_name(header),
        "crc": header.crc,
        "valid": valid,
        "file": split.part.path,
    }


def _codec_name(header: BatchHeader) -> str | None:
    try:
        return header.codec.label
    except FormatError:
        return None


TABLE: Table = BatchesTable()
