"""Plans by strategy.

    kafka      every topic placed anew, as Kafka's --generate does
    minimal    the fewest bytes that bring loads within a tolerance: by the solver where it is installed and the
               cluster is small enough, else by the heuristic
    balanced   the best balance there is, and for it few bytes

A plan has only partitions that change, but for Kafka's, which has all that were asked for.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.placement import Draws
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.kafka_plan import kafka_plan
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.minimal_plan import distance, minimal_plan
from kafkapy.metadata.reassignment.plan_cost import bytes_moved
from kafkapy.metadata.reassignment.plan_jobs import Job, balanced, goal_of
from kafkapy.metadata.reassignment.rack_rule import RackRule
from kafkapy.metadata.reassignment.strategy import Strategy


class Planned(NamedTuple):
    """A plan, and what it was to reach."""

    plan: Assignment
    goal: Goal


def make_plan(layout: Layout, job: Job, strategy: Strategy, tolerance: float, random: Draws) -> Planned:
    """The plan for a job."""
    if strategy is Strategy.KAFKA:
        goal = _placed_anew(layout, job, tolerance)
        return Planned(kafka_plan(layout, goal, random), goal)
    goal = balanced(layout, job) if strategy is Strategy.BALANCED else goal_of(layout, job, tolerance)
    plan = _quickest(layout, goal)
    return Planned(_not_worse_than_kafkas(layout, goal, plan, random), goal)


def rollback(layout: Layout, plan: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """The plan that puts everything back."""
    return {partition: layout.replicas[partition] for partition in sorted(plan)}


def _placed_anew(layout: Layout, job: Job, tolerance: float) -> Goal:
    """The goal as Kafka's tool can be asked for it: whole topics, and a list of brokers."""
    if job.demote:
        raise KafkaError("AdminCommandFailedException", "Kafka's placement cannot demote a broker")
    goal = goal_of(layout, job, tolerance)
    topics = {partition.topic for partition in goal.scope}
    listed = goal.brokers if job.broker_list is None else job.broker_list
    return goal._replace(
        scope=frozenset(partition for partition in layout.replicas if partition.topic in topics),
        brokers=tuple(broker for broker in goal.brokers if broker in listed),
    )


def _quickest(layout: Layout, goal: Goal) -> dict[TopicPartition, tuple[int, ...]]:
    from kafkapy.metadata.reassignment.exact_plan import exact_plan, is_available, is_small

    if goal.tolerance > 0 and is_small(goal) and is_available():
        return exact_plan(layout, goal)
    return minimal_plan(layout, goal)


def _not_worse_than_kafkas(
    layout: Layout, goal: Goal, plan: dict[TopicPartition, tuple[int, ...]], random: Draws
) -> dict[TopicPartition, tuple[int, ...]]:
    """Kafka's plan, should luck have given it one that is as balanced for fewer bytes."""
    if not goal.rebalance or goal.receivers is not None or goal.kept or goal.replication_factor:
        return plan
    try:
        drawn = kafka_plan(layout, goal, random)
    except KafkaError:
        return plan
    rival = {partition: after for partition, after in drawn.items() if after != layout.replicas[partition]}
    if bytes_moved(layout, rival) >= bytes_moved(layout, plan):
        return plan
    rule = RackRule({broker: layout.brokers[broker] if goal.rack_aware else None for broker in goal.brokers})
    keeps = all(len(after) == len(layout.replicas[p]) and rule.is_kept(after) for p, after in drawn.items())
    return rival if keeps and distance(layout, goal, rival) <= distance(layout, goal, plan) else plan
