"""A plan in parts that are executed one after the other, each small enough in partitions and in bytes.

Invariant: the parts together are the plan, and no part is empty. A partition that alone has more bytes than a part may
have is a part of its own.
"""

from __future__ import annotations

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.plan_cost import bytes_moved


def batches(
    layout: Layout, plan: Assignment, most_partitions: int | None = None, most_bytes: int | None = None
) -> list[dict[TopicPartition, tuple[int, ...]]]:
    """The parts, in the order of topics and partitions; without a limit, the plan as one."""
    found: list[dict[TopicPartition, tuple[int, ...]]] = []
    held = 0
    for partition in sorted(plan):
        size = bytes_moved(layout, {partition: plan[partition]})
        full = most_partitions is not None and found and len(found[-1]) >= most_partitions
        heavy = most_bytes is not None and held + size > most_bytes
        if not found or full or heavy:
            found.append({})
            held = 0
        found[-1][partition] = plan[partition]
        held += size
    return found
