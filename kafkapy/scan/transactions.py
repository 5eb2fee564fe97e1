"""How the transactions in a log ended, from its control batches.

A transactional batch belongs to the first marker of its producer that follows it. The marker may lie in a later
segment, so the headers of this and every later segment of the partition are read, and only of control batches also
the record. Without a marker, the transaction is open.
"""

from __future__ import annotations

import os
from bisect import bisect_left

from kafkapy.errors import FormatError
from kafkapy.formats.control_record import ControlRecordType, decode_type_id
from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, decode_records
from kafkapy.log.batches import next_entry, read_header
from kafkapy.log.names import LOG_SUFFIX, segment_files
from kafkapy.log.window import Window
from kafkapy.scan.options import TransactionState

STATES = {ControlRecordType.ABORT: TransactionState.ABORTED, ControlRecordType.COMMIT: TransactionState.COMMITTED}


class TransactionStates:
    """The markers of a log, by producer id."""

    def __init__(self, path: str) -> None:
        self._offsets: dict[int, list[int]] = {}
        self._states: dict[int, list[TransactionState]] = {}
        for log in _this_and_later(path):
            self._read(log)

    def __call__(self, header: BatchHeader) -> TransactionState | None:
        """How the transaction of this batch ended; None for a batch outside any. A marker belongs to what it ends."""
        if not header.is_transactional:
            return None
        offsets = self._offsets.get(header.producer_id, [])
        following = bisect_left(offsets, header.last_offset)
        if following == len(offsets):
            return TransactionState.OPEN
        return self._states[header.producer_id][following]

    def _read(self, path: str) -> None:
        with Window(path) as window:
            try:
                while (entry := next_entry(window)) is not None:
                    if not entry.is_legacy:
                        header = read_header(window, entry)
                        if header.is_control and header.is_transactional and window.ensure(entry.size):
                            body = window.view[window.start + HEADER_SIZE : window.start + entry.size]
                            self._marker(header, bytes(body))
                    window.seek(entry.end)
            except FormatError:
                return  # what follows damage cannot be attributed; the dump itself reports it

    def _marker(self, header: BatchHeader, body: bytes) -> None:
        for record in decode_records(header, body):
            state = STATES.get(ControlRecordType(decode_type_id(record.key)))
            if state is not None:
                self._offsets.setdefault(header.producer_id, []).append(record.offset)
                self._states.setdefault(header.producer_id, []).append(state)


def _this_and_later(path: str) -> list[str]:
    directory, name = os.path.split(path)
    logs = [
        os.path.join(directory, os.path.basename(f)) for f in segment_files(directory or ".") if f.endswith(LOG_SUFFIX)
    ]
    later = [log for log in logs if os.path.basename(log) > name]
    return [path, *later]
