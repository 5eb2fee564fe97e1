"""Which batches and records a dump keeps.

A filter looks at batch headers first, so that a batch without a wanted record is neither decompressed nor decoded. Of a
batch that may have one, the records are decoded into columns and a selection is made: a byte a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kafkapy.errors import UsageError
from kafkapy.formats.compression import Buffer
from kafkapy.formats.message_set import Message
from kafkapy.formats.record_batch import BatchHeader
from kafkapy.kernel.kernel import Columns, header_items
from kafkapy.log.batches import Entry
from kafkapy.scan.options import Filters, TransactionState

LOWEST, HIGHEST = -(2**63), 2**63 - 1

TransactionStates = Callable[[BatchHeader], TransactionState | None]


class RecordFilter:
    """The filters of a command line, made ready to use on one file."""

    def __init__(self, filters: Filters, transaction_state: TransactionStates = lambda header: None) -> None:
        self._filters = filters
        self._from_offset = LOWEST if filters.from_offset is None else filters.from_offset
        self._to_offset = HIGHEST if filters.to_offset is None else filters.to_offset
        self._from_time = LOWEST if filters.from_time is None else filters.from_time
        self._to_time = HIGHEST if filters.to_time is None else filters.to_time
        self._key = _compile(filters.key)
        self._headers = [(key.encode(), value.encode()) for key, value in filters.headers]
        self._transaction_state = transaction_state

    def is_past(self, entry: Entry) -> bool:
        """Whether no record from here on can be wanted: offsets only grow."""
        return not entry.is_legacy and entry.offset > self._to_offset

    def keeps_batch(self, header: BatchHeader) -> bool:
        """Whether a batch may have a wanted record."""
        wanted = self._filters
        return (
            header.last_offset >= self._from_offset
            and header.base_offset <= self._to_offset
            and header.max_timestamp >= self._from_time
            and wanted.partition_leader_epoch in (None, header.partition_leader_epoch)
            and wanted.producer_id in (None, header.producer_id)
            and wanted.transactional in (None, self._transaction_state(header))
        )

    def select(self, columns: Columns, body: Buffer) -> bytearray:
        """A byte a record: 1 where it is wanted."""
        selection = bytearray(columns.count)
        for row in range(columns.count):
            selection[row] = (
                self._from_offset <= columns.offset[row] <= self._to_offset
                and self._from_time <= columns.timestamp[row] <= self._to_time
                and self._keeps_key(columns, body, row)
                and self._keeps_headers(columns, body, row)
            )
        return selection

    def keeps_message(self, message: Message) -> bool:
        """Whether a v0 or v1 message is wanted: it has no producer, epoch, transaction or headers."""
        wanted = self._filters
        if self._headers or (wanted.partition_leader_epoch, wanted.producer_id, wanted.transactional) != (None,) * 3:
            return False
        if not self._from_offset <= message.offset <= self._to_offset:
            return False
        if not self._from_time <= message.timestamp <= self._to_time:
            return False
        return self._key is None or (message.key is not None and self._key.search(message.key) is not None)

    def _keeps_key(self, columns: Columns, body: Buffer, row: int) -> bool:
        if self._key is None:
            return True
        start, size = columns.key_start[row], columns.key_size[row]
        return size >= 0 and self._key.search(bytes(body[start : start + size])) is not None

    def _keeps_headers(self, columns: Columns, body: Buffer, row: int) -> bool:
        if not self._headers:
            return True
        present = header_items(columns, body, row)
        return all(header in present for header in self._headers)


def _compile(pattern: str | None) -> re.Pattern[bytes] | None:
    if pattern is None:
        return None
    try:
        return re.compile(pattern.encode())
    except re.error as error:
        raise UsageError(f"--key: '{pattern}' is not a regular expression: {error}") from None
