"""``dump-log``: files of any kind, in the order given, to stdout; findings to stderr.

A file that Kafka's tool would die over ends the dump with one line on stderr and exit code 1; all that Kafka prints
before it is printed. ``--resync`` goes on after damage and reports what was lost.

What only some dumps need (rows, indexes, snapshots, summaries) is imported when it is needed: starting costs more than
dumping a small file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.log import names
from kafkapy.output.output_format import Output
from kafkapy.output.progress import Progress
from kafkapy.output.sink import Sink
from kafkapy.scan.options import MAX_INT, DumpOptions
from kafkapy.scan.payload import payload_decoder
from kafkapy.scan.report import Report
from kafkapy.scan.segment_dump import SegmentDump
from kafkapy.scan.text_printer import TextPrinter

if TYPE_CHECKING:
    from kafkapy.output.row_writer import RowWriter
    from kafkapy.scan.printer import Printer
    from kafkapy.scan.rows import Row

CHECKPOINT_SUFFIX = ".checkpoint"

Tell = Callable[[str], object]


def dump(options: DumpOptions, sink: Sink | None = None) -> int:
    """Dump every file to ``sink``, stdout where none is given; the exit code."""
    for name in (options.key_decoder, options.value_decoder):
        payload_decoder(name)
    files = expand(options)
    sink = sink or Sink()
    if options.summary:
        from kafkapy.scan.summary import summarize

        return summarize(files, options, sink)
    progress = Progress(sum(os.path.getsize(f) for f in files if os.path.isfile(f)))
    return _Dump(options, files, sink, progress, _tell).run()


def dump_part(options: DumpOptions, sink: Sink, tell: Tell) -> int:
    """Dump some files of a larger job: whoever has all of it shows its progress, and hears what is told."""
    return _Dump(options, list(options.files), sink, Progress(0, hidden=True), tell).run()


def expand(options: DumpOptions) -> list[str]:
    """The files to dump: a directory stands for the segment files in it, with filters for the logs that may match."""
    files = []
    for path in options.files:
        if not os.path.isdir(path):
            files.append(path)
            continue
        inside = names.segment_files(path)
        if not inside:
            raise UsageError(f"{path}: no segment files (.log, .index, .timeindex ...) in this directory")
        if options.filters.any:
            from kafkapy.scan.seek import logs_in_range

            inside = logs_in_range(inside, options.filters)
        files += inside
    return files


class _Dump:
    def __init__(self, options: DumpOptions, files: list[str], sink: Sink, progress: Progress, tell: Tell) -> None:
        self._options = options
        self._files = files
        self._progress = progress
        self._tell_now = tell
        self._report = Report()
        self._text = TextPrinter(options, sink)
        self._rows: RowWriter | None = None
        if options.output is not Output.KAFKA:
            from kafkapy.output.row_writer import row_writer
            from kafkapy.scan.rows import columns_by_type

            columns = columns_by_type()
            if_empty = columns["record" if options.deep else "batch"]
            self._rows = row_writer(options.output.value, sink, columns, options.view, if_empty=if_empty)

    def run(self) -> int:
        lost, is_done = False, False
        try:
            for path in self._files:
                lost = self._file(path) or lost
            is_done = True
        finally:
            self._text.finish()
            if self._rows is not None:
                self._rows.finish(is_cut_short=not is_done)
            self._progress.close()
        self._report.write(self._tell_now)
        return 1 if lost else 0

    def _file(self, path: str) -> bool:
        """Dump one file; whether any of it was lost to damage."""
        self._line(f"Dumping {path}")
        suffix = os.path.splitext(os.path.basename(path))[1]
        try:
            if suffix in (names.LOG_SUFFIX, CHECKPOINT_SUFFIX):
                return self._log(path, suffix)
            self._other(path, suffix)
        except BrokenPipeError:
            raise  # about the output, not the file
        except OSError as error:
            raise KafkapyError(f"{error.filename or path}: {error.strerror}") from None
        return False

    def _other(self, path: str, suffix: str) -> None:
        if suffix in (names.INDEX_SUFFIX, names.TIME_INDEX_SUFFIX):
            from kafkapy.scan.index_dump import dump_offset_index, dump_time_index

            os.stat(path)  # the log is opened first, and is not what was asked for
            dump_index = dump_offset_index if suffix == names.INDEX_SUFFIX else dump_time_index
            dump_index(path, _base_offset(path), self._options, self._report, self._emit)
        elif suffix == names.PRODUCER_SNAPSHOT_SUFFIX:
            from kafkapy.scan.state_dump import dump_producer_snapshot

            dump_producer_snapshot(path, self._emit, self._tell)
        elif suffix == names.TXN_INDEX_SUFFIX:
            from kafkapy.scan.state_dump import dump_transaction_index

            dump_transaction_index(path, _base_offset(path), self._emit)
        else:
            self._tell(f"Ignoring unknown file {path}")
            from kafkapy.near_misses import did_you_mean_path

            hint = "" if os.path.exists(path) else did_you_mean_path(path)
            if hint:
                self._tell(f"kafkapy: there is no file '{path}'{hint}")

    def _log(self, path: str, suffix: str) -> bool:
        self._line(_title(path, suffix))
        printer = self._printer(path)
        segment = SegmentDump(path, self._options, printer, self._report, self._progress, self._tell)
        try:
            trailing = segment.run()
        finally:
            printer.finish()
        if trailing and self._options.max_bytes == MAX_INT and not segment.stopped_early:
            message = f"Found {trailing} invalid bytes at the end of {os.path.basename(path)}"
            if self._rows is None:
                self._line(message)
            else:
                self._tell(f"{path}: {message}")
        return segment.lost

    def _printer(self, path: str) -> Printer:
        if self._rows is None:
            return self._text
        from kafkapy.scan.row_printer import RowPrinter

        return RowPrinter(self._options, self._rows, path)

    def _line(self, text: str) -> None:
        if self._rows is None:
            self._text.line(text)

    def _emit(self, text: str, row: Row | None) -> None:
        if self._rows is None:
            self._text.line(text)
        elif row is not None:
            self._rows.row(row.values())

    def _tell(self, line: str) -> None:
        """A line that stands after what was printed so far."""
        self._text.finish()
        self._tell_now(line)


def _title(path: str, suffix: str) -> str:
    if suffix == names.LOG_SUFFIX:
        return f"Log starting offset: {_base_offset(path)}"
    from kafkapy.scan.state_dump import snapshot_title

    return snapshot_title(path)


def _base_offset(path: str) -> int:
    try:
        return names.offset_from_file_name(os.path.basename(path))
    except KafkapyError:
        os.stat(path)  # that there is no such file says more than that its name is wrong
        raise KafkapyError(f"{path}: the name does not begin with the segment's base offset") from None


def _tell(line: str) -> None:
    sys.stderr.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stderr.flush()
