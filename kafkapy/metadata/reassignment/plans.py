"""Plans by strategy.

    kafka      every topic placed anew, as Kafka's --generate does
    minimal    the fewest bytes that bring loads within a tolerance: by the solver where it is installed and the
               cluster is small enough, else by the heuristic. Who names no tolerance never moves more bytes than
               Kafka's draw of the same seed (kafka_rival.py)
    balanced   the best balance there is, and for it few bytes

A plan has only partitions that change, or whose leader does; but for Kafka's, which has all that were asked for.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.placement import Draws
from kafkapy.metadata.reassignment.goal import DEFAULT_TOLERANCE, Goal
from kafkapy.metadata.reassignment.kafka_plan import kafka_plan
from kafkapy.metadata.reassignment.kafka_rival import Rival, does_the_job, is_rival, no_dearer
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.minimal_plan import distance, finished, minimal_plan
from kafkapy.metadata.reassignment.plan_cost import bytes_moved
from kafkapy.metadata.reassignment.plan_jobs import Job, balanced, goal_of
from kafkapy.metadata.reassignment.strategy import Strategy


class Planned(NamedTuple):
    """A plan, what it was to reach, and Kafka's draw where that would have moved less."""

    plan: Assignment
    goal: Goal
    rival: Rival | None = None


def make_plan(layout: Layout, job: Job, strategy: Strategy, tolerance: float | None, random: Draws) -> Planned:
    """The plan for a job; a tolerance of None is the usual one, wider where Kafka's draw would be cheaper."""
    usual = DEFAULT_TOLERANCE if tolerance is None else tolerance
    if strategy is Strategy.KAFKA:
        goal = _placed_anew(layout, job, usual)
        return Planned(kafka_plan(layout, goal, random), goal)
    goal = balanced(layout, job) if strategy is Strategy.BALANCED else goal_of(layout, job, usual)
    plan = _quickest(layout, goal)
    drawn = _drawn(layout, job, goal, random)
    moved, theirs = bytes_moved(layout, plan), bytes_moved(layout, drawn or {})
    if drawn is None or theirs >= moved:
        return Planned(plan, goal)
    if does_the_job(layout, goal, drawn) and distance(layout, goal, drawn) <= distance(layout, goal, plan):
        return Planned(finished(layout, goal, drawn), goal)
    if strategy is Strategy.BALANCED:
        return Planned(plan, goal)
    if tolerance is not None:
        return Planned(plan, goal, Rival(theirs, moved, is_matched=False))
    return Planned(no_dearer(layout, goal, drawn, _quickest), goal, Rival(theirs, moved, is_matched=True))


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


def _drawn(layout: Layout, job: Job, goal: Goal, random: Draws) -> Assignment | None:
    """What Kafka would draw for the job, where more is moved than must be and so less may be."""
    if not goal.rebalance:
        return None
    try:
        drawn = kafka_plan(layout, _placed_anew(layout, job, goal.tolerance), random)
    except KafkaError:
        return None
    return drawn if is_rival(layout, goal, drawn) else None
