"""A dump as rows: JSON lines, a JSON document, YAML, CSV or a table.

JSON rows of ordinary batches and records are written by the kernel. All others (control records, v0 and v1 messages,
records of an internal topic, rows that are sorted or have chosen columns, and every row of the other forms) are made
here as the dataclasses of ``rows``.
"""

from __future__ import annotations

from typing import Any

from kafkapy.errors import FormatError
from kafkapy.formats import control_record
from kafkapy.formats.compression import Buffer
from kafkapy.formats.java_text import java_utf8
from kafkapy.formats.message_set import Message
from kafkapy.formats.record_batch import LOG_OVERHEAD, BatchHeader
from kafkapy.kernel.kernel import JSON_ARRAY, JSON_LINES, Columns, LineWriter, header_items
from kafkapy.output.output_format import Output
from kafkapy.output.row_writer import RowWriter
from kafkapy.scan.large_batch import LargeRecord
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.record_parser import record_parser
from kafkapy.scan.rows import ABSENT, BatchRow, RecordRow, Row, text_or_base64
from kafkapy.scan.text_printer import key_and_value

takes_json = {Output.JSON: JSON_ARRAY, Output.JSONL: JSON_LINES}


class RowPrinter:
    """Writes rows of one file."""

    takes_pieces = False

    def __init__(self, options: DumpOptions, rows: RowWriter, file: str) -> None:
        self._rows = rows
        self._file = file
        self._data = options.print_data_log
        self._parse = record_parser(options)
        self._json = options.output in takes_json and not options.view.names
        self._deep = options.deep
        style = takes_json.get(options.output, JSON_LINES)
        self.writer = LineWriter(rows.write_rows, style, options.deep, self._data, True, file)
        self._batch: tuple[BatchHeader, int, bool] | None = None

    @property
    def fast(self) -> bool:
        """Whether the kernel can write rows by itself."""
        return self._json and (self._parse is None or not self._data)

    def row(self, row: Row) -> None:
        """Write one row."""
        self.writer.flush()
        self._rows.row(row.values())

    def batch(self, header: BatchHeader, position: int, valid: bool) -> None:
        """Write a batch, or keep it for its records."""
        self._batch = header, position, valid
        if self._json:
            self.writer.batch(header, position, valid)
        elif not self._deep:
            self.row(self._batch_row(header, position, valid))

    def batch_of_unknown_codec(self, header: BatchHeader) -> None:
        """No row: the error tells where it is."""

    def records(self, header: BatchHeader, columns: Columns, body: Buffer, selection: Buffer | None) -> None:
        """Write the chosen records of a batch."""
        if self.fast:
            self.writer.records(columns, body, selection)
            return
        for row in range(columns.count):
            if selection is None or selection[row]:
                self.row(self._record_row(header, columns, body, row))

    def control(self, header: BatchHeader, columns: Columns, body: Buffer, selection: Buffer | None) -> None:
        """Write the chosen control records of a batch."""
        for row in range(columns.count):
            if selection is None or selection[row]:
                key, value = key_and_value(columns, body, row)
                self.row(self._record_row(header, columns, body, row, control_fields(key, value)))

    def large_record(self, columns: Columns, record: LargeRecord) -> None:
        """Never called: ``takes_pieces`` is False."""
        raise NotImplementedError

    def message_batch(self, message: Message, position: int) -> None:
        """Write a v0 or v1 message as a batch."""
        message.check_magic()
        if not self._deep:
            self.row(
                BatchRow(
                    self._file,
                    position,
                    len(message.data) + LOG_OVERHEAD,
                    last_offset=message.offset,
                    timestamp_type=message.timestamp_type,
                    max_timestamp=message.timestamp,
                    magic=message.magic,
                    compression=message.codec.label,
                    crc=message.crc,
                    valid=message.is_valid,
                )
            )

    def message(self, outer: Message, message: Message, position: int) -> None:
        """Write a v0 or v1 message as a record."""
        data = self._payload(message.offset, _copy(message.key), _copy(message.value)) if self._data else {}
        self.row(
            RecordRow(
                self._file,
                message.offset,
                message.timestamp,
                outer.timestamp_type,
                message.key_size,
                message.value_size,
                **data,
                batch_position=position,
                magic=message.magic,
                compression=outer.codec.label,
                valid=message.is_valid,
            )
        )

    def finish(self) -> None:
        """Hand on all that was written."""
        self.writer.flush()

    def _batch_row(self, header: BatchHeader, position: int, valid: bool) -> BatchRow:
        return BatchRow(
            self._file,
            position,
            header.size,
            header.base_offset,
            header.last_offset,
            header.record_count,
            header.base_sequence,
            header.last_sequence,
            header.producer_id,
            header.producer_epoch,
            header.partition_leader_epoch,
            header.is_transactional,
            header.is_control,
            header.delete_horizon_ms,
            header.timestamp_type,
            header.max_timestamp,
            header.magic,
            header.codec.label,
            header.crc,
            valid,
        )

    def _record_row(
        self, header: BatchHeader, columns: Columns, body: Buffer, row: int, control: dict[str, Any] = ABSENT
    ) -> RecordRow:
        assert self._batch is not None
        _, position, valid = self._batch
        data = self._record_data(columns, body, row, control is not ABSENT)
        return RecordRow(
            self._file,
            columns.offset[row],
            columns.timestamp[row],
            header.timestamp_type,
            columns.key_size[row],
            columns.value_size[row],
            columns.sequence[row],
            **data,
            control_record=control,
            batch_position=position,
            base_offset=header.base_offset,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            partition_leader_epoch=header.partition_leader_epoch,
            transactional=header.is_transactional,
            control=header.is_control,
            magic=header.magic,
            compression=header.codec.label,
            valid=valid,
        )

    def _record_data(self, columns: Columns, body: Buffer, row: int, control: bool) -> dict[str, Any]:
        headers = header_items(columns, body, row)
        if not self._data:
            return {"header_keys": [java_utf8(key).decode() for key, _ in headers]}
        key, value = key_and_value(columns, body, row)
        payload = _plain_payload(key, value) if control else self._payload(columns.offset[row], key, value)
        return {"headers": [_header(name, content) for name, content in headers], **payload}

    def _payload(self, offset: int, key: bytes | None, value: bytes | None) -> dict[str, Any]:
        if self._parse is None:
            return _plain_payload(key, value)
        key_text, value_text = self._parse(offset, key, value)
        return {"key": _json_value(key_text), "value": _json_value(value_text)}


def control_fields(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """A control record as a field: Kafka's words for it, or what is wrong with it."""
    try:
        kind = control_record.ControlRecordType(control_record.decode_type_id(key)).name
        return {"type": kind, "text": control_record.describe(key, value)}
    except FormatError as error:
        return {"type": "UNKNOWN", "text": str(error)}


def _copy(data: memoryview | None) -> bytes | None:
    return None if data is None else bytes(data)


def _plain_payload(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    (key_text, key_encoding), (value_text, value_encoding) = text_or_base64(key), text_or_base64(value)
    return {"key": key_text, "key_encoding": key_encoding, "value": value_text, "value_encoding": value_encoding}


def _header(name: bytes, value: bytes | None) -> dict[str, Any]:
    text, encoding = text_or_base64(value)
    header = {"key": java_utf8(name).decode(), "value": text}
    return header if encoding is ABSENT else {**header, "value_encoding": encoding}


def _json_value(text: str | None) -> Any:
    """What a decoder printed: its own JSON as a value, other text as text."""
    if text is None or not text.startswith(("{", "[")):
        return text
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text
