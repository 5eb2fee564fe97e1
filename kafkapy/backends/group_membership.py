"""How members of this process take part in a group, whoever keeps the group.

In a cluster directory the coordinator is the process itself: nobody else is in the group, so nothing happens that was
not done here. In a running cluster a broker coordinates, other processes have members, too, and ``beat`` is how one
hears of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_member import GroupMember
from kafkapy.backends.group_options import GroupOptions
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator

Offsets = Mapping[TopicPartition, OffsetAndMetadata]


class Membership(Protocol):
    """How members take part in a group of one protocol."""

    def evict(self, cluster: Cluster, instance_ids: Sequence[str]) -> list[str]:
        """Remove members that a process left behind, but for those about to come back; their ids."""
        ...

    def leave(self, cluster: Cluster, members: Sequence[GroupMember]) -> None:
        """Take members out of the group."""
        ...

    def rebalance(
        self, cluster: Cluster, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Divide the partitions anew; a name and the assignor of each step of it."""
        ...

    def beat(self, members: Sequence[GroupMember]) -> str | None:
        """Keep members in the group; why they have to rebalance, None where they need not."""
        ...

    def keep_alive(self, members: Sequence[GroupMember]) -> None:
        """Keep members in the group, and change nothing about them."""
        ...

    def is_settled(self, cluster: Cluster, members: Sequence[GroupMember]) -> bool:
        """Whether the members have all that they are to have as the group stands."""
        ...

    def offsets(self, cluster: Cluster) -> Offsets:
        """What the group has committed."""
        ...

    def commit(self, cluster: Cluster, member: GroupMember, offsets: Offsets) -> bool:
        """Commit for a member; False where the group has gone on without it."""
        ...


class _Inner(Protocol):
    def leave(self, coordinator: GroupCoordinator, members: Sequence[GroupMember]) -> None: ...

    def rebalance(
        self, coordinator: GroupCoordinator, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]: ...


class FileMembership:
    """Members of a group in a cluster directory."""

    def __init__(self, options: GroupOptions) -> None:
        self._options = options
        self._inner = _inner(options)

    def evict(self, cluster: Cluster, instance_ids: Sequence[str]) -> list[str]:
        """Only a process that holds the group's lock comes here: whoever is in the log is dead."""
        from kafkapy.backends.group_eviction import evict

        return evict(_coordinator(cluster), self._options, instance_ids)

    def leave(self, cluster: Cluster, members: Sequence[GroupMember]) -> None:
        """Take members out of the group."""
        self._inner.leave(_coordinator(cluster), members)

    def rebalance(
        self, cluster: Cluster, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Divide the partitions anew."""
        return self._inner.rebalance(_coordinator(cluster), members, topics)

    def beat(self, members: Sequence[GroupMember]) -> str | None:
        """Nobody listens, and nobody else can change the group."""
        return None

    def keep_alive(self, members: Sequence[GroupMember]) -> None:
        """Nobody listens."""

    def is_settled(self, cluster: Cluster, members: Sequence[GroupMember]) -> bool:
        """A rebalance is over when it returns."""
        return True

    def offsets(self, cluster: Cluster) -> Offsets:
        """What the group has committed."""
        return _coordinator(cluster).offsets(self._options.group_id)

    def commit(self, cluster: Cluster, member: GroupMember, offsets: Offsets) -> bool:
        """Commit for a member; not for topics that were deleted meanwhile."""
        topics = cluster.image().topics
        there = {partition: offset for partition, offset in offsets.items() if partition.topic in topics}
        if there:
            manager = _coordinator(cluster).offset_manager
            manager.commit(self._options.group_id, there, member.member_id, member.generation)
        return True


def _inner(options: GroupOptions) -> _Inner:
    """The one that ``group.protocol`` asks for."""
    if options.protocol == "consumer":
        from kafkapy.backends.consumer_membership import ConsumerMembership

        return ConsumerMembership(options)
    from kafkapy.backends.classic_membership import ClassicMembership

    return ClassicMembership(options)


def _coordinator(cluster: Cluster) -> GroupCoordinator:
    """The coordinator of a cluster directory."""
    from kafkapy.coordinator.group_coordinator import GroupCoordinator

    return cast(GroupCoordinator, cluster.groups())
