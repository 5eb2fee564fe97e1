"""The members of a group in one process: how they join, rebalance, commit and leave.

All of these are written through short openings of the cluster. Before every change of the group what was handled is
made safe and committed, so that whoever gets a partition goes on where the last one stopped. Where nothing was
committed for a partition it begins by ``auto.offset.reset``; retry topics, and partitions that appeared while the
process was running, begin at their start. A partition that cannot be read, since nobody leads it, is told and left
out: what was committed for it stays.

Killed at any point, the process leaves its members in the log. The next one with the group removes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from kafkapy.backends.cluster import EARLIEST, Cluster
from kafkapy.backends.group_member import NO_GENERATION, GroupMember, Position
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.group_rebalance import Rebalance
from kafkapy.backends.group_subscription import GroupSubscription, Sources
from kafkapy.backends.log_dir_lock import LogDirHeldError
from kafkapy.backends.record_handler import RecordHandler
from kafkapy.backends.shared_cluster import Shared
from kafkapy.backends.start_position import Bounds, StartAt, all_bounds, resolve, within
from kafkapy.backends.waiting import Tell
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.topic_partition import TopicPartition

REFRESH_AGAIN_S = 1.0
OVERTAKEN = "the group has rebalanced in the meantime: what was handled last is not committed, and may be handled again"


class GroupSession:
    """``reset`` is EARLIEST, LATEST or None (an error)."""

    def __init__(
        self,
        shared: Shared,
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
        self.tell = tell
        self._anchored = anchored
        self._tells_rebalances = tells_rebalances
        self._membership = shared.membership(options)
        self._committed: dict[TopicPartition, Position] = {}
        self._joined_so_far = 0
        self._not_before = 0.0
        self.left_out: set[TopicPartition] = set()
        self._hints: set[str] = set()
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
            self._membership.leave(cluster, [left])
            self.members.remove(left)
            self._rebalance(cluster, f"member {number} left")
        self._reopen()

    def keep_alive(self) -> None:
        """Keep the members in the group while something takes its time; whatever is heard is left to ``beat``."""
        self._membership.keep_alive(self.members)

    def beat(self) -> None:
        """Keep the members in the group, and divide anew where it has changed."""
        cause = self._membership.beat(self.members)
        if cause is None:
            return
        self._handler.flush()
        with self._shared.write() as cluster:
            self._commit(cluster)
            self._rebalance(cluster, cause)
        self._reopen()

    def is_settled(self) -> bool:
        """Whether nothing is on its way to the members: what one has given up comes to another only by and by."""
        held = {partition for member in self.members for partition in member.assigned}
        return held.issuperset(_partitions(self.sources)) or self._membership.is_settled(self.reader, self.members)

    @property
    def is_current(self) -> bool:
        """Whether the metadata is still what the partitions were divided by."""
        return self._shared.metadata_mark() == self._mark

    def refresh(self) -> None:
        """Divide anew where topics have come, gone or grown; while another process writes, a little later."""
        self.beat()
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
        """Commit, and leave the group, also where nothing can be committed; what cannot be made safe is not."""
        is_safe = False
        try:
            self._handler.flush()
            is_safe = True
        finally:
            if self.members or self._handler.is_urgent:
                with self._shared.write() as cluster:
                    if is_safe:
                        self._commit_and_leave(cluster)
                    else:
                        self._leave(cluster)
                self.members.clear()

    def _commit_and_leave(self, cluster: Cluster) -> None:
        try:
            self._commit(cluster)
        except (KafkapyError, OSError):
            with suppress(KafkapyError, OSError):  # why nothing was committed is what has to be told
                self._leave(cluster)
            raise
        self._leave(cluster)

    def _leave(self, cluster: Cluster) -> None:
        """Others would wait for members that are gone until their session is over."""
        joined = [member for member in self.members if member.generation != NO_GENERATION]
        if joined:
            self._membership.leave(cluster, joined)

    def _evict(self, cluster: Cluster, members: int) -> None:
        instance_ids = [each for each in (self._instance_id(n + 1) for n in range(members)) if each]
        for member_id in self._membership.evict(cluster, instance_ids):
            self.tell(
                f"kafkapy: removed member {member_id} of group {self._options.group_id}: its process ended "
                "without leaving"
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
        for label, assignor in self._membership.rebalance(cluster, self.members, topics):
            after = {member.number: member.assigned for member in self.members}
            self._tell_rebalance(Rebalance(self._options.group_id, label, assignor, cause, before, after).lines())
            before = after
        self._begin_partitions(cluster)
        if self._anchored:
            self._commit_offsets(cluster)

    def _tell_rebalance(self, lines: Iterable[str]) -> None:
        for line in lines if self._tells_rebalances else ():
            self.tell(line)

    def _begin_partitions(self, cluster: Cluster) -> None:
        """Find where to go on in partitions that are new to their member."""
        offsets = self._membership.offsets(cluster)
        self._committed = {partition: Position.of(found) for partition, found in offsets.items()}
        fresh = [
            (member, partition)
            for member in self.members
            for partition in member.assigned
            if partition not in member.positions
        ]
        undefined = []
        bounds = all_bounds(cluster, (partition for _, partition in fresh))
        for (member, partition), found in zip(fresh, bounds, strict=True):
            if isinstance(found, KafkapyError):
                if not isinstance(found, KafkaError) or found.name != "LeaderNotAvailableException":
                    raise found
                self._leave_out(partition, f"{partition} is not read: {found}", found.hint)
                continue
            position = self._begin_at(partition, found)
            if position is None:
                undefined.append(partition)
            else:
                member.positions[partition] = position
        if undefined:
            raise KafkaError(
                "NoOffsetForPartitionException",
                f"Undefined offset with no reset policy for partitions: [{', '.join(map(str, undefined))}]",
            )

    def reset(self, member: GroupMember, partition: TopicPartition, error: KafkaError) -> None:
        """Go on elsewhere where a log has lost a member's position, if that is allowed; else the error is raised."""
        if self._reset is None:
            raise error
        offset, line = resolve(self.reader, partition, StartAt(member.positions[partition].offset, self._reset))
        member.positions[partition] = Position(offset)
        if line is not None:
            self.tell(line)

    def lose(self, member: GroupMember, partition: TopicPartition, error: KafkaError) -> None:
        """Read a partition no further: it is gone."""
        del member.positions[partition]
        self._leave_out(partition, f"{partition} is read no further: {error}")

    def look_for_damage(self) -> None:
        """Tell of partitions that are damaged where they were read to."""
        for partition in (each for member in self.members for each in member.readable):
            damage = self.reader.damage(partition)
            if damage is not None:
                self._leave_out(partition, f"{partition} is read only up to where it is damaged: {damage}")

    def _leave_out(self, partition: TopicPartition, line: str, hint: str | None = None) -> None:
        if partition not in self.left_out:
            self.left_out.add(partition)
            self.tell(f"kafkapy: {line}")
        if hint is not None and hint not in self._hints:
            self._hints.add(hint)
            self.tell(f"kafkapy: {hint}")

    def _begin_at(self, partition: TopicPartition, bounds: Bounds) -> Position | None:
        source = self.sources[partition.topic]
        is_late = source.delay is not None or partition not in self._first_seen
        reset = EARLIEST if is_late else self._reset
        committed = self._committed.get(partition)
        if committed is None and reset is None:
            return None
        wanted = reset if committed is None else committed.offset
        assert wanted is not None
        offset, line = within(bounds, partition, StartAt(wanted, reset))
        if line is not None:
            self.tell(line)
        return committed if committed is not None and committed.offset == offset else Position(offset)

    def _commit(self, cluster: Cluster) -> None:
        self._handler.settle(cluster)
        if self._options.auto_commit:
            self._commit_offsets(cluster)

    def _commit_offsets(self, cluster: Cluster) -> None:
        for member in self.members:
            changed = self._uncommitted(member)
            if changed:
                offsets = {each: OffsetAndMetadata(*position) for each, position in changed.items()}
                if self._membership.commit(cluster, member, offsets):
                    self._committed.update(changed)
                else:
                    self.tell(f"kafkapy: {OVERTAKEN}")

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
