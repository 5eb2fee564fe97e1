"""A group that exists nowhere: what an assignor would do to members and topics as they come and go.

Members rejoin with what real consumers would send: a sticky one its last assignment as user data, a cooperative one the
partitions that it owns. A step is one change and the rebalances it takes: one, or two where a cooperative group first
has to revoke what moves.

Real topic ids are random, and ``uniform`` takes topics in an order that depends on them; here topics have ids that keep
them in the order in which they appeared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.registry import client_assign, server_assign, user_data
from kafkapy.coordinator.assignors.server_group import ServerMember, subscribed_topic_ids
from kafkapy.coordinator.consumer_protocol import NO_GENERATION, Subscription
from kafkapy.errors import KafkapyError
from kafkapy.formats.uuid import uuid_text
from kafkapy.log.topic_partition import TopicPartition

CLASSIC = "classic"
CONSUMER = "consumer"
COOPERATIVE = "cooperative-sticky"
_FIRST_TOPIC_ID = 256
_MOST_REBALANCES = 5

Assignment = dict[str, tuple[TopicPartition, ...]]


class Rebalance(NamedTuple):
    """``moved`` has the partitions with a new owner, and the one before the step (None: none); ``revoked`` those that a
    member who is still there has to give up, and that member. Partitions of deleted topics are in neither."""

    assignment: Assignment
    moved: dict[TopicPartition, str | None]
    revoked: dict[TopicPartition, str]


class Topology(NamedTuple):
    """Racks, in the order in which members and partitions take them: partition n has its first replica on rack n, the
    next one on the next rack."""

    racks: Sequence[str] = ()
    replication_factor: int = 1

    def of_member(self, number: int) -> str | None:
        """The rack of the member that joined as this one."""
        return self.racks[number % len(self.racks)] if self.racks else None

    def of_partition(self, number: int) -> frozenset[str]:
        """The racks of a partition's replicas."""
        if not self.racks:
            return frozenset()
        return frozenset(self.racks[(number + step) % len(self.racks)] for step in range(self.replication_factor))


class SimulatedGroup:
    """``protocol`` says who divides: a member (classic), or the coordinator (consumer)."""

    def __init__(self, assignor: str, protocol: str, topics: Mapping[str, int], topology: Topology) -> None:
        self.assignor = assignor
        self.protocol = protocol
        self.topics: dict[str, int] = {}
        self.assignment: Assignment = {}
        self._topology = topology
        self._topic_ids: dict[str, str] = {}
        self._next_topic_id = _FIRST_TOPIC_ID
        self._members: dict[str, tuple[str, ...] | None] = {}
        self._racks: dict[str, str | None] = {}
        self._generations: dict[str, int] = {}
        self._generation = 0
        self._joined: list[str] = []
        for topic, count in topics.items():
            self.set_partitions(topic, count)

    @property
    def members(self) -> tuple[str, ...]:
        """Their ids, in the order in which they joined."""
        return tuple(self._members)

    @property
    def partition_count(self) -> int:
        """Of all topics."""
        return sum(self.topics.values())

    def join(self, member: str, topics: tuple[str, ...] | None = None) -> None:
        """A member comes, who subscribes to these topics or (None) to all that there will be."""
        if member in self._members:
            raise KafkapyError(f"{member} is already a member")
        self._members[member] = topics
        self._racks[member] = self._topology.of_member(len(self._racks))
        self._joined.append(member)

    def leave(self, member: str) -> None:
        """A member goes."""
        if member not in self._members:
            raise KafkapyError(f"there is no member {member} (there are {', '.join(self._members) or 'none'})")
        del self._members[member]
        self._generations.pop(member, None)

    def set_partitions(self, topic: str, count: int) -> None:
        """A topic grows or appears; with no partitions it is deleted."""
        has = self.topics.get(topic, 0)
        if 0 < count < has:
            raise KafkapyError(f"{topic} has {has} partitions, and a topic cannot lose partitions; 0 deletes it")
        if count == 0:
            self.topics.pop(topic, None)
            self._topic_ids.pop(topic, None)
            return
        self.topics[topic] = count
        if topic not in self._topic_ids:
            self._topic_ids[topic] = uuid_text(self._next_topic_id.to_bytes(16))
            self._next_topic_id += 1

    def rebalance(self) -> list[Rebalance]:
        """All rebalances that the changes since the last call take."""
        start = self._owners()
        made = [self._once(start)]
        while self._has_pending() and len(made) < _MOST_REBALANCES:
            made.append(self._once(start))
        self._joined.clear()
        return made

    def _once(self, start: Mapping[TopicPartition, str]) -> Rebalance:
        before = self._owners()
        if self._members:
            self.assignment = self._by_server() if self.protocol == CONSUMER else self._by_client()
        else:
            self.assignment = {}
        after = self._owners()
        moved = {each: start.get(each) for each, owner in after.items() if before.get(each) != owner}
        lost = {each: owner for each, owner in before.items() if after.get(each) != owner and each.topic in self.topics}
        revoked = {each: owner for each, owner in lost.items() if owner in self._members}
        return Rebalance(self.assignment, moved, revoked)

    def _owners(self) -> dict[TopicPartition, str]:
        return {each: member for member, found in self.assignment.items() for each in found}

    def _has_pending(self) -> bool:
        """Whether a partition waits for its new owner until the next rebalance."""
        if self.assignor != COOPERATIVE:
            return False
        wanted = {topic for member in self._members for topic in self._subscribed(member) if topic in self.topics}
        return sum(self.topics[topic] for topic in wanted) > len(self._owners())

    def _subscribed(self, member: str) -> tuple[str, ...]:
        topics = self._members[member]
        return tuple(sorted(self.topics if topics is None else topics))

    def _by_client(self) -> Assignment:
        members = {member: MemberSubscription(self._subscription(member)) for member in self._members}
        racks = {
            TopicPartition(topic, number): self._topology.of_partition(number)
            for topic, count in self.topics.items()
            for number in range(count)
        }
        self._generation += 1
        assigned = client_assign(self.assignor, self.topics, members, racks)
        self._generations = dict.fromkeys(self._members, self._generation)
        return {member: tuple(sorted(assigned[member])) for member in self._members}

    def _subscription(self, member: str) -> Subscription:
        generation = self._generations.get(member, NO_GENERATION)
        last = self.assignment.get(member)
        owned = (last or ()) if self.assignor == COOPERATIVE else ()
        data = user_data(self.assignor, last, generation)
        return Subscription(self._subscribed(member), data, owned, generation, self._racks[member])

    def _by_server(self) -> Assignment:
        names = {topic_id: topic for topic, topic_id in self._topic_ids.items()}
        counts = {topic_id: self.topics[topic] for topic_id, topic in names.items()}
        members = {member: self._server_member(member) for member in self._members}
        joining = self._joined[0] if len(self._joined) == 1 else None
        assigned = server_assign(self.assignor, counts, members, joining)
        return {
            member: tuple(
                sorted(
                    TopicPartition(names[each], number) for each, found in assigned[member].items() for number in found
                )
            )
            for member in self._members
        }

    def _server_member(self, member: str) -> ServerMember:
        current: dict[str, list[int]] = {}
        for topic, number in self.assignment.get(member, ()):
            if topic in self._topic_ids:
                current.setdefault(self._topic_ids[topic], []).append(number)
        subscribed = self._subscribed(member)
        return ServerMember(subscribed_topic_ids(subscribed, self._topic_ids), None, current, len(subscribed))
