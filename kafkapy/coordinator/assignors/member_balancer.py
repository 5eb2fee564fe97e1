"""Who of a topic's subscribers has the fewest partitions, and who the most: a step of the ``uniform`` assignor.

Members are sorted by how many partitions they have. The least loaded range grows from the left and rises by one
whenever each of its members got a partition; the most loaded range grows from the right and sinks. Members with nothing
to give are swapped out of the right range. Between them the ranges never look at a member twice in a round, so a topic
is balanced in one pass, and the choice is the same wherever it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence


class MemberBalancer:
    """Over ``sizes``, the partition counts by member index, which the owner of the list keeps up to date."""

    def __init__(self, sizes: list[int], members: Sequence[int]) -> None:
        self._sizes = sizes
        self._sorted = sorted(members, key=lambda member: (sizes[member], member))
        self.imbalance = sizes[self._sorted[-1]] - sizes[self._sorted[0]]
        self._least_end = 0
        self._least_count = sizes[self._sorted[0]] - 1
        self._next_least = 0
        self._most_start = self._most_end = len(self._sorted)
        self._most_count = sizes[self._sorted[-1]] + 1
        self._next_most = len(self._sorted) - 1

    def next_least_loaded(self) -> int:
        """The member to get a partition, which is then taken as given."""
        if self._next_least >= self._least_end:
            self._least_count += 1
            while self._least_end < len(self._sorted) and self._size_at(self._least_end) == self._least_count:
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._sorted[self._next_least - 1]

    def next_most_loaded(self) -> int | None:
        """The member to lose a partition, which is then taken as gone; None when nobody is left."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                # everyone in the range was excluded: the next member to the left sets the level
                self._most_count = self._size_at(self._most_start - 1)
            else:
                self._most_count -= 1
            while self._most_start > 0 and self._size_at(self._most_start - 1) == self._most_count:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        self._next_most -= 1
        return self._sorted[self._next_most + 1]

    def exclude_most_loaded(self) -> None:
        """The member that ``next_most_loaded`` told last has nothing to give."""
        here, end = self._next_most + 1, self._most_end - 1
        self._sorted[here], self._sorted[end] = self._sorted[end], self._sorted[here]
        self._most_end = end

    @property
    def is_balanced(self) -> bool:
        """Whether a move from the one range to the other would improve nothing."""
        return self._most_count - self._least_count <= 1

    def _size_at(self, position: int) -> int:
        return self._sizes[self._sorted[position]]
