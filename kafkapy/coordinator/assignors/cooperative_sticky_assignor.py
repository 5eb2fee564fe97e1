"""``cooperative-sticky``: divides as ``sticky``, but members keep their partitions while the group rebalances.

A partition that is to go from one member to another is given to nobody at first. Its owner sees that it lost it,
revokes it and joins again, and in that second rebalance it goes to its new owner. So only what moves stops being read.

Members own partitions when they join, and say so in their subscription with the generation; clients that are too old
to tell the generation there put it into the user data: one int32.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from kafkapy.coordinator.assignors.client_group import Assignment, ClientGroup
from kafkapy.coordinator.assignors.previous_owners import DEFAULT_GENERATION, MemberData
from kafkapy.coordinator.assignors.sticky_assignor import divide
from kafkapy.coordinator.consumer_protocol import Subscription
from kafkapy.log.topic_partition import TopicPartition

_GENERATION = Struct(">i")


def assign(group: ClientGroup) -> Assignment:
    """The partitions of every member, without those that someone else has yet to revoke."""
    assignment, transferring = divide(group, member_data)
    if transferring is None:
        transferring = _transferring(group, assignment)
    for partition, consumer in transferring.items():
        assignment[consumer].remove(partition)
    return assignment


def member_data(subscription: Subscription) -> MemberData:
    """What the member says that it owns."""
    generation: int | None = subscription.generation_id
    if subscription.generation_id < 0:
        data = subscription.user_data
        generation = None
        if data is not None:
            generation = _GENERATION.unpack_from(data)[0] if len(data) >= _GENERATION.size else DEFAULT_GENERATION
    return MemberData(subscription.owned_partitions, generation)


def user_data(assignment: Iterable[TopicPartition] | None, generation: int) -> bytes:
    """The generation alone: what a member owns stands in its subscription."""
    return _GENERATION.pack(generation)


def _transferring(group: ClientGroup, assignment: Assignment) -> dict[TopicPartition, str]:
    added: dict[TopicPartition, str] = {}
    revoked: set[TopicPartition] = set()
    for member_id, found in assignment.items():
        owned = group.members[member_id].subscription.owned_partitions
        added.update(dict.fromkeys(set(found).difference(owned), member_id))
        revoked.update(set(owned).difference(found))
    return {partition: member_id for partition, member_id in added.items() if partition in revoked}
