"""What is told of a group, whatever its type: the answer to DescribeGroups and ConsumerGroupDescribe."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.log.topic_partition import TopicPartition


class GroupListing(NamedTuple):
    """A line of a list of groups. A group without a protocol only ever committed offsets."""

    group_id: str
    type: GroupType
    protocol: str
    state: GroupState

    @property
    def is_simple(self) -> bool:
        """Whether it never had members."""
        return self.type is GroupType.CLASSIC and not self.protocol


class MemberDescription(NamedTuple):
    """A member. Epochs and the target are None where its protocol has none (classic); ``is_upgraded`` tells of a
    member of a consumer group whether it speaks the new protocol."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...]
    target_assignment: tuple[TopicPartition, ...] | None = None
    member_epoch: int | None = None
    is_upgraded: bool | None = None


class GroupDescription(NamedTuple):
    """A group. ``coordinator`` is the leader of its partition of ``__consumer_offsets``, -1 for none. A classic group
    has a ``generation`` instead of epochs, which only files tell."""

    group_id: str
    type: GroupType
    state: GroupState
    protocol: str
    partition_assignor: str
    coordinator: int
    members: tuple[MemberDescription, ...] = ()
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None
    generation: int | None = None
