"""Which replica comes first: leaders spread over brokers without a byte moved.

A plan says who leads by the order of replicas alone: when it is executed, the first of each partition that is named in
it is elected. So a partition that has the right order and another leader is named, too, where the goal is about
leaders. Whose preferred leader is down or not in sync is led by somebody else, and is counted so.

Leadership goes along chains: a broker with too many gives one to a broker that has a replica of it, which may give one
of its own on. The shortest chain from too many to too few changes the fewest leaders.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from math import ceil, floor

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.topics_image import NO_LEADER

Chain = list[tuple[TopicPartition, int]]


def with_balanced_leaders(layout: Layout, goal: Goal, replicas: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """The same replicas, in an order in which every broker leads its share: those that change, or are to be elected."""
    leaders = _Leaders(layout, goal, replicas)
    leaders.replace_gone()
    leaders.demote()
    if goal.balance_leaders:
        leaders.balance()
    ordered = leaders.ordered()
    changed = {partition: found for partition, found in ordered.items() if found != layout.replicas[partition]}
    return changed | {partition: ordered[partition] for partition in leaders.to_elect(changed)}


class _Leaders:
    """Who leads each partition, at first those who would when the replicas stay in their order."""

    def __init__(self, layout: Layout, goal: Goal, replicas: Assignment) -> None:
        self._layout = layout
        self._goal = goal
        self._replicas = replicas
        self._given: set[TopicPartition] = set()
        self._leader = {partition: self._first_leader(partition, found) for partition, found in replicas.items()}
        self._led: dict[int, set[TopicPartition]] = defaultdict(set)
        self._on: dict[int, list[TopicPartition]] = defaultdict(list)
        for partition, broker in sorted(self._leader.items()):
            self._led[broker].add(partition)
            for replica in replicas[partition]:
                self._on[replica].append(partition)
        self._elsewhere = Counter(layout.leader(p) for p in layout.replicas if p not in replicas)
        self._counts = {broker: len(self._led[broker]) + self._elsewhere[broker] for broker in goal.brokers}
        able = [broker for broker in goal.brokers if broker not in goal.demoted]
        share = sum(self._counts.values()) / max(1, len(able))
        self._low = {b: floor(share * (1 - goal.tolerance) + 1e-6) if b in able else 0 for b in goal.brokers}
        self._high = {b: ceil(share * (1 + goal.tolerance) - 1e-6) if b in able else 0 for b in goal.brokers}

    def _first_leader(self, partition: TopicPartition, replicas: tuple[int, ...]) -> int:
        leader = self._layout.elected(partition, replicas)
        return replicas[0] if leader == NO_LEADER else leader

    def replace_gone(self) -> None:
        """Where the preferred leader's replica moved, another one leads whatever is done: the one whose broker leads
        least of the others."""
        for partition, found in self._replicas.items():
            before = self._layout.replicas[partition]
            if before and before[0] not in found:
                able = [broker for broker in found if self._may_lead(partition, broker)] or list(found)
                self._give([(partition, min(able, key=partial(self._leads_beside, partition)))])

    def demote(self) -> None:
        for broker in self._goal.demoted:
            for partition in sorted(self._led[broker]):
                able = [b for b in self._replicas[partition] if self._may_lead(partition, b)]
                if able:
                    self._give([(partition, min(able, key=lambda b: (self._counts[b], b)))])

    def _leads_beside(self, partition: TopicPartition, broker: int) -> int:
        """How many partitions a broker leads beside this one."""
        return self._counts.get(broker, 0) - (self._leader[partition] == broker)

    def to_elect(self, changed: Assignment) -> list[TopicPartition]:
        """The partitions that keep their replicas, and whose leader is another than the goal asks for."""
        layout = self._layout
        led = {p: layout.leader(p) for p in self._replicas if p not in changed}
        others = [p for p, now in led.items() if layout.elected(p, layout.replicas[p]) not in (now, NO_LEADER)]
        if self._goal.demoted:
            return [p for p in others if led[p] in self._goal.demoted]
        counts = self._elsewhere + Counter(led.values()) + Counter(self._leader[p] for p in changed)
        return others if self._goal.balance_leaders and self._outside(counts) > self._outside(self._counts) else []

    def _outside(self, counts: Mapping[int, int]) -> int:
        """How many leaders brokers have too many or too few."""
        found = {broker: counts.get(broker, 0) for broker in self._goal.brokers}
        return sum(max(0, count - self._high[b], self._low[b] - count) for b, count in found.items())

    def balance(self) -> None:
        over = [broker for broker in self._goal.brokers if self._counts[broker] > self._high[broker]]
        for broker in over:
            while self._counts[broker] > self._high[broker] and (chain := self._chain_from(broker)):
                self._give(chain)
        for broker in self._goal.brokers:
            while self._counts[broker] < self._low[broker] and (chain := self._chain_to(broker)):
                self._give(chain)

    def ordered(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Who was given the lead first, the demoted last; whose leader only stands in for another stays as it is."""
        return {
            partition: tuple(sorted(found, key=partial(self._rank, self._preferred(partition))))
            for partition, found in self._replicas.items()
        }

    def _preferred(self, partition: TopicPartition) -> int:
        """The first replica, unless another was given the lead; one that is demoted gives way even to who is down."""
        demoted, replicas = self._goal.demoted, self._replicas[partition]
        if partition in self._given or (replicas[0] in demoted and self._leader[partition] not in demoted):
            return self._leader[partition]
        others = [broker for broker in replicas if broker not in demoted and broker in self._layout.brokers]
        return others[0] if replicas[0] in demoted and others else replicas[0]

    def _rank(self, preferred: int, broker: int) -> tuple[bool, bool]:
        return broker != preferred, broker in self._goal.demoted

    def _give(self, chain: Chain) -> None:
        for partition, broker in chain:
            before = self._leader[partition]
            self._given.add(partition)
            self._led[before].discard(partition)
            self._led[broker].add(partition)
            self._leader[partition] = broker
            if before in self._counts:
                self._counts[before] -= 1
            if broker in self._counts:
                self._counts[broker] += 1

    def _chain_from(self, start: int) -> Chain:
        """The shortest way for one of a broker's leaderships to one that has room, of several the one with fewest."""
        came: dict[int, tuple[int, TopicPartition]] = {}
        waiting = [start]
        while waiting:
            found = []
            for broker in waiting:
                for partition in sorted(self._led[broker]):
                    for other in self._replicas[partition]:
                        if other != start and other not in came and self._may_lead(partition, other):
                            came[other] = (broker, partition)
                            found.append(other)
            able = [broker for broker in found if self._counts[broker] < self._high[broker]]
            if able:
                return self._chain(came, start, min(able, key=lambda each: (self._counts[each], each)))
            waiting = found
        return []

    def _may_lead(self, partition: TopicPartition, broker: int) -> bool:
        is_meant = broker in self._counts and broker not in self._goal.demoted
        return is_meant and self._layout.can_lead(partition, broker)

    def _chain_to(self, end: int) -> Chain:
        """The shortest way for a leadership from a broker that can spare one, of several the one with most."""
        goes: dict[int, tuple[int, TopicPartition]] = {}
        waiting = [end]
        while waiting:
            found = []
            for broker in waiting:
                for partition in self._on[broker]:
                    leader = self._leader[partition]
                    is_new = leader != end and leader not in goes and leader in self._counts
                    if is_new and self._may_lead(partition, broker):
                        goes[leader] = (broker, partition)
                        found.append(leader)
            able = [broker for broker in found if self._counts[broker] > self._low[broker]]
            if able:
                return self._chain_down(goes, max(able, key=lambda each: (self._counts[each], -each)), end)
            waiting = found
        return []

    @staticmethod
    def _chain_down(goes: dict[int, tuple[int, TopicPartition]], start: int, end: int) -> Chain:
        chain, broker = [], start
        while broker != end:
            broker, partition = goes[broker]
            chain.append((partition, broker))
        return chain

    @staticmethod
    def _chain(came: dict[int, tuple[int, TopicPartition]], start: int, end: int) -> Chain:
        chain, broker = [], end
        while broker != start:
            before, partition = came[broker]
            chain.append((partition, broker))
            broker = before
        return chain
