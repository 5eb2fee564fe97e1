"""The members of a group in one process: how they join, rebalance, commit and leave.

All of these are written through short openings of the cluster. Before every change of the group what was handled is
made safe and committed, so that whoever gets a partition goes on where the last one stopped. Where nothing was
committed for a partition it begins by ``auto.offset.reset``; retry topics, and partitions that appeared while the
process was running, begin at their start.

Killed at any point, the process leaves its members in the log. The next one with the group removes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kafkapy.backends.cluster import EARLIEST, Cluster
from kafkapy.backends.consuming import StartAt, resolve
from kafkapy.backends.group_member import NO_GENERATION, GroupMember, Position
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.group_rebalance import Rebalance
from kafkapy.backends.group_subscription import GroupSubscription, Sources
from kafkapy.backends.log_dir_lock import LogDirHeldError
from kafkapy.backends.record_handler import RecordHandler
from kafkapy.backends.shared_cluster import SharedCluster, Tell
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator


REFRESH_AGAIN_S = 1.0


class Membership(Protocol):
    """How members take part in a group of one protocol."""

    def leave(self, coordinator: GroupCoordinator, members: Sequence[GroupMember]) -> None:
        """Take members out of the group."""
        ...

    def rebalance(
        self, coordinator: GroupCoordinator, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Divide the partitions anew; a name and the assignor of each step of it."""
        ...


def membership_of(options: GroupOptions) -> Membership:
    """The one that ``group.protocol`` asks for."""
    if options.protocol == "consumer":
        from kafkapy.backends.consumer_membership import ConsumerMembership

        return ConsumerMembership(options)
    from kafkapy.backends.classic_membership import ClassicMembership

    return ClassicMembership(options)


class GroupSession:
    """``reset`` is EARLIEST, LATEST or None (an error)."""

    def __init__(
        self,
        shared: SharedCluster,
        options: GroupOptions,
        subscription: GroupSubscription,
        reset: int | None,
        handler: RecordHandler,
        tell: Tell,
        anchored: bool = False,
        tells_rebalances: bool = True,
    ) -> None:
        """``anchored``: commit where partitions begin before anything is handled."""
        self._shared = shared
        self._options = options
        self._subscription = subscription
        self._reset = reset
        self._handler = handler
        self._tell = tell
        self._anchored = anchored
        self._tells_rebalances = tells_rebalances
        self._membership = membership_of(options)
        self._committed: dict[TopicPartition, Position] = {}
        self._joined_so_far = 0
        self._not_before = 0.0
        self.rebalances = 0
        self.members: list[GroupMember] = []
        self._mark = shared.metadata_mark()
        self.reader: Cluster = shared.read()
        self.sources: Sources = subscription.sources(self.reader.image())
        self._first_seen = frozenset(_partitions(self.sources))

    def begin(self, members: int) -> None:
        """Let members join, one after the other."""
        with self._shared.write() as cluster:
            self._evict(cluster, members)
            self.sources = self._subscription.sources(cluster.image())
            for _ in range(members):
                self._join(cluster)
        self._reopen()

    def join(self) -> None:
        """Let one more member join."""
        self._handler.flush()
        with self._shared.write() as cluster:
            self._commit(cluster)
            self._join(cluster)
        self._reopen()

    def leave(self, number: int) -> None:
        """Let a member leave; the others divide what it had."""
        left = next(member for member in self.members if member.number == number)
        self._handler.flush()
        with self._shared.write() as cluster:
            self._commit(cluster)
            self._membership.leave(cluster.groups(), [left])
            self.members.remove(left)
            self._rebalance(cluster, f"member {number} left")
        self._reopen()

    @property
    def is_current(self) -> bool:
        """Whether the metadata is still what the partitions were divided by."""
        return self._shared.metadata_mark() == self._mark

    def refresh(self) -> None:
        """Divide anew where topics have come, gone or grown; while another process writes, a little later."""
        if self.is_current or self._shared.time.monotonic() < self._not_before:
            return
        if self._subscription.sources(self._shared.read().image()) != self.sources:
            self._handler.flush()
            try:
                with self._shared.write(wait=False) as cluster:
                    self._commit(cluster)
                    self._follow(cluster)
            except LogDirHeldError:
                self._not_before = self._shared.time.monotonic() + REFRESH_AGAIN_S
                return
        self._reopen()

    def commit(self, wait: bool = False) -> bool:
        """Commit what is safe; False where another process writes just now and it is not to be waited for."""
        if not (self._handler.is_urgent or any(map(self._uncommitted, self.members))):
            return True
        self._handler.flush()
        try:
            with self._shared.write(wait) as cluster:
                self._commit(cluster)
                moved = self._follow(cluster)
        except LogDirHeldError:
            if wait:
                raise
            return False
        if moved:
            self._reopen()
        return True

    def close(self) -> None:
        """Commit, and leave the group; what cannot be made safe is not committed."""
        is_safe = False
        try:
            self._handler.flush()
            is_safe = True
        finally:
            if self.members or self._handler.is_urgent:
                with self._shared.write() as cluster:
                    if is_safe:
                        self._commit(cluster)
                    joined = [member for member in self.members if member.generation != NO_GENERATION]
                    if joined:
                        self._membership.leave(cluster.groups(), joined)
                self.members.clear()

    def _evict(self, cluster: Cluster, members: int) -> None:
        from kafkapy.backends.group_eviction import evict

        instance_ids = [each for each in (self._instance_id(n + 1) for n in range(members)) if each]
        for member_id in evict(cluster.groups(), self._options, instance_ids):
            self._tell(
                f"kafkapy: removed member {member_id} of group {self._options.group_id}: its process did not leave"
            )

    def _join(self, cluster: Cluster) -> None:
        self._joined_so_far += 1
        number = self._joined_so_far
        self.members.append(GroupMember(number, self._instance_id(number)))
        self._rebalance(cluster, f"member {number} joined")

    def _instance_id(self, number: int) -> str | None:
        """Members of one process cannot share an instance id: from the second on it gets a number."""
        instance_id = self._options.instance_id
        return instance_id if instance_id is None or number == 1 else f"{instance_id}-{number}"

    def _follow(self, cluster: Cluster) -> bool:
        sources = self._subscription.sources(cluster.image())
        if sources == self.sources or not self.members:
            return False
        self.sources = sources
        self._rebalance(cluster, "the topics changed")
        return True

    def _rebalance(self, cluster: Cluster, cause: str) -> None:
        self.rebalances += 1
        if not self.members:
            self._tell_rebalance([f"group {self._options.group_id}, empty: {cause}"])
            return
        before = {member.number: member.assigned for member in self.members}
        topics = {name: source.partitions for name, source in self.sources.items()}
        for label, assignor in self._membership.rebalance(cluster.groups(), self.members, topics):
            after = {member.number: member.assigned for member in self.members}
            self._tell_rebalance(Rebalance(self._options.group_id, label, assignor, cause, before, after).lines())
            before = after
        self._begin_partitions(cluster)
        if self._anchored:
            self._commit_offsets(cluster)

    def _tell_rebalance(self, lines: Iterable[str]) -> None:
        for line in lines if self._tells_rebalances else ():
            self._tell(line)

    def _begin_partitions(self, cluster: Cluster) -> None:
        """Find where to go on in partitions that are new to their member."""
        offsets = cluster.groups().offsets(self._options.group_id)
        self._committed = {partition: Position.of(found) for partition, found in offsets.items()}
        undefined = []
        for member in self.members:
            for partition in member.assigned:
                if partition not in member.positions:
                    found = self._begin_at(cluster, partition)
                    if found is None:
                        undefined.append(partition)
                    else:
                        member.positions[partition] = found
        if undefined:
            raise KafkaError(
                "NoOffsetForPartitionException",
                f"Undefined offset with no reset policy for partitions: [{', '.join(map(str, undefined))}]",
            )

    def _begin_at(self, cluster: Cluster, partition: TopicPartition) -> Position | None:
        source = self.sources[partition.topic]
        is_late = source.delay is not None or partition not in self._first_seen
        reset = EARLIEST if is_late else self._reset
        committed = self._committed.get(partition)
        if committed is None and reset is None:
            return None
        wanted = reset if committed is None else committed.offset
        assert wanted is not None
        offset, line = resolve(cluster, partition, StartAt(wanted, reset))
        if line is not None:
            self._tell(line)
        return committed if committed is not None and committed.offset == offset else Position(offset)

    def _commit(self, cluster: Cluster) -> None:
        self._handler.settle(cluster)
        if self._options.auto_commit:
            self._commit_offsets(cluster)

    def _commit_offsets(self, cluster: Cluster) -> None:
        topics, manager = cluster.image().topics, cluster.groups().offset_manager
        for member in self.members:
            changed = {
                partition: position
                for partition, position in self._uncommitted(member).items()
                if partition.topic in topics
            }
            if changed:
                offsets = {each: OffsetAndMetadata(*position) for each, position in changed.items()}
                manager.commit(self._options.group_id, offsets, member.member_id, member.generation)
                self._committed.update(changed)

    def _uncommitted(self, member: GroupMember) -> dict[TopicPartition, Position]:
        if not self._options.auto_commit:
            return {}
        return {each: found for each, found in member.positions.items() if self._committed.get(each) != found}

    def _reopen(self) -> None:
        """Read the metadata again."""
        self._mark = self._shared.metadata_mark()
        self.reader = self._shared.read()


def _partitions(sources: Sources) -> Iterator[TopicPartition]:
    return (TopicPartition(name, number) for name, source in sources.items() for number in range(source.partitions))
