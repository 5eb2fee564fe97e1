"""Members sorted by how many partitions they have, then by member id: the least loaded first."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from kafkapy.coordinator.assignors.client_group import Assignment
from kafkapy.coordinator.assignors.java_hash_map import string_order


class ConsumersByLoad:
    """Over ``assignment``: a member is taken out before its partitions change, and put back after."""

    def __init__(self, assignment: Assignment, consumers: Iterable[str]) -> None:
        self._assignment = assignment
        self._sorted = sorted(map(self._entry, consumers))

    def __iter__(self) -> Iterator[str]:
        return (consumer for _, _, consumer in self._sorted)

    @property
    def least(self) -> int:
        """How many partitions the least loaded member has."""
        return self._sorted[0][0]

    @property
    def most(self) -> int:
        """How many partitions the most loaded member has."""
        return self._sorted[-1][0]

    def add(self, consumer: str) -> None:
        insort(self._sorted, self._entry(consumer))

    def remove(self, consumer: str) -> None:
        """Nothing happens where it is not there."""
        entry = self._entry(consumer)
        at = bisect_left(self._sorted, entry)
        if self._sorted[at : at + 1] == [entry]:
            del self._sorted[at]

    def _entry(self, consumer: str) -> tuple[int, bytes, str]:
        return len(self._assignment[consumer]), string_order(consumer), consumer
