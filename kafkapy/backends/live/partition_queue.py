"""The batches of one partition that a running cluster has not acknowledged yet, in their order.

An idempotent producer numbers its records in each partition; a broker takes a batch only if its number follows the last
one that it took, and knows one that it has taken already. So batches may be sent ahead without waiting for the ones
before, and sent again when nobody knows what became of them.

A broker remembers the last five batches of a producer in a partition, and knows only those again. So a batch may go out
only while the oldest one that is not settled is among the four before it, and only to the broker that has those. From a
producer that it does not know a broker takes any number: until it has the first batch, the second has to wait.

When one fails that may be sent again, those behind it fail as well: nothing more is sent until all that is under way
has come back; then all of them go out again in order. One that is refused for good leaves a gap in the numbers: those
behind it are numbered anew.
"""

from __future__ import annotations

from collections import deque

from kafkapy.backends.sealed_batch import Packed
from kafkapy.formats.record_batch import increment_sequence

MOST_UNDER_WAY = 5


class WaitingBatch:
    """``sequence`` is None until it is first sent, and ``ordinal`` counts the batches that were; ``is_sent`` where a
    broker may have it."""

    __slots__ = ("created", "data", "is_sent", "ordinal", "packed", "retries", "sequence")

    def __init__(self, packed: Packed, created: float) -> None:
        self.packed = packed
        self.created = created
        self.sequence: int | None = None
        self.ordinal = 0
        self.data = b""
        self.is_sent = False
        self.retries = 0


class PartitionQueue:
    """The batches of one partition."""

    def __init__(self) -> None:
        self.waiting: deque[WaitingBatch] = deque()
        self.under_way: list[WaitingBatch] = []
        self._failed: list[WaitingBatch] = []
        self._gap: int | None = None
        self._node = -1
        self._ordinal = 0
        self._is_known = False
        self.next_sequence = 0
        self.not_before = 0.0

    @property
    def is_empty(self) -> bool:
        return not (self.waiting or self.under_way or self._failed)

    @property
    def record_count(self) -> int:
        """How many records nobody has acknowledged or refused."""
        return sum(batch.packed.record_count for batch in (*self.waiting, *self.under_way, *self._failed))

    def is_ready(self, now: float) -> bool:
        """Whether the next batch may be sent."""
        return bool(self.waiting) and not self._failed and self._gap is None and now >= self.not_before

    def may_go_to(self, node: int) -> bool:
        """Whether the next batch may be sent to this broker now."""
        if not self.under_way:
            return True
        following = self.waiting[0]
        ordinal = self._ordinal if following.sequence is None else following.ordinal
        oldest = min(batch.ordinal for batch in self.under_way)
        return self._is_known and self._node == node and ordinal - oldest < MOST_UNDER_WAY

    def take(self, node: int) -> WaitingBatch:
        """The next batch, numbered; it is under way to a broker from now on."""
        self._node = node
        batch = self.waiting.popleft()
        if batch.sequence is None:
            batch.sequence, batch.ordinal = self.next_sequence, self._ordinal
            self._ordinal += 1
            self.next_sequence = increment_sequence(self.next_sequence, batch.packed.record_count)
        self.under_way.append(batch)
        return batch

    def acknowledge(self, batch: WaitingBatch) -> None:
        """A broker has it."""
        self._is_known = True
        self.under_way.remove(batch)

    def retry(self, batch: WaitingBatch) -> None:
        """It is to be sent again."""
        self.under_way.remove(batch)
        batch.retries += 1
        self._failed.append(batch)

    def refuse(self, batch: WaitingBatch) -> None:
        """No broker will ever take it."""
        if batch in self.under_way:
            self.under_way.remove(batch)
        else:
            self.waiting.remove(batch)
        if batch.sequence is not None:
            self._gap = batch.sequence if self._gap is None else min(self._gap, batch.sequence)

    def replace(self, batch: WaitingBatch, parts: list[WaitingBatch]) -> None:
        """Send smaller ones in its place; they have its numbers, since they have its records."""
        self.under_way.remove(batch)
        sequence, more = batch.sequence or 0, len(parts) - 1
        for other in (*self.under_way, *self._failed, *self.waiting):
            if other.sequence is not None and other.ordinal > batch.ordinal:
                other.ordinal += more
        self._ordinal += more
        for number, part in enumerate(parts):
            part.sequence, part.ordinal = sequence, batch.ordinal + number
            sequence = increment_sequence(sequence, part.packed.record_count)
        self._failed += parts

    def has_before(self, batch: WaitingBatch) -> bool:
        """Whether something before it is not settled: then it is no wonder that its number did not fit."""
        return self._gap is not None or any(
            _before(other, batch) for other in (*self.under_way, *self._failed) if other is not batch
        )

    def settle(self, not_before: float) -> bool:
        """When nothing is under way any more, put back what failed; whether anything was."""
        if self.under_way or not (self._failed or self._gap is not None):
            return False
        first = self._failed[0].sequence if self._failed else None
        self._failed.sort(key=lambda each: _distance(first or 0, each.sequence or 0))
        self.waiting.extendleft(reversed(self._failed))
        self._failed.clear()
        if self._gap is not None:
            self._number_from(self._gap)
            self._gap = None
        self.not_before = not_before
        return True

    def start_over(self) -> None:
        """Number everything from 0: the producer has a new id."""
        self._is_known = False
        self._number_from(0)

    def _number_from(self, sequence: int) -> None:
        for batch in self.waiting:
            if batch.sequence is not None:
                batch.sequence = None
                batch.data = b""
        self.next_sequence = sequence


def _before(one: WaitingBatch, other: WaitingBatch) -> bool:
    return _distance(one.sequence or 0, other.sequence or 0) > 0


def _distance(one: int, other: int) -> int:
    """How far ``other`` lies behind; numbers begin again at 0 after 2147483647."""
    return (other - one + 0x4000_0000) % 0x8000_0000 - 0x4000_0000
