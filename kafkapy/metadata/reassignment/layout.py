"""Where replicas lie and how large they are: what a plan is made from, and what it leads to.

``brokers`` are all brokers of the cluster with their racks (None for none), ``fenced`` those of them that are down. The
first replica of a partition is its preferred leader; ``leaders`` tells who leads now, and ``in_sync`` who could. Of a
cluster that is stopped neither is known: then it is taken as if all brokers had come up and every replica caught up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER

if TYPE_CHECKING:
    from kafkapy.metadata.image import MetadataImage

Assignment = Mapping[TopicPartition, tuple[int, ...]]


class Layout(NamedTuple):
    """A cluster as far as plans look at it."""

    brokers: Mapping[int, str | None]
    replicas: Assignment
    sizes: Mapping[TopicPartition, int]
    leaders: Mapping[TopicPartition, int] = {}
    fenced: frozenset[int] = frozenset()
    in_sync: Mapping[TopicPartition, frozenset[int]] = {}

    @property
    def up(self) -> tuple[int, ...]:
        """The brokers that are up, and so can be given replicas; of a cluster that is stopped, all."""
        return tuple(broker for broker in sorted(self.brokers) if broker not in self.fenced)

    def size(self, partition: TopicPartition) -> int:
        """The bytes of one copy."""
        return self.sizes.get(partition, 0)

    def leader(self, partition: TopicPartition) -> int:
        """Who leads now; where that is not known, who would be elected."""
        known = self.leaders.get(partition)
        return self.elected(partition, self.replicas[partition]) if known is None else known

    def source(self, partition: TopicPartition) -> int:
        """Whom new replicas fetch from."""
        leader = self.leader(partition)
        return self.replicas[partition][0] if leader == NO_LEADER else leader

    def elected(self, partition: TopicPartition, replicas: tuple[int, ...]) -> int:
        """Who leads when a partition has these replicas, the new ones in sync, and its preferred leader was elected."""
        able = [broker for broker in replicas if self.can_lead(partition, broker)]
        current = self.leaders.get(partition)
        if current in able and able[0] != replicas[0]:
            return current
        return able[0] if able else NO_LEADER

    def can_lead(self, partition: TopicPartition, broker: int) -> bool:
        """Whether a broker is up and its replica in sync; one that it is only given will be, if there is a leader."""
        if broker not in self.brokers or broker in self.fenced:
            return False
        known = self.in_sync.get(partition)
        if known is None or broker in known:
            return True
        return broker not in self.replicas[partition] and self.leader(partition) != NO_LEADER

    def after(self, plan: Assignment) -> Layout:
        """The layout when the plan is done, and the preferred leaders of its partitions are elected."""
        leaders = {p: leader for p, found in plan.items() if (leader := self.elected(p, found)) != NO_LEADER}
        in_sync = {
            partition: frozenset(broker for broker in found if self.can_lead(partition, broker))
            for partition, found in plan.items()
            if partition in self.in_sync
        }
        return self._replace(
            replicas={**self.replicas, **plan},
            leaders={**self.leaders, **leaders} if self.leaders else {},
            in_sync={**self.in_sync, **in_sync},
        )

    def replica_counts(self) -> dict[int, int]:
        """How many replicas each broker has."""
        counts = Counter(broker for replicas in self.replicas.values() for broker in replicas)
        return {broker: counts[broker] for broker in self._all_brokers()}

    def leader_counts(self) -> dict[int, int]:
        """How many partitions each broker leads."""
        counts = Counter(map(self.leader, self.replicas))
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


def with_in_sync(layout: Layout, image: MetadataImage) -> Layout:
    """The layout with who is in sync; those that a reassignment under way adds will be."""
    if not layout.leaders:
        return layout
    in_sync = {}
    for partition in layout.replicas:
        found = image.topics[partition.topic].partitions[partition.partition]
        eligible = found.isr or found.elr or found.last_known_elr
        in_sync[partition] = frozenset(eligible + found.adding_replicas)
    return layout._replace(in_sync=in_sync)
