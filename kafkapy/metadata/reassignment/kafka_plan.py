"""The plan of Kafka's ``--generate``: every topic placed anew, as if it were created on the given brokers.

Each topic has the replication factor of its partition 0, also where its partitions differ.
"""

from __future__ import annotations

from collections import defaultdict

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.placement import Draws, PlacementSpec, UsableBroker, place
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Layout


def kafka_plan(layout: Layout, goal: Goal, random: Draws) -> dict[TopicPartition, tuple[int, ...]]:
    """The replicas of every partition in scope, also of those that stay."""
    brokers = [UsableBroker(b, layout.brokers.get(b) if goal.rack_aware else None) for b in goal.brokers]
    partitions: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(goal.scope):
        partitions[topic].append(number)
    plan: dict[TopicPartition, tuple[int, ...]] = {}
    for topic, numbers in partitions.items():
        first = layout.replicas[TopicPartition(topic, numbers[0])]
        spec = PlacementSpec(0, len(numbers), goal.replication_factor or len(first))
        plan |= {TopicPartition(topic, n): r for n, r in zip(numbers, place(brokers, spec, random), strict=True)}
    return plan
