"""Where replicas lie and how large they are: what a plan is made from, and what it leads to.

``brokers`` are all brokers of the cluster with their racks (None for none), ``fenced`` those of them that are down. The
first replica of a partition is its preferred leader; ``leaders`` tells who leads now, where that is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition

Assignment = Mapping[TopicPartition, tuple[int, ...]]


class Layout(NamedTuple):
    """A cluster as far as plans look at it."""

    brokers: Mapping[int, str | None]
    replicas: Assignment
    sizes: Mapping[TopicPartition, int]
    leaders: Mapping[TopicPartition, int] = {}
    fenced: frozenset[int] = frozenset()

    def size(self, partition: TopicPartition) -> int:
        """The bytes of one copy."""
        return self.sizes.get(partition, 0)

    def leader(self, partition: TopicPartition) -> int:
        """Who leads, as far as is known, and whom new replicas fetch from."""
        return self.leaders.get(partition, self.replicas[partition][0])

    def after(self, plan: Assignment) -> Layout:
        """The layout when the plan is done."""
        return self._replace(replicas={**self.replicas, **plan})

    def replica_counts(self) -> dict[int, int]:
        """How many replicas each broker has."""
        counts = Counter(broker for replicas in self.replicas.values() for broker in replicas)
        return {broker: counts[broker] for broker in self._all_brokers()}

    def leader_counts(self) -> dict[int, int]:
        """How many partitions each broker leads when every preferred leader does."""
        counts = Counter(replicas[0] for replicas in self.replicas.values() if replicas)
        return {broker: counts[broker] for broker in self._all_brokers()}

    def bytes_on(self) -> dict[int, int]:
        """How many bytes each broker has."""
        total = dict.fromkeys(self._all_brokers(), 0)
        for partition, replicas in self.replicas.items():
            for broker in replicas:
                total[broker] += self.size(partition)
        return total

    def _all_brokers(self) -> list[int]:
        named = {broker for replicas in self.replicas.values() for broker in replicas}
        return sorted(named.union(self.brokers))
