"""What a dump prints to: Kafka's text, or rows."""

from __future__ import annotations

from typing import Protocol

from kafkapy.formats.compression import Buffer
from kafkapy.formats.message_set import Message
from kafkapy.formats.record_batch import BatchHeader
from kafkapy.kernel.kernel import Columns, LineWriter
from kafkapy.scan.large_batch import LargeRecord


class Printer(Protocol):
    """Takes batches and their records in order. A selection has a non-zero byte for each record that is wanted."""

    writer: LineWriter

    @property
    def fast(self) -> bool:
        """Whether the kernel may write batches and records to ``writer`` by itself."""
        ...

    @property
    def takes_pieces(self) -> bool:
        """Whether ``large_record`` may be called."""
        ...

    def batch(self, header: BatchHeader, position: int, valid: bool) -> None:
        """A batch begins."""
        ...

    def batch_of_unknown_codec(self, header: BatchHeader) -> None:
        """A batch begins that cannot be read any further."""
        ...

    def records(self, header: BatchHeader, columns: Columns, body: Buffer, selection: Buffer | None) -> None:
        """Data records of the batch."""
        ...

    def large_record(self, columns: Columns, record: LargeRecord) -> None:
        """A data record in pieces; ``columns`` has its offset, timestamp and sequence."""
        ...

    def control(self, header: BatchHeader, columns: Columns, body: Buffer, selection: Buffer | None) -> None:
        """Control records of the batch."""
        ...

    def message_batch(self, message: Message, position: int) -> None:
        """A v0 or v1 message, perhaps a compressed set, begins."""
        ...

    def message(self, outer: Message, message: Message, position: int) -> None:
        """A v0 or v1 message as a record; ``outer`` is what it was compressed in, or itself."""
        ...

    def finish(self) -> None:
        """Hand on all that was written."""
        ...
