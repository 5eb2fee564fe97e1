"""A member of a consumer group: what it asked for, what it has, and what it still has to give back.

Its record of type 5 has the first, its record of type 8 the rest; a member of whom a coordinator has only one of the
two is a member as well. Partitions are kept with the epoch in which the member got them, so that a commit of an older
epoch can be told from one of an older owner.

    STABLE                 the member has what it shall have, in the epoch of the target assignment
    UNREVOKED_PARTITIONS   it has to give partitions back before it may go on to the next epoch
    UNRELEASED_PARTITIONS  it is in the newest epoch and waits for partitions that others have not given back
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from kafkapy.coordinator.group import ModernMember
from kafkapy.formats.message import Value

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2

PartitionEpochs = Mapping[str, Mapping[int, int]]
"""Topic id -> partition -> the member's epoch when it got the partition."""


class MemberState(IntEnum):
    """Kafka's numbers; UNKNOWN is any that a newer Kafka may have written."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


class ConsumerGroupMember(NamedTuple):
    """A member; made new, it has not joined yet. ``classic`` is what a member tells that speaks the classic protocol
    in a consumer group."""

    member_id: str
    member_epoch: int = JOIN_EPOCH
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = ""
    server_assignor: str | None = None
    assigned: PartitionEpochs = {}  # noqa: RUF012 (never changed in place)
    pending_revocation: PartitionEpochs = {}  # noqa: RUF012 (never changed in place)
    classic: Value | None = None

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has all that the target assignment of that epoch gives it."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def to_epoch(self, epoch: int) -> ConsumerGroupMember:
        """The member goes on to an epoch, also where that is the one it is in."""
        return self._replace(member_epoch=epoch, previous_member_epoch=self.member_epoch)

    def assignment_epoch(self, topic_id: str, partition: int) -> int | None:
        """When it got a partition that it has, or has to give back; None for one that is not its."""
        epoch = self.assigned.get(topic_id, {}).get(partition)
        return self.pending_revocation.get(topic_id, {}).get(partition) if epoch is None else epoch


def member_of(stored: ModernMember) -> ConsumerGroupMember:
    """The member that its records tell of."""
    asked, current = stored.metadata, stored.current
    member = ConsumerGroupMember(stored.member_id)
    if asked is not None:
        member = member._replace(
            instance_id=asked["instanceId"],
            rack_id=asked["rackId"],
            rebalance_timeout_ms=asked["rebalanceTimeoutMs"],
            client_id=asked["clientId"],
            client_host=asked["clientHost"],
            subscribed_topic_names=frozenset(asked["subscribedTopicNames"]),
            subscribed_topic_regex=asked["subscribedTopicRegex"],
            server_assignor=asked["serverAssignor"],
            classic=asked["classicMemberMetadata"],
        )
    if current is None:
        return member
    return member._replace(
        member_epoch=current["memberEpoch"],
        previous_member_epoch=current["previousMemberEpoch"],
        state=_state(current["state"]),
        assigned=_epochs(current["assignedPartitions"], current["memberEpoch"]),
        pending_revocation=_epochs(current["partitionsPendingRevocation"], current["memberEpoch"]),
    )


def _state(number: int) -> MemberState:
    return next((state for state in MemberState if state == number), MemberState.UNKNOWN)


def _epochs(topics: list[dict[str, Any]], member_epoch: int) -> dict[str, dict[int, int]]:
    """Before Kafka 4.3 no epochs were written; the member's own stands in, and 0 for that of one who left."""
    found = {}
    for topic in topics:
        partitions, epochs = topic["partitions"], topic["assignmentEpochs"]
        if epochs is None or len(epochs) != len(partitions):
            epochs = [max(member_epoch, 0)] * len(partitions)
        found[topic["topicId"]] = dict(zip(partitions, epochs, strict=True))
    return found
