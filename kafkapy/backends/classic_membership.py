"""Members of a classic group: they join, the leader's assignor divides the partitions, everyone gets its part.

In an eager group everyone gives up everything before it joins again. In a cooperative one (only cooperative-sticky is
configured) members keep what they have, and what is to move is given up in one generation and assigned in the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.group_member import CLIENT_HOST, GroupMember
from kafkapy.backends.group_options import GroupOptions
from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.registry import client_assign, user_data
from kafkapy.coordinator.classic_groups import ClassicGroups, Joined, JoinRequest
from kafkapy.coordinator.consumer_protocol import (
    PROTOCOL_TYPE,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafkapy.coordinator.group import GroupState
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator

Generation = tuple[str, str]


class ClassicMembership:
    """How the members of this process take part in a classic group."""

    def __init__(self, options: GroupOptions) -> None:
        self._options = options
        self._last: dict[int, tuple[TopicPartition, ...]] = {}

    def leave(self, coordinator: GroupCoordinator, members: Sequence[GroupMember]) -> None:
        """Take members out of the group."""
        coordinator.classic.leave(self._options.group_id, *(member.member_id for member in members))

    def rebalance(
        self, coordinator: GroupCoordinator, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[Generation]:
        """Have everyone join (again), until nothing is left to move; the name and the assignor of each generation."""
        classic, moving = coordinator.classic, True
        while moving:
            owned = {member.number: set(member.assigned) for member in members}
            joined = self._join(classic, members, topics)
            is_new = self._sync(classic, joined, topics)
            for member in members:
                self._take(classic, member, joined[0].generation)
            yield f"generation {joined[0].generation}", joined[0].protocol
            if self._options.is_cooperative:
                moving = any(owned[member.number].difference(member.assigned) for member in members)
            else:
                moving = not is_new and not _is_complete(members, topics)

    def _take(self, classic: ClassicGroups, member: GroupMember, generation: int) -> None:
        found = decode_assignment(classic.assignment(self._options.group_id, member.member_id, generation))
        self._last[member.number] = found
        member.assign(found, generation)

    def _join(self, classic: ClassicGroups, members: Sequence[GroupMember], topics: Mapping[str, int]) -> list[Joined]:
        group_id, options = self._options.group_id, self._options
        for member in members:
            if not options.is_cooperative:
                member.revoke()
            request = JoinRequest(
                member.member_id,
                member.instance_id,
                options.client_id,
                CLIENT_HOST,
                options.session_timeout_ms,
                options.max_poll_interval_ms,
                PROTOCOL_TYPE,
                tuple((name, self._subscription(name, member, topics)) for name in options.assignors),
            )
            member.member_id = classic.join(group_id, request)
        return list(classic.complete_join(group_id).values())

    def _subscription(self, assignor: str, member: GroupMember, topics: Mapping[str, int]) -> bytes:
        data = user_data(assignor, self._last.get(member.number), member.generation)
        return encode_subscription(
            Subscription(tuple(topics), data, member.assigned, member.generation, self._options.rack)
        )

    def _sync(self, classic: ClassicGroups, joined: Sequence[Joined], topics: Mapping[str, int]) -> bool:
        """Divide the partitions; False where a static member came back to a group whose division holds."""
        group_id = self._options.group_id
        group, leader = classic.find(group_id), next((each for each in joined if each.members), None)
        if group is None or leader is None or group.state is not GroupState.COMPLETING_REBALANCE:
            return False
        subscriptions = {
            member_id: MemberSubscription(decode_subscription(data), group.members[member_id].group_instance_id)
            for member_id, data in leader.members.items()
        }
        assigned = client_assign(leader.protocol, topics, subscriptions)
        encoded = {member_id: encode_assignment(assigned.get(member_id, ())) for member_id in subscriptions}
        classic.sync(group_id, leader.generation, encoded)
        return True


def _is_complete(members: Sequence[GroupMember], topics: Mapping[str, int]) -> bool:
    """Whether every partition is somebody's."""
    return sum(topics.values()) == sum(len(member.assigned) for member in members)
