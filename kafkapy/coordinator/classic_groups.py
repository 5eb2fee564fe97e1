"""The classic protocol of groups: members join, one of them divides the partitions, all get their part.

A rebalance is ``join`` of every member, ``complete_join``, which begins a generation and tells the leader who is in it,
and ``sync`` with what the leader decided. A coordinator in a broker waits between these for members elsewhere; here
they all live in the calling process, which says when the waiting is over.

The first join of a group writes an empty one into the log, each ``sync`` a record with everyone in it, and so does the
end of the last member. Killed in between, the log has the generation before, as after the failover of a coordinator.
Its members belong to a process that is no more: ``evict`` does what the end of their sessions does.

The log is the truth: a group that someone else has deleted or taken over is read from it anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kafkapy.coordinator.broker_config import broker_config
from kafkapy.coordinator.classic_group_state import ClassicGroupState, GroupMember, Protocols
from kafkapy.coordinator.consumer_protocol import PROTOCOL_TYPE
from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
from kafkapy.coordinator.group import ClassicGroup, Group, GroupState, GroupType
from kafkapy.coordinator.group_errors import refusal
from kafkapy.coordinator.group_metadata_records import group_metadata_record, group_tombstones
from kafkapy.coordinator.group_store import GroupStore

UNKNOWN_MEMBER_ID = ""


class JoinRequest(NamedTuple):
    """``member_id`` is empty for a member that is new."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str = PROTOCOL_TYPE
    protocols: Protocols = ()


class Joined(NamedTuple):
    """What a member is told. ``members``, their subscriptions by id, is for the leader alone. ``skip_assignment`` tells
    a leader that came back that the assignment of the generation holds."""

    member_id: str
    generation: int
    protocol: str
    leader: str
    members: dict[str, bytes]
    skip_assignment: bool = False


class ClassicGroups:
    """The classic groups of a cluster, as their coordinator."""

    def __init__(self, cluster: CoordinatorCluster, store: GroupStore) -> None:
        self._cluster = cluster
        self._store = store
        # what the log had when it was last looked at, and what became of it
        self._live: dict[str, tuple[ClassicGroup, ClassicGroupState]] = {}

    def find(self, group_id: str) -> ClassicGroupState | None:
        """A classic group as it stands; None where there is none, or one of another type."""
        logged = self._store.group(group_id)
        if not isinstance(logged, ClassicGroup):
            self._live.pop(group_id, None)
            return None
        if group_id not in self._live or self._live[group_id][0] != logged:
            self._live[group_id] = logged, ClassicGroupState(logged)
        return self._live[group_id][1]

    def state(self, group_id: str) -> GroupState:
        """Dead, for a group that is not there."""
        group = self.find(group_id)
        return GroupState.DEAD if group is None else group.state

    def join(self, group_id: str, request: JoinRequest) -> str:
        """The id of the member, which is in the generation that ``complete_join`` begins."""
        self._check_request(group_id, request)
        group = self._find_or_create(group_id, request)
        if not group.supports(request.protocol_type, request.protocols):
            raise refusal("InconsistentGroupProtocolException")
        if request.member_id != UNKNOWN_MEMBER_ID:
            self._rejoin(group, request)
            return request.member_id
        member = _new_member(request)
        replaced = None if request.group_instance_id is None else group.static_member_id(request.group_instance_id)
        if replaced is not None:
            self._replace(group, replaced, member)
        else:
            group.put(member, request.protocol_type)
            self._prepare_rebalance(group)
        return member.member_id

    def complete_join(self, group_id: str) -> dict[str, Joined]:
        """What each member that has joined is told. Dynamic members that have not are out of the group; where nobody
        has joined, the group goes on waiting."""
        group = self._known(group_id)
        is_rebalance = group.state is GroupState.PREPARING_REBALANCE
        if is_rebalance:
            for member in list(group.members.values()):
                if not member.awaiting_join and member.group_instance_id is None:
                    group.remove(member.member_id)
            if not group.members:
                self._become_empty(group)
            elif not group.elect_joined_leader():
                return {}
            else:
                group.next_generation(self._cluster.now)
        joined = [member for member in group.members.values() if member.awaiting_join]
        for member in joined:
            group.members[member.member_id] = member._replace(awaiting_join=False)
        return {member.member_id: _joined(group, member.member_id, is_rebalance) for member in joined}

    def sync(self, group_id: str, generation: int, assignments: Mapping[str, bytes]) -> None:
        """The leader's: write who gets what. In a stable group everyone has its part already."""
        group = self._synced(group_id, generation)
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._write(group, group.to_group(assignments))
            group.assign(assignments, self._cluster.now)

    def assignment(self, group_id: str, member_id: str, generation: int) -> bytes:
        """What a member gets, once the leader has said so."""
        group = self._synced(group_id, generation)
        member = group.member(member_id)
        if group.state is not GroupState.STABLE:
            raise refusal("RebalanceInProgressException")
        return member.assignment

    def heartbeat(self, group_id: str, member_id: str, generation: int) -> bool:
        """Whether the member is to join again."""
        group = self._known(group_id)
        group.member(member_id)
        if generation != group.generation:
            raise refusal("IllegalGenerationException")
        return group.state is GroupState.PREPARING_REBALANCE

    def leave(self, group_id: str, *member_ids: str) -> None:
        """Members that close. A static one stays, since it may come back: its client does not say that it leaves."""
        group = self._known(group_id)
        left = [each for each in member_ids if each in group.members and group.members[each].group_instance_id is None]
        self._remove(group, left)
        if not all(each in left or each in group.members for each in member_ids):
            raise refusal("UnknownMemberIdException")

    def evict(self, group_id: str, keep: Collection[str]) -> list[str]:
        """Members whose session is over: all but ``keep``, static ones too."""
        group = self.find(group_id)
        gone = [] if group is None else sorted(set(group.members).difference(keep))
        if group is not None:
            self._remove(group, gone)
        return gone

    def _check_request(self, group_id: str, request: JoinRequest) -> None:
        if not group_id:
            raise refusal("InvalidGroupIdException")
        least, most = self._config("group.min.session.timeout.ms"), self._config("group.max.session.timeout.ms")
        if not least <= request.session_timeout_ms <= most:
            raise refusal("InvalidSessionTimeoutException")

    def _find_or_create(self, group_id: str, request: JoinRequest) -> ClassicGroupState:
        group = self.find(group_id)
        if group is not None:
            if not group.has_room_for(request.member_id, self._config("group.max.size")):
                raise refusal("GroupMaxSizeReachedException")
            return group
        other = self._store.group(group_id)
        if other is not None and (other.type is GroupType.SHARE or other.members):
            raise refusal("InconsistentGroupProtocolException")
        if request.member_id != UNKNOWN_MEMBER_ID:
            raise refusal("UnknownMemberIdException")
        return self._create(group_id, other, request)

    def _create(self, group_id: str, other: Group | None, request: JoinRequest) -> ClassicGroupState:
        """A group as nobody has joined it yet, in the place of an empty one of another type."""
        if not (request.protocol_type and request.protocols):
            raise refusal("InconsistentGroupProtocolException")
        created = ClassicGroup(group_id, state_timestamp=self._cluster.now)
        before = [] if other is None else group_tombstones(other)
        self._store.append(group_id, [*before, group_metadata_record(created)])
        return self._known(group_id)

    def _rejoin(self, group: ClassicGroupState, request: JoinRequest) -> None:
        member = group.member(request.member_id, request.group_instance_id)
        updated = member._replace(
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocols=request.protocols,
            awaiting_join=True,
        )
        is_changed = member.protocols != request.protocols
        # a leader joins again when it sees that the topics have changed
        is_leader = group.state is GroupState.STABLE and group.leader == member.member_id
        if is_changed or is_leader or group.state is GroupState.PREPARING_REBALANCE:
            group.put(updated, request.protocol_type)
            self._prepare_rebalance(group)
        else:
            group.members[member.member_id] = member._replace(awaiting_join=True)

    def _replace(self, group: ClassicGroupState, old: str, member: GroupMember) -> None:
        """A static member that comes back to a stable group gets what it had, without a rebalance, if the group would
        still divide the partitions in the same way."""
        group.replace(old, member)
        if group.state is GroupState.STABLE and group.select_protocol() == group.protocol:
            self._write(group, group.to_group())
        else:
            self._prepare_rebalance(group)

    def _remove(self, group: ClassicGroupState, member_ids: Collection[str]) -> None:
        for member_id in member_ids:
            group.remove(member_id)
        if not member_ids:
            return
        self._prepare_rebalance(group)
        if not group.members:
            self._become_empty(group)

    def _prepare_rebalance(self, group: ClassicGroupState) -> None:
        if group.state is not GroupState.PREPARING_REBALANCE:
            group.prepare_rebalance(self._cluster.now)

    def _become_empty(self, group: ClassicGroupState) -> None:
        group.next_generation(self._cluster.now)
        self._write(group, group.to_group())

    def _write(self, group: ClassicGroupState, state: ClassicGroup) -> None:
        """Make ``state`` what the log has. Where that fails, the log is what the group goes on from."""
        del self._live[group.group_id]
        self._store.append(group.group_id, [group_metadata_record(state)])
        logged = self._store.group(group.group_id)
        assert isinstance(logged, ClassicGroup)
        self._live[group.group_id] = logged, group

    def _known(self, group_id: str) -> ClassicGroupState:
        group = self.find(group_id)
        if group is None:
            raise refusal("UnknownMemberIdException")
        return group

    def _synced(self, group_id: str, generation: int) -> ClassicGroupState:
        group = self._known(group_id)
        if not group.members:
            raise refusal("UnknownMemberIdException")
        if generation != group.generation:
            raise refusal("IllegalGenerationException")
        if group.state is GroupState.PREPARING_REBALANCE:
            raise refusal("RebalanceInProgressException")
        return group

    def _config(self, name: str) -> int:
        return broker_config(self._cluster.image(), name)


def _new_member(request: JoinRequest) -> GroupMember:
    from uuid import uuid4

    prefix = request.client_id if request.group_instance_id is None else request.group_instance_id
    return GroupMember(
        f"{prefix}-{uuid4()}",
        request.group_instance_id,
        request.client_id,
        request.client_host,
        request.rebalance_timeout_ms,
        request.session_timeout_ms,
        request.protocols,
        awaiting_join=True,
    )


def _joined(group: ClassicGroupState, member_id: str, is_rebalance: bool) -> Joined:
    is_leader = group.leader == member_id
    members = (
        {each.member_id: each.subscription(group.protocol) for each in group.members.values()} if is_leader else {}
    )
    return Joined(
        member_id,
        group.generation,
        group.protocol or "",
        group.leader or "",
        members,
        is_leader and not is_rebalance and group.state is GroupState.STABLE,
    )
