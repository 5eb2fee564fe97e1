"""Members of a consumer group (KIP-848) of a running cluster: the coordinator divides, heartbeats tell.

A member makes its own id. Its first heartbeat joins; each answer may have a new assignment. What is missing in it is
given up, after a commit, and the next heartbeat says what the member owns now; only then do others get the rest. The
coordinator says how often it wants to hear.

What happens after a kill: the coordinator waits for its group's session timeout, then gives the partitions to others.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.consumer_membership import JOIN, LEAVE, MOST_ROUNDS, STATIC_LEAVE
from kafkapy.backends.group_member import NO_GENERATION, GroupMember
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.group_channel import MOVED, GroupChannel
from kafkapy.backends.live.library.network import ConnectionLost, Pending
from kafkapy.errors import KafkapyError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.topic_partition import TopicPartition

FENCED = frozenset(["UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"])
Partitions = tuple[TopicPartition, ...]


class LiveConsumerMembership:
    """How the members of this process take part in a consumer group."""

    def __init__(self, client: Client, options: GroupOptions, forget_metadata: Callable[[], object]) -> None:
        self.channel = GroupChannel(client, options.group_id)
        self._options = options
        self._forget_metadata = forget_metadata
        self._names: tuple[str, ...] = ()
        self._told: dict[int, Partitions | None] = {}
        self._targets: dict[int, list[Value]] = {}
        self._subscribed: dict[int, tuple[str, ...]] = {}
        self._beats: dict[int, Pending[Value]] = {}
        self._refused: dict[int, Value | KafkapyError] = {}
        self._beat_at: dict[int, float] = {}
        self._topics: Mapping[str, str] = {}
        self._ids: dict[str, str] = {}

    def leave(self, members: Sequence[GroupMember]) -> None:
        """Take members out of the group; static ones may come back."""
        for member in members:
            epoch = LEAVE if member.instance_id is None else STATIC_LEAVE
            fields = {
                "groupId": self.channel.group_id,
                "memberId": member.member_id,
                "memberEpoch": epoch,
                "instanceId": member.instance_id,
            }
            self.channel.ask(member, "ConsumerGroupHeartbeat", fields)

    def beat(self, members: Sequence[GroupMember]) -> str | None:
        """Tell that the members live; why they have to take another assignment, None where they need not."""
        self.keep_alive(members)
        for member in members:
            refused = self._refused.pop(member.number, None)
            if refused is not None:
                self._heard(member, refused)
        return "the group is rebalancing" if any(self._has_news(member) for member in members) else None

    def keep_alive(self, members: Sequence[GroupMember]) -> None:
        """Send heartbeats and note the answers; what a refusal means is left to ``beat``."""
        now = time.monotonic()
        for member in members:
            pending = self._beats.get(member.number)
            if pending is not None and pending.is_done:
                del self._beats[member.number]
                answer = _result(pending)
                if isinstance(answer, KafkapyError) or answer["errorCode"] != NONE:
                    self._refused[member.number] = answer
                else:
                    self._heard(member, answer)
            elif pending is None and now >= self._beat_at.get(member.number, 0.0):
                self._beats[member.number] = self.channel.start(member, "ConsumerGroupHeartbeat", self._fields(member))

    def rebalance(
        self, cluster: Cluster, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Take new assignments and tell so, until nobody hears anything new; the epoch that came out."""
        self._learn_topics(cluster)
        self._names = tuple(sorted(topics))
        for _ in range(MOST_ROUNDS):
            self._finish_beats(members)
            for member in members:
                self._take(member)
            beats = [(member, self._fields(member)) for member in members]
            answers = self.channel.ask_all(beats, "ConsumerGroupHeartbeat")
            for member, answer in zip(members, answers, strict=True):
                self._heard(member, answer)
            if not any(self._has_news(member) or self._is_behind(member) for member in members):
                break
        yield f"epoch {max(member.generation for member in members)}", self._options.remote_assignor or "uniform"

    def _learn_topics(self, cluster: Cluster) -> None:
        """Names and ids; where there is an assignment of topics that are not known, as they are now."""
        if any(self._unknown(target) for target in self._targets.values()):
            self._forget_metadata()
            self.channel.pause()
        self._ids = {name: topic.id for name, topic in cluster.image().topics.items()}
        self._topics = {topic_id: name for name, topic_id in self._ids.items()}

    def _unknown(self, target: list[Value]) -> bool:
        return any(topic["topicId"] not in self._topics for topic in target)

    def _finish_beats(self, members: Sequence[GroupMember]) -> None:
        """Hear what is under way to the end: an assignment is told only once."""
        for member in members:
            pending = self._beats.pop(member.number, None)
            if pending is not None:
                self.channel.wait(pending)
                self._heard(member, _result(pending))

    def _is_behind(self, member: GroupMember) -> bool:
        """Whether the coordinator does not know what the member has, or wants."""
        is_new = member.generation == NO_GENERATION
        return is_new or self._told.get(member.number) != member.assigned or not self._is_subscribed(member)

    def _is_subscribed(self, member: GroupMember) -> bool:
        return self._subscribed.get(member.number) == self._names

    def _has_news(self, member: GroupMember) -> bool:
        target = self._targets.get(member.number)
        if member.generation == NO_GENERATION:
            return True
        return target is not None and (self._unknown(target) or self._partitions(target) != member.assigned)

    def _take(self, member: GroupMember) -> None:
        """What is not known here yet is taken when the metadata tells of it."""
        target = self._targets.get(member.number)
        if target is not None:
            member.assign(self._partitions(target), member.generation)
            if not self._unknown(target):
                del self._targets[member.number]

    def _fields(self, member: GroupMember) -> Value:
        """A heartbeat: all about a member that joins, of others what has changed."""
        is_new = member.generation == NO_GENERATION
        if is_new:
            member.member_id = member.member_id or random_uuid()
            member.revoke()
        fields: Value = {
            "groupId": self.channel.group_id,
            "memberId": member.member_id,
            "memberEpoch": JOIN if is_new else member.generation,
            "instanceId": member.instance_id,
        }
        if is_new or not self._is_subscribed(member):
            fields |= {
                "rackId": self._options.rack,
                "rebalanceTimeoutMs": self._options.max_poll_interval_ms,
                "subscribedTopicNames": list(self._names),
                "serverAssignor": self._options.remote_assignor,
            }
        if is_new or self._told.get(member.number) != member.assigned:
            fields["topicPartitions"] = self._owned(member)
            self._told[member.number] = member.assigned
        self._subscribed[member.number] = self._names
        return fields

    def _owned(self, member: GroupMember) -> list[Value]:
        topics: dict[str, list[int]] = defaultdict(list)
        for topic, number in member.assigned:
            topics[self._ids[topic]].append(number)
        return [{"topicId": topic_id, "partitions": numbers} for topic_id, numbers in topics.items()]

    def _heard(self, member: GroupMember, answer: Value | KafkapyError) -> None:
        """Take note of what the coordinator answered."""
        self._beat_at[member.number] = time.monotonic()
        if isinstance(answer, KafkapyError):
            if not isinstance(answer, ConnectionLost):
                raise answer
            self._forget(member)
            self.channel.forget()
            self.channel.pause()
            return
        code = answer["errorCode"]
        name = error_code(code).name if code != NONE else ""
        if name in MOVED:
            self._forget(member)
            self.channel.forget()
            self.channel.pause()
        elif name in FENCED:
            self._forget(member)
            member.generation = NO_GENERATION
            member.revoke()
        elif code != NONE:
            raise kafka_error(code, answer["errorMessage"])
        else:
            self._beat_at[member.number] += answer["heartbeatIntervalMs"] / 1000
            member.member_id = answer["memberId"] or member.member_id
            member.generation = answer["memberEpoch"]
            if answer["assignment"] is not None:
                self._targets[member.number] = answer["assignment"]["topicPartitions"]

    def _forget(self, member: GroupMember) -> None:
        """What was told last may not have been heard: tell it again."""
        self._told[member.number] = None
        self._subscribed.pop(member.number, None)

    def _partitions(self, target: list[Value]) -> Partitions:
        return tuple(
            sorted(
                TopicPartition(self._topics[topic["topicId"]], number)
                for topic in target
                if topic["topicId"] in self._topics
                for number in topic["partitions"]
            )
        )


def _result(pending: Pending[Value]) -> Value | KafkapyError:
    try:
        return pending.result()
    except KafkapyError as error:
        return error
