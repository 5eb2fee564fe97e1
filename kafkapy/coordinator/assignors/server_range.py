"""The coordinator's ``range``: of each topic every subscriber gets one run of partitions, the first ones a longer run.

Static members come first, by instance id, then the others by member id, so topics with equal partition counts are
divided alike and partition n of each goes to the same member. Ownership so far plays no role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from kafkapy.coordinator.assignors.java_hash_map import JavaHashMap, presized, uuid_hash
from kafkapy.coordinator.assignors.server_group import Assignment, ServerGroup, static_members_first
from kafkapy.errors import KafkaError


def assign(group: ServerGroup) -> Assignment:
    """The target assignment of every member."""
    order = static_members_first(group.members)
    ranges = _ranges(group, order)
    taken = dict.fromkeys(ranges, 0)
    made: Assignment = {}
    for member_id in order:
        # with equal subscriptions Kafka looks only at the first member's: the order is the same for all
        member = group.members[order[0] if group.is_homogeneous else member_id]
        topic_count = len(member.subscribed) if group.is_homogeneous else member.subscribed_count
        mine: JavaHashMap[str, tuple[int, ...]] = JavaHashMap(uuid_hash, presized(topic_count))
        for topic_id in member.subscribed:
            found = ranges[topic_id][taken[topic_id]]
            taken[topic_id] += 1
            if found:
                mine[topic_id] = tuple(found)
        made[member_id] = dict(mine)
    return {member_id: made[member_id] for member_id in group.members}


def _ranges(group: ServerGroup, order: list[str]) -> dict[str, list[range]]:
    """The runs of each topic, in the order of its subscribers."""
    return {topic_id: _runs(group, topic_id, count) for topic_id, count in _subscribers(group, order).items()}


def _subscribers(group: ServerGroup, order: list[str]) -> Mapping[str, int]:
    """How many members have each topic; in a homogeneous group all have what the first one has, also one whose
    expression is not resolved yet."""
    if group.is_homogeneous and order:
        return dict.fromkeys(group.members[order[0]].subscribed, len(order))
    return Counter(topic_id for member_id in order for topic_id in group.members[member_id].subscribed)


def _runs(group: ServerGroup, topic_id: str, member_count: int) -> list[range]:
    if topic_id not in group.topics:
        raise KafkaError("PartitionAssignorException", "Member is subscribed to a non-existent topic")
    quota, extra = divmod(group.topics[topic_id], member_count)
    starts = [number * quota + min(number, extra) for number in range(member_count + 1)]
    return [range(start, end) for start, end in pairwise(starts)]
