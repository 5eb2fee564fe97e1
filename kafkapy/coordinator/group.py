"""A group as its records in ``__consumer_offsets`` tell it: what a coordinator knows right after it has loaded them.

    classic                  one GroupMetadata record has all: generation, leader, members, their assignments as bytes
    consumer, share, streams a record each for the group, for its target assignment and, of every member, for what it
                             asked for, what it shall have and what it has

A group that committed offsets and never had members is a classic one without a protocol type.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kafkapy.formats.message import Value

INITIAL_EPOCH = 1
"""The epoch of a modern group before a record names one."""


class GroupType(StrEnum):
    """Kafka's names."""

    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    SHARE = "Share"
    STREAMS = "Streams"
    UNKNOWN = "Unknown"

    @classmethod
    def parse(cls, name: str) -> GroupType:
        """A type that a broker names, in any case; UNKNOWN where it is a newer one's. A broker that names none knows
        classic groups only."""
        try:
            return cls(name.capitalize() or cls.CLASSIC)
        except ValueError:
            return cls.UNKNOWN


class GroupState(StrEnum):
    """Kafka's names. Which of them a group can be in depends on its type."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    NOT_READY = "NotReady"
    UNKNOWN = "Unknown"

    @classmethod
    def parse(cls, name: str) -> GroupState:
        """A state that a broker names; UNKNOWN where it is a newer one's, or none."""
        try:
            return cls(name)
        except ValueError:
            return cls.UNKNOWN


class ClassicMember(NamedTuple):
    """``subscription`` and ``assignment`` are bytes that only the group's clients understand."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class ClassicGroup(NamedTuple):
    """A group whose members divide the partitions among themselves. ``protocol`` is the assignor they agreed on."""

    group_id: str
    protocol_type: str = ""
    generation: int = 0
    protocol: str | None = None
    leader: str | None = None
    state_timestamp: int = -1
    members: dict[str, ClassicMember] = {}  # noqa: RUF012 (never changed in place)

    @property
    def type(self) -> GroupType:
        """Always the same."""
        return GroupType.CLASSIC

    @property
    def state(self) -> GroupState:
        """What it is right after loading."""
        return GroupState.STABLE if self.members else GroupState.EMPTY


class ModernMember(NamedTuple):
    """The values of a member's records, by the names of their fields: ``...MemberMetadata``,
    ``...TargetAssignmentMember`` and ``...CurrentMemberAssignment``."""

    member_id: str
    metadata: Value | None = None
    target: Value | None = None
    current: Value | None = None


class ModernGroup(NamedTuple):
    """A group whose coordinator divides the partitions. ``metadata`` and ``target`` are the values of its
    ``...GroupMetadata`` and ``...TargetAssignmentMetadata`` records."""

    group_id: str
    type: GroupType
    metadata: Value | None = None
    target: Value | None = None
    members: dict[str, ModernMember] = {}  # noqa: RUF012 (never changed in place)
    regular_expressions: dict[str, Value] = {}  # noqa: RUF012 (consumer groups)
    state_partitions: Value | None = None
    """ShareGroupStatePartitionMetadata."""
    topology: Value | None = None
    """StreamsGroupTopology."""

    @property
    def epoch(self) -> int:
        """The group epoch."""
        return self.metadata["epoch"] if self.metadata is not None else INITIAL_EPOCH

    @property
    def assignment_epoch(self) -> int:
        """The epoch that the target assignment was made for."""
        return self.target["assignmentEpoch"] if self.target is not None else INITIAL_EPOCH


Group = ClassicGroup | ModernGroup
