"""Members of a consumer group (KIP-848): the coordinator divides the partitions, and tells each member by heartbeats.

A member that shall give something up does so and says what it still owns; only then is the rest assigned to others. A
change takes several rounds of heartbeats, until a round tells nobody anything new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.group_member import CLIENT_HOST, NO_GENERATION, GroupMember
from kafkapy.backends.group_options import GroupOptions
from kafkapy.coordinator.consumer_groups import Heartbeat, HeartbeatAnswer
from kafkapy.formats.uuid import random_uuid

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator

JOIN, LEAVE, STATIC_LEAVE = 0, -1, -2
MOST_ROUNDS = 100  # two members need four


class ConsumerMembership:
    """How the members of this process take part in a consumer group."""

    def __init__(self, options: GroupOptions) -> None:
        self._options = options
        self._subscribed: dict[int, tuple[str, ...]] = {}

    def leave(self, coordinator: GroupCoordinator, members: Sequence[GroupMember]) -> None:
        """Take members out of the group; static ones may come back."""
        for member in members:
            epoch = LEAVE if member.instance_id is None else STATIC_LEAVE
            coordinator.consumer.heartbeat(self._options.group_id, self._beat(member, epoch, None))

    def rebalance(
        self, coordinator: GroupCoordinator, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Beat for everyone until nothing is left to move; the name and the assignor of what came out."""
        names = tuple(sorted(topics))
        for _ in range(MOST_ROUNDS):
            told = [self._told(coordinator, member, names) for member in members]
            if not any(told):
                break
        yield f"epoch {max(member.generation for member in members)}", self._options.remote_assignor or "uniform"

    def _told(self, coordinator: GroupCoordinator, member: GroupMember, names: tuple[str, ...]) -> bool:
        """Whether a member's heartbeat told it anything new."""
        is_new = member.generation == NO_GENERATION
        if is_new:
            member.member_id = random_uuid()
        news = names if is_new or self._subscribed.get(member.number) != names else None
        beat = self._beat(member, JOIN if is_new else member.generation, news)
        answer: HeartbeatAnswer = coordinator.consumer.heartbeat(self._options.group_id, beat)
        self._subscribed[member.number] = names
        before = member.generation, member.assigned
        assigned = member.assigned if answer.assignment is None else answer.assignment
        member.member_id = answer.member_id
        member.assign(assigned, answer.member_epoch)
        return before != (member.generation, member.assigned)

    def _beat(self, member: GroupMember, epoch: int, names: tuple[str, ...] | None) -> Heartbeat:
        options = self._options
        return Heartbeat(
            member_id=member.member_id,
            member_epoch=epoch,
            instance_id=member.instance_id,
            rack_id=options.rack,
            client_id=options.client_id,
            client_host=CLIENT_HOST,
            rebalance_timeout_ms=options.max_poll_interval_ms,
            subscribed_topic_names=names,
            subscribed_topic_regex=None,
            server_assignor=options.remote_assignor,
            owned=None if epoch < 0 else member.assigned,
        )
