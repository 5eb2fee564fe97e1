"""Kafka's own draw beside a plan: whoever plans with ``minimal`` moves no more bytes than ``--generate`` would.

By luck a draw may be cheap and out of balance. Then the plan is made for the balance that the draw reaches: where that
is wider than the tolerance, each broker may be as far from its share of replicas, and of bytes, as the draw's worst.
The draw itself is a candidate, as far as it does the job: it moves replicas off brokers that are down, or to others
than those that may receive. Where it does not, the tolerance is widened on, at last to what must move and no more.

A draw that changes replication factors is no rival: Kafka gives all partitions of a topic that of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.balance import farthest
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.minimal_plan import distance, finished, loads_after, minimal_plan
from kafkapy.metadata.reassignment.plan_cost import bytes_moved
from kafkapy.metadata.reassignment.rack_rule import RackRule

Plan = dict[TopicPartition, tuple[int, ...]]
Planner = Callable[[Layout, Goal], Plan]
WIDER = (2, 4, 8, 16)


class Rival(NamedTuple):
    """A draw of Kafka's that moves less than a plan within the tolerance: the bytes of both, and whether the plan was
    made for the balance of the draw (else it insists on the tolerance)."""

    bytes_drawn: int
    bytes_within_tolerance: int
    is_matched: bool


def is_rival(layout: Layout, goal: Goal, drawn: Assignment) -> bool:
    """Whether a draw leaves every partition as many replicas as it shall have."""
    return all(len(after) == (goal.replication_factor or len(layout.replicas[p])) for p, after in drawn.items())


def does_the_job(layout: Layout, goal: Goal, drawn: Assignment) -> bool:
    """Whether a draw could be the plan."""
    rule = RackRule({broker: layout.brokers[broker] if goal.rack_aware else None for broker in goal.brokers})
    for partition, after in drawn.items():
        before = set(layout.replicas[partition])
        stays = before.intersection(goal.kept) <= set(after)
        given = all(map(goal.may_receive, set(after) - before))
        if partition not in goal.scope or not (stays and given and rule.is_kept(after)):
            return False
    return True


def no_dearer(layout: Layout, goal: Goal, drawn: Assignment, planner: Planner) -> Plan:
    """A plan that moves no more than a draw and is as balanced, as far as any can be that does the job."""
    most, eased = bytes_moved(layout, drawn), _eased(layout, goal, drawn)
    plan = planner(layout, eased)
    near = distance(layout, eased, plan) <= distance(layout, eased, drawn)
    if near and bytes_moved(layout, plan) <= most:
        return plan
    if does_the_job(layout, goal, drawn):
        return finished(layout, goal, drawn)
    for plan in _ever_wider(layout, eased, planner):
        if bytes_moved(layout, plan) <= most:
            break
    return plan


def _eased(layout: Layout, goal: Goal, drawn: Assignment) -> Goal:
    """The goal with room for what the draw leaves."""
    loads = loads_after(layout, goal, drawn)
    return goal._replace(
        replica_tolerance=farthest(loads.counts, loads.count_shares),
        byte_tolerance=farthest(loads.sizes, loads.size_shares),
    )


def _ever_wider(layout: Layout, goal: Goal, planner: Planner) -> Iterator[Plan]:
    for factor in WIDER:
        yield planner(
            layout,
            goal._replace(
                replica_tolerance=goal.tolerance_of_replicas * factor, byte_tolerance=goal.tolerance_of_bytes * factor
            ),
        )
    yield minimal_plan(layout, goal._replace(rebalance=False))
