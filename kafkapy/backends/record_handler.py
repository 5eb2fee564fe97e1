"""What is done with the records that a group consumes, and when they are safe.

A record is handled, then it is safe, then its offset is committed: in this order, so that a process that is killed
anywhere has lost nothing, and at most does something twice.
"""

from __future__ import annotations

from typing import Protocol

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.fetched import Fetched
from kafkapy.backends.group_subscription import Source
from kafkapy.formats.record_batch import Record


class RecordHandler(Protocol):
    """Takes records in the order of their partitions."""

    at_once: int | None
    """How many records to hand over before the position is moved; None for a whole batch."""

    @property
    def is_urgent(self) -> bool:
        """Whether something waits for ``settle`` that should not wait for long."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so much waits for ``settle`` that nothing more should be handled before."""
        ...

    def due_ms(self, fetched: Fetched, source: Source) -> int | None:
        """The time before which these records must not be handled; None for none."""
        ...

    def handle(self, fetched: Fetched, source: Source) -> None:
        """Do it."""
        ...

    def flush(self) -> None:
        """Make safe what can be made so without the cluster."""
        ...

    def settle(self, cluster: Cluster) -> None:
        """Make safe what needs the cluster, which is open for writing."""
        ...


class Printer(Protocol):
    """What makes text of records."""

    def print(self, records: list[Record], partition: int, timestamp_type: str | None) -> None:
        """Format records of a batch."""
        ...

    def flush(self) -> None:
        """Write what was formatted."""
        ...


class PrintingHandler:
    """Prints records; they are safe when the output has taken them."""

    at_once: int | None = None
    is_urgent = False
    is_full = False

    def __init__(self, printer: Printer) -> None:
        self._printer = printer

    def due_ms(self, fetched: Fetched, source: Source) -> int | None:
        """Always now."""
        return None

    def handle(self, fetched: Fetched, source: Source) -> None:
        """Format them."""
        self._printer.print(fetched.records, fetched.partition.partition, fetched.timestamp_type)

    def flush(self) -> None:
        """Write what was formatted."""
        self._printer.flush()

    def settle(self, cluster: Cluster) -> None:
        """Nothing is kept in the cluster."""
