"""``roundrobin``: all partitions of all topics in one row, dealt out to the members in turn.

Topics go by name; static members come first, by instance id, then the others by member id. A member that does not
subscribe to the topic is passed over.
"""

from __future__ import annotations

from itertools import cycle

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup


def assign(group: ClientGroup) -> Assignment:
    """The partitions of every member."""
    assignment: Assignment = {member_id: [] for member_id in group.members}
    topics = {member_id: set(member.subscription.topics) for member_id, member in group.members.items()}
    turns = cycle(group.sorted_members())
    for partition in group.topic_partitions(sorted(group.partitions)):
        consumer = next(turns)
        while partition.topic not in topics[consumer]:
            consumer = next(turns)
        assignment[consumer].append(partition)
    return assignment
