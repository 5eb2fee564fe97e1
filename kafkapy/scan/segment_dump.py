"""One .log or .checkpoint file with what the options ask of it: filters, a byte limit, and going on after damage."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkapy.errors import CorruptRecordError, DamagedFileError
from kafkapy.formats.message_set import RECORD_OVERHEAD_V0
from kafkapy.log.batches import Entry, last_offset, next_entry
from kafkapy.log.names import LOG_SUFFIX, offset_from_file_name
from kafkapy.log.window import Window
from kafkapy.output.progress import Progress
from kafkapy.scan.log_dump import LogDump
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.printer import Printer
from kafkapy.scan.report import Report

if TYPE_CHECKING:
    from kafkapy.scan.filters import RecordFilter

Tell = Callable[[str], object]


class SegmentDump:
    """Dumps one file to a printer."""

    def __init__(
        self, path: str, options: DumpOptions, printer: Printer, report: Report, progress: Progress, tell: Tell
    ) -> None:
        self._path = path
        self._options = options
        self._printer = printer
        self._report = report
        self._progress = progress
        self._tell = tell
        self._last_good = -1
        self.lost = False
        self.stopped_early = False

    def run(self) -> int:
        """Dump the file; how many bytes follow the last whole batch."""
        start = self._start()
        with Window(self._path, self._options.max_bytes, start) as window:
            dump = LogDump(
                self._path,
                window,
                self._printer,
                self._options.deep,
                self._filter(),
                self._found_gap(),
                self._progress.advance,
            )
            if self._options.resync:
                return self._run_resyncing(window, dump)
            remaining = dump.run()
            self.stopped_early = dump.stopped_early
            return remaining

    def _found_gap(self) -> Callable[[int, int], object]:
        options = self._options
        return self._report.gaps(self._path).found if options.tells_gaps and not options.filters.any else _ignore

    def _start(self) -> int:
        if not self._options.filters.any or not self._path.endswith(LOG_SUFFIX):
            return 0
        from kafkapy.scan.seek import start_position

        return start_position(self._path, offset_from_file_name(os.path.basename(self._path)), self._options.filters)

    def _filter(self) -> RecordFilter | None:
        filters = self._options.filters
        if not filters.any:
            return None
        from kafkapy.scan.filters import RecordFilter

        if filters.transactional is None:
            return RecordFilter(filters)
        from kafkapy.scan.transactions import TransactionStates

        return RecordFilter(filters, TransactionStates(self._path))

    def _run_resyncing(self, window: Window, dump: LogDump) -> int:
        """Print every valid batch; tell which bytes and offsets are lost between them."""
        from kafkapy.log.resync import is_valid_entry

        while window.remaining > 0:
            try:
                entry = next_entry(window)
            except CorruptRecordError:
                entry = None
            if entry is not None and is_valid_entry(window, entry) and self._printed(window, dump, entry):
                continue
            self._skip_damage(window, entry)
        return 0

    def _printed(self, window: Window, dump: LogDump, entry: Entry) -> bool:
        last = last_offset(window, entry)
        try:
            dump.print_next(entry)
        except DamagedFileError:
            return False
        self._last_good = last
        return True

    def _skip_damage(self, window: Window, entry: Entry | None) -> None:
        """Go on where a valid batch begins: at the end of the damaged one if that is so, else by search."""
        from kafkapy.log.resync import is_valid_at, next_valid

        start = window.position
        if entry is not None and (entry.end == window.limit or is_valid_at(window, entry.end, self._last_good)):
            found: int | None = entry.end
        else:
            found = next_valid(window, start + 1, self._last_good)
        end = window.limit if found is None else found
        self.lost = True
        self._tell(
            f"{self._path}: lost bytes {start} to {end - 1} ({end - start} bytes){self._lost_offsets(window, end)}"
        )
        window.seek(end)

    def _lost_offsets(self, window: Window, end: int) -> str:
        first = self._last_good + 1
        if end >= window.limit:
            return f", offsets from {first} on"
        header = window.peek(end, RECORD_OVERHEAD_V0)
        last = int.from_bytes(header[:8], "big", signed=True) - 1
        return f", offsets {first} to {last}" if last >= first else ""


def _ignore(previous: int, offset: int) -> None:
    pass
