"""Members of a classic group of a running cluster: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

All members of this process join again together whenever one has to: a rebalance is for the whole group anyway. The
coordinator makes one member the leader, maybe one of another process; only the leader divides the partitions. Whoever
has to join again is told so by a heartbeat or a commit.

In an eager group a member gives up everything before it joins again. In a cooperative one it keeps what it has, and
joins once more after it has given up what is to move.

What happens after a kill: the coordinator waits for session.timeout.ms, then gives the partitions to others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_member import NO_GENERATION, GroupMember
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.group_channel import MOVED, GroupChannel
from kafkapy.backends.live.library.network import ConnectionLost, Pending
from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.registry import client_assign, user_data
from kafkapy.coordinator.consumer_protocol import (
    PROTOCOL_TYPE,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafkapy.errors import KafkapyError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

AFTER_REBALANCE_MS = 5_000  # how much longer than the slowest member may take an answer is waited for
FORGOTTEN = frozenset(["UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"])
AGAIN = MOVED | FORGOTTEN | {"REBALANCE_IN_PROGRESS", "MEMBER_ID_REQUIRED"}


class LiveClassicMembership:
    """How the members of this process take part in a classic group."""

    def __init__(self, client: Client, options: GroupOptions) -> None:
        self.channel = GroupChannel(client, options.group_id)
        self._options = options
        self._interval_s = options.heartbeat_interval_ms / 1000
        self._last: dict[int, tuple[TopicPartition, ...]] = {}
        self._beats: dict[int, Pending[Value]] = {}
        self._heard_of: dict[int, Pending[Value]] = {}
        self._beat_at: dict[int, float] = {}

    def leave(self, members: Sequence[GroupMember]) -> None:
        """Take members out of the group; static ones stay, so that they can come back."""
        for member in members:
            if member.instance_id is None and member.member_id:
                fields = {"memberId": member.member_id, "reason": "the consumer is being closed"}
                self.channel.ask(member, "LeaveGroup", {"groupId": self.channel.group_id, "members": [fields]})

    def beat(self, members: Sequence[GroupMember]) -> str | None:
        """Tell that the members live; why they have to rebalance, None where they need not."""
        self.keep_alive(members)
        reason = None
        for member in members:
            pending = self._heard_of.pop(member.number, None)
            if pending is not None:
                reason = self._heard(member, pending) or reason
        return reason

    def keep_alive(self, members: Sequence[GroupMember]) -> None:
        """Send heartbeats; an answer that says more than that all is well is kept for ``beat``."""
        now = time.monotonic()
        for member in members:
            pending = self._beats.get(member.number)
            if pending is not None and pending.is_done:
                del self._beats[member.number]
                self._heard_of[member.number] = pending
            elif pending is None and now >= self._beat_at.get(member.number, 0.0):
                self._beat_at[member.number] = now + self._interval_s
                self._beats[member.number] = self.channel.start(member, "Heartbeat", self._beat_fields(member))

    def _beat_fields(self, member: GroupMember) -> Value:
        return {
            "groupId": self.channel.group_id,
            "generationId": member.generation,
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
        }

    def rebalance(
        self, cluster: Cluster, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Have everyone join (again), until nothing is left to move; the name and the assignor of each generation."""
        moving = True
        while moving:
            owned = {member.number: set(member.assigned) for member in members}
            generation, assignor = self._generation(cluster, members, topics)
            yield f"generation {generation}", assignor
            moving = self._options.is_cooperative and any(
                owned[member.number].difference(member.assigned) for member in members
            )

    def _generation(
        self, cluster: Cluster, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> tuple[int, str]:
        """Join and sync until both work for all members."""
        while True:
            self._beats.clear()
            self._heard_of.clear()
            joined = self._join(members, topics)
            if joined is None:
                continue
            requests = [(member, self._sync_fields(cluster, member, joined[member.number])) for member in members]
            answers = self.channel.ask_all(requests, "SyncGroup", self._timeout_ms)
            if self._are_good(members, answers):
                for member, answer in zip(members, answers, strict=True):
                    self._take(member, joined[member.number]["generationId"], answer)  # type: ignore[arg-type]
                first = joined[members[0].number]
                return first["generationId"], first["protocolName"]

    def _join(self, members: Sequence[GroupMember], topics: Mapping[str, int]) -> dict[int, Value] | None:
        """The answers to JoinGroup; None where it has to be tried again."""
        for member in members:
            if not self._options.is_cooperative:
                member.revoke()
        # ids come first: the others' requests would not be answered before a member that has none yet has joined
        new = [member for member in members if not member.member_id and member.instance_id is None]
        for part in (new, members):
            requests = [(member, self._join_fields(member, topics)) for member in part]
            answers = self.channel.ask_all(requests, "JoinGroup", self._timeout_ms)
            for member, answer in zip(part, answers, strict=True):
                if not isinstance(answer, KafkapyError) and answer["memberId"]:
                    member.member_id = answer["memberId"]
            if not self._are_good(part, answers) and not (
                part is new and all(_is(answer, "MEMBER_ID_REQUIRED") for answer in answers)
            ):
                return None
        return {member.number: answer for member, answer in zip(members, answers, strict=True)}  # type: ignore[misc]

    def _are_good(self, members: Sequence[GroupMember], answers: Sequence[Value | KafkapyError]) -> bool:
        """Whether nobody has to try again; what no other try helps against is raised."""
        good = True
        for member, answer in zip(members, answers, strict=True):
            if isinstance(answer, ConnectionLost):
                good = False
                self.channel.pause()
            elif isinstance(answer, KafkapyError):
                raise answer
            elif answer["errorCode"] != NONE:
                good = False
                name = error_code(answer["errorCode"]).name
                if name not in AGAIN:
                    raise kafka_error(answer["errorCode"])
                if name in MOVED:
                    self.channel.forget()
                    self.channel.pause()
                elif name in FORGOTTEN:
                    _reset(member)
        return good

    def _join_fields(self, member: GroupMember, topics: Mapping[str, int]) -> Value:
        options = self._options
        protocols = [{"name": name, "metadata": self._subscription(name, member, topics)} for name in options.assignors]
        return {
            "groupId": options.group_id,
            "sessionTimeoutMs": options.session_timeout_ms,
            "rebalanceTimeoutMs": options.max_poll_interval_ms,
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "protocolType": PROTOCOL_TYPE,
            "protocols": protocols,
        }

    def _subscription(self, assignor: str, member: GroupMember, topics: Mapping[str, int]) -> bytes:
        data = user_data(assignor, self._last.get(member.number), member.generation)
        return encode_subscription(
            Subscription(tuple(topics), data, member.assigned, member.generation, self._options.rack)
        )

    def _sync_fields(self, cluster: Cluster, member: GroupMember, joined: Value) -> Value:
        assignments = []
        if joined["leader"] == joined["memberId"] and not joined["skipAssignment"]:
            assignments = _divided(cluster, joined)
        return {
            "groupId": self._options.group_id,
            "generationId": joined["generationId"],
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "protocolType": PROTOCOL_TYPE,
            "protocolName": joined["protocolName"],
            "assignments": assignments,
        }

    def _take(self, member: GroupMember, generation: int, answer: Value) -> None:
        found = decode_assignment(bytes(answer["assignment"])) if answer["assignment"] else ()
        self._last[member.number] = found
        self._beat_at[member.number] = time.monotonic() + self._interval_s
        member.assign(found, generation)

    def _heard(self, member: GroupMember, pending: Pending[Value]) -> str | None:
        """What the answer to a heartbeat means."""
        try:
            code = pending.result()["errorCode"]
        except ConnectionLost:
            self.channel.forget()
            return None
        if code == NONE:
            return None
        name = error_code(code).name
        if name in MOVED:
            self.channel.forget()
            return None
        if name in FORGOTTEN:
            _reset(member)
            return f"member {member.number} was not heard from for too long"
        if name == "REBALANCE_IN_PROGRESS":
            return "the group is rebalancing"
        raise kafka_error(code)

    @property
    def _timeout_ms(self) -> int:
        return self._options.max_poll_interval_ms + AFTER_REBALANCE_MS


def _divided(cluster: Cluster, joined: Value) -> list[Value]:
    """What the leader gives to each member; topics that only others subscribe to are looked up, too."""
    subscriptions = {
        each["memberId"]: MemberSubscription(decode_subscription(bytes(each["metadata"])), each["groupInstanceId"])
        for each in joined["members"]
    }
    known = cluster.image().topics
    named = sorted({name for each in subscriptions.values() for name in each.subscription.topics})
    topics = {name: len(known[name].partitions) for name in named if name in known}
    assigned = client_assign(joined["protocolName"], topics, subscriptions)
    return [
        {"memberId": member_id, "assignment": encode_assignment(assigned.get(member_id, ()))}
        for member_id in subscriptions
    ]


def _reset(member: GroupMember) -> None:
    """The coordinator knows the member no more: it comes as a new one, with nothing."""
    member.member_id, member.generation = "", NO_GENERATION
    member.revoke()


def _is(answer: Value | KafkapyError, name: str) -> bool:
    return not isinstance(answer, KafkapyError) and error_code(answer["errorCode"]).name == name
