"""Plans that move few bytes: what must move first, then one move or swap after another, each the one that brings loads
nearest to their bounds for its bytes, until all are inside or nothing helps.

At the end, whatever can go back home without harm does. The result is never certain to be the least; where a cluster is
small enough, ``exact_plan`` finds that.
"""

from __future__ import annotations

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.broker_loads import TINY, BrokerLoads
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.leader_balance import with_balanced_leaders
from kafkapy.metadata.reassignment.move_search import best_moves
from kafkapy.metadata.reassignment.needed_moves import make_needed_moves

ROUNDS = 3


def minimal_plan(layout: Layout, goal: Goal) -> dict[TopicPartition, tuple[int, ...]]:
    """The partitions that change, with their replicas."""
    loads = BrokerLoads(layout, goal)
    make_needed_moves(loads)
    if goal.rebalance:
        _balance(loads)
        _send_home(loads)
    return finished(layout, goal, {p: tuple(replicas) for p, replicas in loads.replicas.items()})


def finished(layout: Layout, goal: Goal, replicas: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """Replica sets as a plan: those that were there in their order, leaders balanced, what stays left out."""
    ordered = {partition: _in_order(layout.replicas[partition], found) for partition, found in replicas.items()}
    return with_balanced_leaders(layout, goal, ordered)


def distance(layout: Layout, goal: Goal, plan: Assignment) -> float:
    """How far outside their bounds brokers are after a plan; 0 is what the goal asks for."""
    return round(loads_after(layout, goal, plan).total_penalty(), 6)


def loads_after(layout: Layout, goal: Goal, plan: Assignment) -> BrokerLoads:
    """The loads when a plan is done."""
    loads = BrokerLoads(layout, goal)
    for partition, after in plan.items():
        for broker in set(loads.replicas[partition]).difference(after):
            loads.remove(partition, broker)
        for broker in set(after).difference(loads.replicas[partition]):
            loads.add(partition, broker)
    return loads


def _in_order(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """Replicas that stay come first, as they stood: they are in sync, the new ones are not yet."""
    return tuple(b for b in before if b in after) + tuple(b for b in after if b not in before)


def _balance(loads: BrokerLoads) -> None:
    """Round after round over the brokers that are outside their bounds, until a round changes nothing."""
    for _ in range(ROUNDS):
        stuck: set[int] = set()
        while waiting := [b for b in loads.goal.brokers if b not in stuck and loads.current_penalty(b) > TINY]:
            worst = max(waiting, key=lambda broker: (loads.current_penalty(broker), broker))
            moves = best_moves(loads, worst)
            if not moves:
                stuck.add(worst)
            for move in moves:
                loads.move(*move)
        if loads.total_penalty() <= TINY:
            return


def _send_home(loads: BrokerLoads) -> None:
    """Undo what turned out not to be needed, the largest first."""
    for partition in sorted(loads.replicas, key=lambda each: (-loads.layout.size(each), each)):
        original, size = loads.original[partition], loads.layout.size(partition)
        for source in [b for b in loads.replicas[partition] if b not in original]:
            for target in sorted(original.intersection(loads.counts).difference(loads.replicas[partition])):
                if loads.gain(source, target, size) >= -TINY and loads.may_move(partition, source, target):
                    loads.move(partition, source, target)
                    break
