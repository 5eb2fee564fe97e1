"""What a plan costs. A new replica is fetched from the partition's leader, whole; one that goes costs nothing.

The peak of a broker's disk is what it has and all it gets: replicas that go are deleted only when the new ones are in
sync, which in the worst case is at the very end. Plans that are executed in batches need less. What goes between the
log dirs of a broker is counted by itself (``log_dir_moves``): no other broker sends it.

Leaders are those who lead now, and who lead when the plan is done: of its partitions the preferred ones, where they can
(``Layout.elected``); all other partitions keep whom they have.

How balanced brokers are is told of those that are up; after a plan not of those that it takes all replicas from. That
follows from the plan alone, so a plan that is made and one that is read from a file are told of in the same numbers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.balance import Imbalance, imbalance
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.rack_rule import RackRule
from kafkapy.metadata.reassignment.reassignment_json import LogDirs, Reassignment


class BrokerCost(NamedTuple):
    """What a plan does to a broker."""

    bytes_in: int
    bytes_out: int
    disk_before: int
    disk_peak: int
    disk_after: int
    replicas_before: int
    replicas_after: int
    leaders_before: int
    leaders_after: int


class PlanCost(NamedTuple):
    """``pairs`` are the bytes that go from a broker (the leader of a partition) to another; ``brokers`` is by id;
    ``partitions`` are those that get other replicas, another order of them or another leader. The imbalance is that of
    the brokers in ``counted_before``, then in ``counted_after``."""

    partitions: int
    replicas_moved: int
    bytes_moved: int
    leaders_moved: int
    rack_violations_before: int
    rack_violations_after: int
    counted_before: tuple[int, ...]
    counted_after: tuple[int, ...]
    imbalance_before: Imbalance
    imbalance_after: Imbalance
    brokers: Mapping[int, BrokerCost]
    pairs: Mapping[tuple[int, int], int]

    def seconds(self, throttle: int) -> float:
        """How long it takes at ``throttle`` bytes a second, see ``seconds_to_copy``."""
        return seconds_to_copy(self.pairs, throttle)


def bytes_moved(layout: Layout, plan: Assignment) -> int:
    """What a plan copies."""
    return sum(layout.size(p) * len(set(after).difference(layout.replicas[p])) for p, after in plan.items())


def log_dir_moves(layout: Layout, plan: Reassignment, current: LogDirs) -> dict[tuple[TopicPartition, int], int]:
    """The replicas that stay on their broker and go to another of its log dirs, with their bytes."""
    return {
        (partition, broker): layout.size(partition)
        for (partition, broker), path in sorted(plan.log_dirs.items())
        if broker in layout.replicas[partition]
        and current.get((partition, broker)) not in (None, os.path.abspath(path))
    }


def plan_cost(layout: Layout, plan: Assignment) -> PlanCost:
    """The cost of a plan, and the balance before and after it."""
    done, pairs = layout.after(plan), copied_bytes(layout, plan)
    counted = _counted_after(layout, done)
    rule, rule_after = (RackRule({b: layout.brokers[b] for b in brokers}) for brokers in (layout.up, counted))
    led_anew = {partition for partition in plan if done.leader(partition) != layout.leader(partition)}
    changed = {partition for partition, after in plan.items() if after != layout.replicas[partition]}
    return PlanCost(
        len(changed | led_anew),
        sum(len(set(after).difference(layout.replicas[p])) for p, after in plan.items()),
        sum(pairs.values()),
        len(led_anew),
        sum(not rule.is_kept(replicas) for replicas in layout.replicas.values()),
        sum(not rule_after.is_kept(replicas) for replicas in done.replicas.values()),
        layout.up,
        counted,
        imbalance(layout, rule),
        imbalance(done, rule_after),
        _broker_costs(layout, done, pairs),
        pairs,
    )


def _counted_after(layout: Layout, done: Layout) -> tuple[int, ...]:
    """The brokers that are up, but for those that a plan empties."""
    before, after = layout.replica_counts(), done.replica_counts()
    return tuple(broker for broker in layout.up if after[broker] or not before[broker])


def copied_bytes(layout: Layout, plan: Assignment) -> dict[tuple[int, int], int]:
    """The bytes that go from each broker to each other."""
    pairs: Counter[tuple[int, int]] = Counter()
    for partition, after in plan.items():
        for broker in set(after).difference(layout.replicas[partition]):
            pairs[layout.source(partition), broker] += layout.size(partition)
    return dict(sorted(pairs.items()))


def seconds_to_copy(pairs: Mapping[tuple[int, int], int], throttle: int) -> float:
    """How long copies take when no broker sends more than ``throttle`` bytes a second, nor receives more; what stays
    on its broker and only goes to another log dir is not slowed down by that."""
    incoming, outgoing = _traffic({pair: size for pair, size in pairs.items() if pair[0] != pair[1]})
    return max((*incoming.values(), *outgoing.values()), default=0) / throttle


def _traffic(pairs: Mapping[tuple[int, int], int]) -> tuple[Counter[int], Counter[int]]:
    incoming, outgoing = Counter[int](), Counter[int]()
    for (source, target), size in pairs.items():
        outgoing[source] += size
        incoming[target] += size
    return incoming, outgoing


def _broker_costs(layout: Layout, done: Layout, pairs: Mapping[tuple[int, int], int]) -> dict[int, BrokerCost]:
    incoming, outgoing = _traffic(pairs)
    before = layout.bytes_on(), layout.replica_counts(), layout.leader_counts()
    after = done.bytes_on(), done.replica_counts(), done.leader_counts()
    return {
        broker: BrokerCost(
            incoming[broker],
            outgoing[broker],
            before[0].get(broker, 0),
            before[0].get(broker, 0) + incoming[broker],
            after[0].get(broker, 0),
            before[1].get(broker, 0),
            after[1].get(broker, 0),
            before[2].get(broker, 0),
            after[2].get(broker, 0),
        )
        for broker in sorted({*before[0], *after[0]})
    }
