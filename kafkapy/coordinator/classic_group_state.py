"""A classic group in the memory of its coordinator: what the log has of it, and how far its rebalance has come.

    Empty                no members; offsets may be committed by anyone
    PreparingRebalance   members are to join (again), each with the assignors that it supports
    CompletingRebalance  a generation has begun; its leader is to hand in who gets what
    Stable               everyone has an assignment

Invariant: the log has Empty and Stable states only. A coordinator that loads them goes on from there, so what was in
between is lost with it: members join again, and the generation that nobody was assigned anything in is given anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.coordinator.consumer_protocol import PROTOCOL_TYPE, decode_topics
from kafkapy.coordinator.group import ClassicGroup, ClassicMember, GroupState
from kafkapy.coordinator.group_errors import refusal
from kafkapy.coordinator.java_hash import java_hash
from kafkapy.errors import KafkaError, SchemaError

Protocols = tuple[tuple[str, bytes], ...]
"""Assignors and, for each, what the member says to it; the best first."""

_VALID_PREVIOUS_STATES = {
    GroupState.EMPTY: (GroupState.PREPARING_REBALANCE,),
    GroupState.PREPARING_REBALANCE: (GroupState.STABLE, GroupState.COMPLETING_REBALANCE, GroupState.EMPTY),
    GroupState.COMPLETING_REBALANCE: (GroupState.PREPARING_REBALANCE,),
    GroupState.STABLE: (GroupState.COMPLETING_REBALANCE,),
}
_HASH_BUCKETS = 16


class GroupMember(NamedTuple):
    """A member. ``awaiting_join`` is whether it has joined and was not told the generation yet."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    awaiting_join: bool = False

    def subscription(self, protocol: str | None) -> bytes:
        """What it says to an assignor."""
        return dict(self.protocols)[protocol or ""]

    def vote(self, candidates: set[str]) -> str:
        """The one that it likes best."""
        return next(name for name, _ in self.protocols if name in candidates)


class ClassicGroupState:
    """A group that changes. ``subscribed_topics`` is None where the coordinator cannot know."""

    def __init__(self, group: ClassicGroup) -> None:
        self.group_id = group.group_id
        self.state = group.state
        self.generation = group.generation
        self.protocol_type = group.protocol_type
        self.protocol = group.protocol
        self.leader = group.leader or next(iter(group.members), None)
        self.state_timestamp = group.state_timestamp
        self.members = {each.member_id: _loaded(each, group.protocol) for each in group.members.values()}
        self.subscribed_topics = self._compute_subscribed_topics()

    @property
    def is_consumer_group(self) -> bool:
        """Whether the members are consumers, so that their subscriptions can be read."""
        return self.protocol_type == PROTOCOL_TYPE

    def is_subscribed_to(self, topic: str) -> bool:
        """To all topics, as long as subscriptions are not known."""
        return self.is_consumer_group if self.subscribed_topics is None else topic in self.subscribed_topics

    def static_member_id(self, group_instance_id: str) -> str | None:
        """The member that has an instance id."""
        members = self.members.values()
        return next((each.member_id for each in members if each.group_instance_id == group_instance_id), None)

    def member(self, member_id: str, group_instance_id: str | None = None) -> GroupMember:
        """A member, who must not have been replaced by another with the same instance id."""
        if group_instance_id is not None:
            holder = self.static_member_id(group_instance_id)
            if holder is not None and holder != member_id:
                raise refusal("FencedInstanceIdException")
            if holder is None:
                raise refusal("UnknownMemberIdException")
        if member_id not in self.members:
            raise refusal("UnknownMemberIdException")
        return self.members[member_id]

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these could be one of the group."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type and protocols)
        candidates = self._candidates()
        return self.protocol_type == protocol_type and any(name in candidates for name, _ in protocols)

    def has_room_for(self, member_id: str, max_size: int) -> bool:
        """Whether a member may join. During a rebalance only those count that have joined."""
        if self.state is not GroupState.PREPARING_REBALANCE:
            return member_id in self.members or len(self.members) < max_size
        joined = {member.member_id for member in self.members.values() if member.awaiting_join}
        return member_id in joined or len(joined) < max_size

    def put(self, member: GroupMember, protocol_type: str) -> None:
        """A member joins, or joins again."""
        if not self.members:
            self.protocol_type = protocol_type
        self.leader = self.leader or member.member_id
        self.members[member.member_id] = member

    def replace(self, old: str, new: GroupMember) -> None:
        """A static member comes back under another id, and takes over all that it had."""
        kept = self.members.pop(old)
        self.members[new.member_id] = new._replace(assignment=kept.assignment)
        if self.leader == old:
            self.leader = new.member_id

    def remove(self, member_id: str) -> None:
        """A member goes; a leader that goes is followed by another member."""
        del self.members[member_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def elect_joined_leader(self) -> bool:
        """See that the leader is one of those that have joined; False where none has."""
        joined = [member_id for member_id, member in self.members.items() if member.awaiting_join]
        if joined and self.leader not in joined:
            self.leader = joined[0]
        return bool(joined)

    def prepare_rebalance(self, now: int) -> None:
        """Members are to join."""
        if self.state is GroupState.COMPLETING_REBALANCE:
            self.assign({}, now, self.state)
        self._to(GroupState.PREPARING_REBALANCE, now)

    def next_generation(self, now: int) -> None:
        """Whoever has joined makes up the generation, which is empty without members."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed_topics = self._compute_subscribed_topics()
        self._to(GroupState.COMPLETING_REBALANCE if self.members else GroupState.EMPTY, now)

    def assign(self, assignments: Mapping[str, bytes], now: int, state: GroupState = GroupState.STABLE) -> None:
        """Everyone gets what the leader gave, or nothing."""
        for member_id, member in self.members.items():
            self.members[member_id] = member._replace(assignment=assignments.get(member_id, b""))
        if state is not self.state:
            self._to(state, now)

    def select_protocol(self) -> str:
        """The assignor that all support and most vote for; where votes are equal, as Kafka's hash map has them."""
        candidates = self._candidates()
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(sorted(votes, key=_hash_position), key=votes.__getitem__)

    def to_group(self, assignments: Mapping[str, bytes] | None = None) -> ClassicGroup:
        """What the log shall have; with ``assignments`` in the place of those that members have."""
        members = {}
        for member_id, each in self.members.items():
            assignment = each.assignment if assignments is None else assignments.get(member_id, b"")
            subscription = each.subscription(self.protocol)
            members[member_id] = ClassicMember(*each[:6], subscription, assignment)
        return ClassicGroup(
            self.group_id,
            self.protocol_type,
            self.generation,
            self.protocol,
            self.leader,
            self.state_timestamp,
            members,
        )

    def _candidates(self) -> set[str]:
        counts = Counter(name for member in self.members.values() for name in dict(member.protocols))
        return {name for name, count in counts.items() if count == len(self.members)}

    def _compute_subscribed_topics(self) -> frozenset[str] | None:
        if not self.is_consumer_group or (self.members and self.protocol is None):
            return None
        try:
            found = (decode_topics(member.subscription(self.protocol)) for member in self.members.values())
            return frozenset(topic for topics in found for topic in topics)
        except SchemaError:
            return None

    def _to(self, target: GroupState, now: int) -> None:
        if self.state not in _VALID_PREVIOUS_STATES[target]:
            raise KafkaError(
                "IllegalStateException",
                f"Group {self.group_id} cannot become {target} while it is {self.state}",
            )
        self.state, self.state_timestamp = target, now


def _loaded(member: ClassicMember, protocol: str | None) -> GroupMember:
    """Of the assignors that a member supports the log has only the one that was chosen."""
    return GroupMember(*member[:6], ((protocol or "", member.subscription),), member.assignment)


def _hash_position(name: str) -> int:
    code = java_hash(name) & 0xFFFFFFFF
    return (code ^ code >> 16) % _HASH_BUCKETS
