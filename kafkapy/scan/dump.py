"""``dump-log``: files of any kind, in the order given, to stdout; findings to stderr.

A file that Kafka's tool would die over ends the dump with one line on stderr and exit code 1; all that Kafka prints
before it is printed. ``--resync`` goes on after damage and reports what was lost.
"""

from __future__ import annotations

import os
import sys
from dataclasses import fields, replace

from kafkapy.errors import CorruptSnapshotError, DamagedFileError, FormatError, KafkapyError, UsageError
from kafkapy.formats import producer_snapshot, snapshot_id
from kafkapy.formats.transaction_index import TransactionIndex
from kafkapy.log import names
from kafkapy.output.progress import Progress
from kafkapy.output.row_writer import RowWriter, row_writer
from kafkapy.output.sink import Sink
from kafkapy.scan import rows
from kafkapy.scan.index_dump import dump_offset_index, dump_time_index
from kafkapy.scan.options import MAX_INT, DumpOptions, Output
from kafkapy.scan.payload import payload_decoder
from kafkapy.scan.report import Report
from kafkapy.scan.row_printer import RowPrinter
from kafkapy.scan.rows import AbortedTxnRow, ProducerRow, Row
from kafkapy.scan.segment_dump import SegmentDump
from kafkapy.scan.text_printer import TextPrinter

CHECKPOINT_SUFFIX = ".checkpoint"
BOOTSTRAP = "bootstrap.checkpoint"
ROW_TYPES = (
    rows.BatchRow, rows.RecordRow, rows.OffsetIndexRow, rows.TimeIndexRow, rows.AbortedTxnRow, rows.ProducerRow,
)  # fmt: skip


def dump(options: DumpOptions) -> int:
    """Dump every file; the exit code."""
    payload_decoder(options.key_decoder), payload_decoder(options.value_decoder)
    files = _expand(options.files)
    if options.summary:
        from kafkapy.scan.summary import summarize

        return summarize(files, options)
    return _Dump(options, files).run()


def _expand(paths: tuple[str, ...]) -> list[str]:
    """The files to dump: a directory stands for the segment files in it."""
    files = []
    for path in paths:
        if os.path.isdir(path):
            inside = names.segment_files(path)
            if not inside:
                raise UsageError(f"{path}: no segment files (.log, .index, .timeindex ...) in this directory")
            files += inside
        else:
            files.append(path)
    return files


class _Dump:
    def __init__(self, options: DumpOptions, files: list[str]) -> None:
        self._options = options
        self._files = files
        self._sink = Sink()
        self._report = Report()
        self._text = TextPrinter(options, self._sink)
        self._rows: RowWriter | None = None
        if options.output is not Output.KAFKA:
            columns = {row.type: ["type", *(field.name for field in fields(row))] for row in ROW_TYPES}
            self._rows = row_writer(options.output.value, self._sink, columns)
        self._progress = Progress(sum(os.path.getsize(f) for f in files if os.path.isfile(f)))

    def run(self) -> int:
        lost = False
        try:
            for path in self._files:
                lost = self._file(path) or lost
        finally:
            self._text.finish()
            if self._rows is not None:
                self._rows.finish()
            self._progress.close()
        self._report.write(_tell)
        return 1 if lost else 0

    def _file(self, path: str) -> bool:
        """Dump one file; whether any of it was lost to damage."""
        self._line(f"Dumping {path}")
        suffix = os.path.splitext(os.path.basename(path))[1]
        try:
            if suffix in (names.LOG_SUFFIX, CHECKPOINT_SUFFIX):
                return self._log(path, suffix)
            if suffix == names.INDEX_SUFFIX:
                dump_offset_index(path, _base_offset(path), self._options, self._report, self._emit)
            elif suffix == names.TIME_INDEX_SUFFIX:
                dump_time_index(path, _base_offset(path), self._options, self._report, self._emit)
            elif suffix == names.PRODUCER_SNAPSHOT_SUFFIX:
                self._producer_snapshot(path)
            elif suffix == names.TXN_INDEX_SUFFIX:
                self._transaction_index(path)
            else:
                _tell(f"Ignoring unknown file {path}")
        except OSError as error:
            raise KafkapyError(f"{error.filename or path}: {error.strerror}") from None
        return False

    def _log(self, path: str, suffix: str) -> bool:
        self._line(_title(path, suffix))
        printer = self._text if self._rows is None else RowPrinter(self._options, self._rows, path)
        segment = SegmentDump(path, self._options, printer, self._report, self._progress, _tell)
        try:
            trailing = segment.run()
        finally:
            printer.finish()
        if trailing and self._options.max_bytes == MAX_INT and not segment.stopped_early:
            message = f"Found {trailing} invalid bytes at the end of {os.path.basename(path)}"
            if self._rows is None:
                self._line(message)
            else:
                _tell(f"{path}: {message}")
        return segment.lost

    def _producer_snapshot(self, path: str) -> None:
        try:
            entries = producer_snapshot.decode(_read(path))
        except CorruptSnapshotError as error:
            self._text.finish()
            _tell(str(error))
            return
        for entry in entries:
            self._emit(*_producer(path, entry))

    def _transaction_index(self, path: str) -> None:
        try:
            aborted = TransactionIndex(_base_offset(path), _read(path), os.path.abspath(path)).all_aborted_txns()
        except FormatError as error:
            raise DamagedFileError(path, 0, str(error)) from None
        for txn in aborted:
            row = AbortedTxnRow(
                path, txn.version, txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset
            )
            self._emit(
                f"version: {row.version} producerId: {row.producer_id} firstOffset: {row.first_offset}"
                f" lastOffset: {row.last_offset} lastStableOffset: {row.last_stable_offset}",
                row,
            )

    def _line(self, text: str) -> None:
        if self._rows is None:
            self._text.line(text)

    def _emit(self, text: str, row: Row | None) -> None:
        if self._rows is None:
            self._text.line(text)
        elif row is not None:
            self._rows.row(row.values())


def _producer(path: str, entry: producer_snapshot.ProducerStateEntry) -> tuple[str, ProducerRow]:
    first = None if entry.current_txn_first_offset < 0 else entry.current_txn_first_offset
    text = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch}"
        f" coordinatorEpoch: {entry.coordinator_epoch}"
        f" currentTxnFirstOffset: {'OptionalLong.empty' if first is None else f'OptionalLong[{first}]'}"
        f" lastTimestamp: {entry.timestamp}"
    )
    row = ProducerRow(path, entry.producer_id, entry.producer_epoch, entry.coordinator_epoch, first, entry.timestamp)
    if not entry.has_batch:
        return text, row
    text += (
        f" firstSequence: {entry.first_sequence} lastSequence: {entry.last_sequence}"
        f" lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
    )
    return text, replace(
        row,
        first_sequence=entry.first_sequence,
        last_sequence=entry.last_sequence,
        last_offset=entry.last_offset,
        offset_delta=entry.offset_delta,
        timestamp=entry.timestamp,
    )


def _title(path: str, suffix: str) -> str:
    name = os.path.basename(path)
    if suffix == names.LOG_SUFFIX:
        return f"Log starting offset: {_base_offset(path)}"
    if name == BOOTSTRAP:
        return "KRaft bootstrap snapshot"
    found = snapshot_id.parse(name)
    if found is None:
        raise KafkapyError(f"{path}: not the name of a snapshot (20 digits, '-', 10 digits, '.checkpoint')")
    return f"Snapshot end offset: {found.snapshot_id.end_offset}, epoch: {found.snapshot_id.epoch}"


def _base_offset(path: str) -> int:
    try:
        return names.offset_from_file_name(os.path.basename(path))
    except FormatError:
        raise KafkapyError(f"{path}: the name does not begin with the segment's base offset") from None


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _tell(line: str) -> None:
    sys.stderr.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stderr.flush()
