"""What a rebalance did, for people to read: a line about the group, then a line about each member with what it has, and
in brackets what it got (+) and what it gave up (-)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition

Assigned = Mapping[int, tuple[TopicPartition, ...]]
"""The partitions of each member, by its number."""


class Rebalance(NamedTuple):
    """``label`` is "generation 3" or "epoch 3"."""

    group_id: str
    label: str
    assignor: str
    cause: str
    before: Assigned
    after: Assigned

    def lines(self) -> Iterator[str]:
        """``group g, generation 3 (range): member 2 left`` and ``  member 1: orders-0, orders-1 (+orders-1)``."""
        yield f"group {self.group_id}, {self.label} ({self.assignor}): {self.cause}"
        for number, partitions in self.after.items():
            held = set(self.before.get(number, ()))
            moved = [f"+{each}" for each in partitions if each not in held]
            moved += [f"-{each}" for each in sorted(held.difference(partitions))]
            changes = f" ({' '.join(moved)})" if moved and held else ""
            yield f"  member {number}: {joined(partitions) or 'nothing'}{changes}"


def joined(partitions: Iterable[TopicPartition]) -> str:
    """Names with commas."""
    return ", ".join(map(str, partitions))
