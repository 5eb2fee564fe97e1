"""What members of a group say to the group's coordinator, each over a connection of its own.

A broker answers a connection's requests one after the other, and a JoinGroup only when all members have joined: so
every member has its own channel. Who coordinates is asked again when a broker says that it is not the one, or cannot be
reached. Topics go by name, so versions that know ids only are not used for offsets.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kafkapy.backends.group_member import GroupMember
from kafkapy.backends.live.client import GONE_AFTER_S, Call, Client
from kafkapy.backends.live.library.network import ConnectionLost, Pending
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

GROUP = 0  # the type of a coordinator's key
OFFSETS_BY_NAME = 9  # the last version of OffsetCommit and OffsetFetch without topic ids
MOVED = frozenset(["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"])

# what a commit is told when the group has gone on without the member
OVERTAKEN = frozenset(
    [
        "RebalanceInProgressException",
        "IllegalGenerationException",
        "UnknownMemberIdException",
        "FencedInstanceIdException",
        "StaleMemberEpochException",
        "FencedMemberEpochException",
    ]
)


class GroupChannel:
    """The coordinator of one group."""

    def __init__(self, client: Client, group_id: str) -> None:
        self._client = client
        self.group_id = group_id
        self._node: int | None = None

    def start(self, member: GroupMember, api: str, fields: Value, timeout_ms: int | None = None) -> Pending[Value]:
        """Send a member's request and go on."""
        return self._client.start(self._call(member, api, fields), timeout_ms=timeout_ms)

    def ask(self, member: GroupMember, api: str, fields: Value) -> Value:
        """A member's request and its answer, through moves of the coordinator."""

        def attempt() -> Value:
            (answer,) = self.ask_all([(member, fields)], api)
            if isinstance(answer, KafkapyError):
                raise answer
            if error_code(answer.get("errorCode", NONE)).name in MOVED and answer.get("errorCode", NONE) != NONE:
                self.forget()
                raise kafka_error(answer["errorCode"])
            return answer

        return self._client.retrying(attempt)

    def ask_all(
        self, asked: Sequence[tuple[GroupMember, Value]], api: str, timeout_ms: int | None = None
    ) -> list[Value | KafkapyError]:
        """The requests of several members at once."""
        answers = self._client.call_all([self._call(member, api, fields) for member, fields in asked], timeout_ms)
        if any(isinstance(each, ConnectionLost) for each in answers):
            self.forget()
        return answers

    def wait(self, pending: Pending[Value]) -> None:
        """Wait for the answer to what was started."""
        self._client.wait(pending)

    def forget(self) -> None:
        """Look for the coordinator anew."""
        self._node = None

    def pause(self) -> None:
        """Wait a little before trying again."""
        self._client.wait_any([], self._client.config.retry_backoff_ms)

    def offsets(self, member: GroupMember | None = None) -> dict[TopicPartition, OffsetAndMetadata]:
        """All that the group has committed; offsets that a transaction is about to replace are waited for."""
        asked: Value = {"groupId": self.group_id, "topics": None}
        if member is not None:
            asked |= {"memberId": member.member_id, "memberEpoch": member.generation}
        fields = {"groups": [asked], "requireStable": True}

        def attempt() -> dict[TopicPartition, OffsetAndMetadata]:
            call = Call("OffsetFetch", fields, self.node, OFFSETS_BY_NAME)
            (answer,) = self._client.call_all([call])
            if isinstance(answer, KafkapyError):
                self.forget()
                raise answer
            (found,) = answer["groups"]
            self._raise_for(found["errorCode"])
            return dict(self._offset(topic["name"], each) for topic in found["topics"] for each in topic["partitions"])

        found = self._client.retrying(attempt)
        return {partition: offset for partition, offset in found.items() if offset.offset >= 0}

    def commit(self, member: GroupMember, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit for a member; an error whose name is in OVERTAKEN says that it has lost its partitions."""
        topics: dict[str, list[Value]] = defaultdict(list)
        for (topic, number), offset in offsets.items():
            topics[topic].append(
                {
                    "partitionIndex": number,
                    "committedOffset": offset.offset,
                    "committedLeaderEpoch": offset.leader_epoch,
                    "committedMetadata": offset.metadata,
                }
            )
        fields = {
            "groupId": self.group_id,
            "generationIdOrMemberEpoch": member.generation,
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "topics": [{"name": name, "partitions": partitions} for name, partitions in topics.items()],
        }

        end = time.monotonic() + GONE_AFTER_S
        while not self._client.retrying(lambda: self._commit(member, fields)) and time.monotonic() < end:
            self.pause()

    def _commit(self, member: GroupMember, fields: Value) -> bool:
        """Whether all is committed; nothing is of a topic that was deleted, or of which the broker has yet to hear."""
        call = Call("OffsetCommit", fields, self.node, OFFSETS_BY_NAME, _channel(member))
        (answer,) = self._client.call_all([call])
        if isinstance(answer, KafkapyError):
            self.forget()
            raise answer
        codes = {each["errorCode"] for topic in answer["topics"] for each in topic["partitions"]}
        unknown = {code for code in codes if code != NONE and error_code(code).name == "UNKNOWN_TOPIC_OR_PARTITION"}
        for code in codes - unknown:
            self._raise_for(code)
        return not unknown

    @property
    def node(self) -> int:
        """The broker that coordinates."""
        if self._node is None:
            self._node = self._client.retrying(self._find)
        return self._node

    def _find(self) -> int:
        fields = {"keyType": GROUP, "coordinatorKeys": [self.group_id]}
        (found,) = self._client.call("FindCoordinator", fields)["coordinators"]
        raise_for(found["errorCode"], found["errorMessage"])
        node: int = found["nodeId"]
        if node not in self._client.nodes():
            raise KafkaError("CoordinatorNotAvailableException", f"broker {node}, the coordinator, is not there yet")
        return node

    def _offset(self, topic: str, found: dict[str, Any]) -> tuple[TopicPartition, OffsetAndMetadata]:
        self._raise_for(found["errorCode"])
        offset = OffsetAndMetadata(found["committedOffset"], found["committedLeaderEpoch"], found["metadata"] or "")
        return TopicPartition(topic, found["partitionIndex"]), offset

    def _raise_for(self, code: int) -> None:
        if code == NONE:
            return
        if error_code(code).name in MOVED:
            self.forget()
        if error_code(code).name == "UNSTABLE_OFFSET_COMMIT":
            raise KafkaError("CoordinatorLoadInProgressException", kafka_error(code).args[0])
        raise kafka_error(code)

    def _call(self, member: GroupMember, api: str, fields: Value) -> Call:
        return Call(api, fields, self.node, channel=_channel(member))


def _channel(member: GroupMember) -> str:
    return f"member {member.number}"
