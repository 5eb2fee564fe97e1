"""The loads of brokers while a plan is made, and how much is wrong with them.

Invariant: ``replicas``, ``home``, ``away``, ``counts`` and ``sizes`` tell the same story after every ``move``. What may
be moved off a broker stands in one of two lists sorted by size: ``home`` what it had from the start, ``away`` what the
plan brought it, which costs nothing to take to yet another broker.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.balance import Bounds, bounds, ideal_shares, whole_bounds, without_giants
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.rack_rule import RackRule

TINY = 1e-9

Sized = tuple[int, TopicPartition]
"""A partition behind the bytes of one copy, so that lists of them are sorted by size."""


class Complaint(NamedTuple):
    """Something of which a broker has too much or too little; ``load_of`` measures it in parts of a broker's share."""

    penalty: float
    is_over: bool
    load_of: Callable[[int], float]


class BrokerLoads:
    """Replica counts and bytes of the goal's brokers, against what they should be."""

    def __init__(self, layout: Layout, goal: Goal) -> None:
        self.layout = layout
        self.goal = goal
        racks = {broker: layout.brokers.get(broker) if goal.rack_aware else None for broker in goal.brokers}
        self.rule = RackRule(racks)
        self._receivers = frozenset(filter(goal.may_receive, goal.brokers))
        self.original = {partition: frozenset(layout.replicas[partition]) for partition in goal.scope}
        self.replicas = {partition: list(layout.replicas[partition]) for partition in sorted(goal.scope)}
        self.home: dict[int, list[Sized]] = {broker: [] for broker in goal.brokers}
        self.away: dict[int, list[Sized]] = {broker: [] for broker in goal.brokers}
        self.counts = dict.fromkeys(goal.brokers, 0)
        self.sizes = dict.fromkeys(goal.brokers, 0)
        for partition, replicas in layout.replicas.items():
            for broker in replicas:
                if broker in self.counts:
                    self.counts[broker] += 1
                    self.sizes[broker] += layout.size(partition)
                    if partition in goal.scope:
                        self.home[broker].append((layout.size(partition), partition))
        for found in self.home.values():
            found.sort()
        self.count_shares, self.size_shares = self._shares()
        self.count_bounds: Bounds = whole_bounds(self.count_shares, goal.tolerance_of_replicas)
        self.size_bounds: Bounds = bounds(self.size_shares, goal.tolerance_of_bytes)
        self._count_unit = max(1.0, sum(self.count_shares.values()) / max(1, len(goal.brokers)))
        self._size_unit = max(1.0, sum(self.size_shares.values()) / max(1, len(goal.brokers)))

    def _shares(self) -> tuple[dict[int, float], dict[int, float]]:
        items = []
        for partition, replicas in self.layout.replicas.items():
            if partition in self.goal.scope:
                factor = self.wanted(partition) - len(self.goal.kept.intersection(replicas))
            else:
                factor = sum(broker in self.counts for broker in replicas)
            items.append((factor, self.layout.size(partition)))
        brokers = self.goal.brokers
        return (
            ideal_shares(self.rule, brokers, ((factor, 1) for factor, _ in items)),
            without_giants(ideal_shares(self.rule, brokers, items), items),
        )

    def wanted(self, partition: TopicPartition) -> int:
        """How many replicas a partition shall have, those on kept brokers among them."""
        return self.goal.replication_factor or len(self.original[partition])

    def current_penalty(self, broker: int) -> float:
        """How far outside its bounds a broker is."""
        size, low, high = self._size_limits(broker)
        outside = size - high if size > high else low - size if size < low else 0.0
        return self._count_penalty(broker, self.counts[broker]) + outside / self._size_unit

    def complaints(self, broker: int) -> list[Complaint]:
        """What is wrong with a broker, the worst first."""
        size, _, high = self._size_limits(broker)
        count, most = self.counts[broker], self.count_bounds.high[broker]
        by_count = self._count_penalty(broker, count)
        by_size = self.current_penalty(broker) - by_count
        found = [
            Complaint(by_count, count > most, lambda b: self.counts[b] / max(self.count_shares[b], 1e-9)),
            Complaint(by_size, size > high, lambda b: self.sizes[b] / max(self.size_shares[b], 1e-9)),
        ]
        return sorted((each for each in found if each.penalty > TINY), key=lambda each: -each.penalty)

    def _count_penalty(self, broker: int, count: int) -> float:
        low, high = self.count_bounds.low[broker], self.count_bounds.high[broker]
        return (count - high if count > high else low - count if count < low else 0.0) / self._count_unit

    def _size_limits(self, broker: int) -> tuple[float, float, float]:
        return self.sizes[broker], self.size_bounds.low[broker], self.size_bounds.high[broker]

    def total_penalty(self) -> float:
        """How far all brokers are outside."""
        return sum(map(self.current_penalty, self.goal.brokers))

    def fullness(self, broker: int) -> float:
        """The load in parts of the share, the larger of the two; more than any for brokers that are down or gone."""
        if broker not in self.counts:
            return inf
        count = self.counts[broker] / max(self.count_shares[broker], 1e-9)
        size = self.sizes[broker] / max(self.size_shares[broker], 1e-9) if self.size_shares[broker] else 0.0
        return max(count, size)

    def gain(self, source: int, target: int, size: int) -> float:
        """What the total penalty loses when a replica of ``size`` bytes goes from one broker to another."""
        return self.gain_by_size(source, target, 1)(size)

    def gain_by_size(self, source: int, target: int, count: int) -> Callable[[float], float]:
        """The same for ``count`` replicas, as a function of their bytes: a concave one, see ``turning_points``."""
        given, taken = self.counts[source] - count, self.counts[target] + count
        base = self.current_penalty(source) + self.current_penalty(target)
        base -= self._count_penalty(source, given) + self._count_penalty(target, taken)
        source_size, source_low, source_high = self._size_limits(source)
        target_size, target_low, target_high = self._size_limits(target)
        unit = self._size_unit

        def gain(size: float) -> float:
            left, right = source_size - size, target_size + size
            outside = left - source_high if left > source_high else source_low - left if left < source_low else 0.0
            if right > target_high:
                outside += right - target_high
            elif right < target_low:
                outside += target_low - right
            return base - outside / unit

        return gain

    def turning_points(self, source: int, target: int) -> list[float]:
        """The bytes at which one of two brokers comes to a bound: what a move is worth is best near one of them."""
        source_size, source_low, source_high = self._size_limits(source)
        target_size, target_low, target_high = self._size_limits(target)
        points = {source_size - source_high, source_size - source_low, target_low - target_size}
        return sorted(point for point in points | {target_high - target_size} if point > 0)

    def cost(self, partition: TopicPartition, source: int, target: int) -> int:
        """The bytes that a move adds to the plan; what goes back home takes bytes away."""
        original = self.original[partition]
        size = self.layout.size(partition)
        return size * ((target not in original) - (source not in original))

    def may_move(self, partition: TopicPartition, source: int, target: int) -> bool:
        """Whether racks and the goal allow a move; a broker may always have back what it had."""
        replicas = self.replicas[partition]
        if target in replicas or (target not in self._receivers and target not in self.original[partition]):
            return False
        rule = self.rule
        if not rule.is_active or rule.racks[source] == rule.racks[target]:
            return True
        return rule.allows((b for b in replicas if b != source), target)

    def move(self, partition: TopicPartition, source: int, target: int) -> None:
        """Put a replica elsewhere, in the same place of the list."""
        replicas = self.replicas[partition]
        replicas[replicas.index(source)] = target
        self._took(partition, source, -1)
        self._took(partition, target, 1)

    def add(self, partition: TopicPartition, broker: int) -> None:
        """Give a partition one more replica."""
        self.replicas[partition].append(broker)
        self._took(partition, broker, 1)

    def remove(self, partition: TopicPartition, broker: int) -> None:
        """Take a replica away."""
        self.replicas[partition].remove(broker)
        self._took(partition, broker, -1)

    def _took(self, partition: TopicPartition, broker: int, sign: int) -> None:
        if broker not in self.counts:
            return
        self.counts[broker] += sign
        self.sizes[broker] += sign * self.layout.size(partition)
        entry = (self.layout.size(partition), partition)
        found = (self.home if broker in self.original[partition] else self.away)[broker]
        if sign > 0:
            insort(found, entry)
        else:
            del found[bisect_left(found, entry)]
