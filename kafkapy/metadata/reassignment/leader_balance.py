"""Which replica comes first: leaders spread over brokers without a byte moved.

Leadership goes along chains: a broker with too many gives one to a broker that has a replica of it, which may give one
of its own on. The shortest chain from too many to too few changes the fewest leaders.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from math import ceil, floor

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Assignment, Layout

Chain = list[tuple[TopicPartition, int]]


def with_balanced_leaders(layout: Layout, goal: Goal, replicas: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """The same replicas, in an order in which every broker leads its share."""
    leaders = _Leaders(layout, goal, replicas)
    leaders.replace_gone(layout)
    leaders.demote()
    if goal.balance_leaders:
        leaders.balance()
    return leaders.ordered()


class _Leaders:
    def __init__(self, layout: Layout, goal: Goal, replicas: Assignment) -> None:
        self._goal = goal
        self._replicas = replicas
        self._leader = {partition: found[0] for partition, found in replicas.items()}
        self._led: dict[int, set[TopicPartition]] = defaultdict(set)
        self._on: dict[int, list[TopicPartition]] = defaultdict(list)
        for partition, broker in sorted(self._leader.items()):
            self._led[broker].add(partition)
            for replica in replicas[partition]:
                self._on[replica].append(partition)
        elsewhere = Counter(r[0] for p, r in layout.replicas.items() if p not in replicas and r)
        self._counts = {broker: len(self._led[broker]) + elsewhere[broker] for broker in goal.brokers}
        able = [broker for broker in goal.brokers if broker not in goal.demoted]
        share = sum(self._counts.values()) / max(1, len(able))
        self._low = {b: floor(share * (1 - goal.tolerance) + 1e-6) if b in able else 0 for b in goal.brokers}
        self._high = {b: ceil(share * (1 + goal.tolerance) - 1e-6) if b in able else 0 for b in goal.brokers}

    def replace_gone(self, layout: Layout) -> None:
        """Where the leader's replica moved, another one leads whatever is done: the one whose broker leads least."""
        for partition, found in self._replicas.items():
            before = layout.replicas[partition]
            if before and before[0] not in found:
                able = [broker for broker in found if self._may_lead(broker)] or list(found)
                self._give([(partition, min(able, key=lambda b: (self._counts.get(b, 0), able.index(b))))])

    def demote(self) -> None:
        for broker in self._goal.demoted:
            for partition in sorted(self._led[broker]):
                able = [b for b in self._replicas[partition] if self._may_lead(b)]
                if able:
                    self._give([(partition, min(able, key=lambda b: (self._counts[b], b)))])

    def balance(self) -> None:
        over = [broker for broker in self._goal.brokers if self._counts[broker] > self._high[broker]]
        for broker in over:
            while self._counts[broker] > self._high[broker] and (chain := self._chain_from(broker)):
                self._give(chain)
        for broker in self._goal.brokers:
            while self._counts[broker] < self._low[broker] and (chain := self._chain_to(broker)):
                self._give(chain)

    def ordered(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The leader first, the demoted last."""
        return {
            partition: tuple(sorted(found, key=partial(self._rank, self._leader[partition])))
            for partition, found in self._replicas.items()
        }

    def _rank(self, leader: int, broker: int) -> tuple[bool, bool]:
        return broker != leader, broker in self._goal.demoted

    def _give(self, chain: Chain) -> None:
        for partition, broker in chain:
            before = self._leader[partition]
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
                        if other != start and other not in came and self._may_lead(other):
                            came[other] = (broker, partition)
                            found.append(other)
            able = [broker for broker in found if self._counts[broker] < self._high[broker]]
            if able:
                return self._chain(came, start, min(able, key=lambda each: (self._counts[each], each)))
            waiting = found
        return []

    def _may_lead(self, broker: int) -> bool:
        return broker in self._counts and broker not in self._goal.demoted

    def _chain_to(self, end: int) -> Chain:
        """The shortest way for a leadership from a broker that can spare one, of several the one with most."""
        goes: dict[int, tuple[int, TopicPartition]] = {}
        waiting = [end]
        while waiting:
            found = []
            for broker in waiting:
                for partition in self._on[broker]:
                    leader = self._leader[partition]
                    if leader != end and leader not in goes and leader in self._counts:
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
