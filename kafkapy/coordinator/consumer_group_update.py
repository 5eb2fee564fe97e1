"""What a heartbeat changes in a consumer group, step by step, each step a few records:

    1. the member joins or changes what it asks for (5); where the group now reads other topics, or its topics changed,
       the group's epoch rises (3)
    2. where the target assignment is of an older epoch, the partitions are divided anew (7 for every member whose share
       changed, then 6)
    3. the member takes its next step from what it has to what it shall have (8)

Nothing is changed but by those records: whoever writes them replays them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from kafkapy.coordinator import consumer_group_records as records
from kafkapy.coordinator.assignors.java_hash_map import timeline_order
from kafkapy.coordinator.assignors.registry import server_assign
from kafkapy.coordinator.assignors.server_group import ServerMember, subscribed_topic_ids
from kafkapy.coordinator.consumer_group import ConsumerGroup, Target
from kafkapy.coordinator.consumer_group_heartbeat import (
    NOT_PROVIDED,
    SERVER_ASSIGNORS,
    Heartbeat,
    by_topic_id,
    check_member_epoch,
)
from kafkapy.coordinator.consumer_group_member import LEAVE_STATIC_EPOCH, ConsumerGroupMember
from kafkapy.coordinator.consumer_group_regexes import RegexChange
from kafkapy.coordinator.current_assignment import CurrentAssignmentBuilder
from kafkapy.coordinator.topic_hash import TopicHashes
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.metadata.image import MetadataImage


class Surroundings(NamedTuple):
    """What a coordinator knows besides the group. ``is_fresh`` says that the group's metadata hash was compared with
    these topics already."""

    image: MetadataImage
    now: int
    hashes: TopicHashes
    is_fresh: bool
    assignment_interval_ms: int


class GroupUpdate:
    """One heartbeat of one member; ``run`` fills ``records`` and gives the member as it is after them."""

    def __init__(self, group: ConsumerGroup, beat: Heartbeat, around: Surroundings) -> None:
        self._group = group
        self._beat = beat
        self._around = around
        self._owned = by_topic_id(around.image, beat.owned)
        self._replaced: str | None = None
        self._is_refreshed = False
        self.records: list[CoordinatorRecord] = []
        self.member = self._find_member()

    def run(self, regexes: RegexChange) -> ConsumerGroupMember:
        """All steps; ``regexes`` is how the expressions that the group subscribes to change with this heartbeat."""
        group_id, member, updated = self._group.group_id, self.member, self.updated_member()
        if updated != member:
            self.records.append(records.member_subscription(group_id, updated))
        names_changed = updated.subscribed_topic_names != member.subscribed_topic_names
        self.records += [records.regular_expression_tombstone(group_id, regex) for regex in regexes.deleted]
        after = self._group.with_member(updated, self._replaced).without_regexes(regexes.deleted)
        epoch = self._next_epoch(after, names_changed or regexes.is_resolved)
        target_epoch, target = self._target(after, epoch, updated)
        return self._reconcile(after, updated, target_epoch, target, names_changed or regexes.is_changed)

    def updated_member(self) -> ConsumerGroupMember:
        """The member with what it asks for now."""
        beat, member = self._beat, self.member
        names = beat.subscribed_topic_names
        timeout = beat.rebalance_timeout_ms
        return member._replace(
            instance_id=_or(beat.instance_id, member.instance_id),
            rack_id=_or(beat.rack_id, member.rack_id),
            rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == NOT_PROVIDED else timeout,
            server_assignor=_or(beat.server_assignor, member.server_assignor),
            subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
            subscribed_topic_regex=_or(beat.subscribed_topic_regex, member.subscribed_topic_regex),
            client_id=beat.client_id,
            client_host=beat.client_host,
            classic=None,
        )

    def _find_member(self) -> ConsumerGroupMember:
        beat, group = self._beat, self._group
        if beat.instance_id is not None:
            return self._find_static_member(beat.instance_id)
        if beat.is_joining and beat.member_id not in group.members:
            return ConsumerGroupMember(beat.member_id)
        member = group.member(beat.member_id)
        check_member_epoch(member, beat, self._owned)
        return member

    def _find_static_member(self, instance_id: str) -> ConsumerGroupMember:
        beat, known = self._beat, self._group.static_member(instance_id)
        if not beat.is_joining:
            member = check_static_member(known, beat.member_id, instance_id)
            check_member_epoch(member, beat, self._owned)
            return member
        if known is None:
            return self._group.members.get(beat.member_id, ConsumerGroupMember(beat.member_id))
        if known.classic is None and known.member_epoch != LEAVE_STATIC_EPOCH:
            raise KafkaError(
                "UnreleasedInstanceIdException",
                f"Static member {beat.member_id} with instance id {instance_id} cannot join the group because the "
                f"instance id is owned by {known.member_id} member.",
            )
        return self._replace_member(known)

    def _replace_member(self, known: ConsumerGroupMember) -> ConsumerGroupMember:
        """A static member is back under a new id, and goes on with what the old one had."""
        group_id = self._group.group_id
        member = known._replace(member_id=self._beat.member_id, member_epoch=0, previous_member_epoch=0)
        self._replaced = known.member_id
        self.records += [
            *records.member_tombstones(group_id, known.member_id),
            records.member_subscription(group_id, member),
            records.target_assignment(group_id, member.member_id, self._group.targets.get(known.member_id, {})),
            records.current_assignment(group_id, member),
        ]
        return member

    def _next_epoch(self, after: ConsumerGroup, is_changed: bool) -> int:
        group, around = self._group, self._around
        if not is_changed and around.is_fresh:
            return group.epoch
        self._is_refreshed = True
        metadata_hash = around.hashes.group_hash(around.image, after.topic_names())
        if not is_changed and metadata_hash == group.metadata_hash:
            return group.epoch
        self.records.append(records.group_epoch(group.group_id, group.epoch + 1, metadata_hash))
        return group.epoch + 1

    def _target(self, after: ConsumerGroup, epoch: int, updated: ConsumerGroupMember) -> tuple[int, Target]:
        group, around = self._group, self._around
        previous = updated.member_id if self._replaced is None else self._replaced
        if group.assignment_epoch >= epoch or not self._may_assign():
            return group.assignment_epoch, group.targets.get(previous, {})
        current = {**group.targets, updated.member_id: group.targets.get(previous, {})}
        joining = None if updated.member_id in group.members else updated.member_id
        assignor = preferred_assignor(group, self.member.server_assignor, updated.server_assignor)
        made = assign(assignor, after, current, around.image, joining, self._is_homogeneous(after))
        for member_id, share in made.items():
            if not _is_same(group.targets.get(member_id), share):
                self.records.append(records.target_assignment(group.group_id, member_id, share))
        self.records.append(records.target_assignment_epoch(group.group_id, epoch, around.now))
        return epoch, made[updated.member_id]

    def _is_homogeneous(self, after: ConsumerGroup) -> bool:
        # Kafka looks at what the members subscribe to only where it looks at the topics, too
        return (after if self._is_refreshed else self._group).is_homogeneous

    def _may_assign(self) -> bool:
        since, interval = self._group.assignment_timestamp, self._around.assignment_interval_ms
        return since == 0 or interval == 0 or self._around.now >= since + interval

    def _reconcile(
        self, after: ConsumerGroup, updated: ConsumerGroupMember, target_epoch: int, target: Target, is_changed: bool
    ) -> ConsumerGroupMember:
        if not is_changed and updated.is_reconciled_to(target_epoch):
            return updated
        taken = self._group.taken_partitions()
        subscribed = after.subscription(updated)
        builder = CurrentAssignmentBuilder(
            updated, target_epoch, target, subscribed, self._around.image, lambda *each: each in taken, self._owned
        )
        reconciled = builder.build(is_changed)
        if reconciled != updated:
            self.records.append(records.current_assignment(self._group.group_id, reconciled))
        return reconciled


def check_static_member(known: ConsumerGroupMember | None, member_id: str, instance_id: str) -> ConsumerGroupMember:
    """The member that has an instance id, which must be the one who speaks."""
    if known is None:
        raise KafkaError("UnknownMemberIdException", f"Instance id {instance_id} is unknown.")
    if known.member_id != member_id:
        raise KafkaError(
            "FencedInstanceIdException",
            f"Static member {member_id} with instance id {instance_id} was fenced by member {known.member_id}.",
        )
    return known


def assign(
    assignor: str,
    group: ConsumerGroup,
    current: Mapping[str, Target],
    image: MetadataImage,
    joining: str | None,
    is_homogeneous: bool,
) -> dict[str, Target]:
    """Divide the partitions: what every member shall have, in the order of Kafka's records."""
    topic_ids = {name: image.topics[name].id for name in group.topic_names() if name in image.topics}
    topics = {image.topics[name].id: len(image.topics[name].partitions) for name in topic_ids}
    members = {}
    for member_id, member in group.members.items():
        names = group.subscription(member)
        subscribed = subscribed_topic_ids(names, topic_ids)
        members[member_id] = ServerMember(subscribed, member.instance_id, current.get(member_id, {}), len(names))
    made = server_assign(assignor, topics, members, joining, is_homogeneous)
    return {**made, **{member_id: {} for member_id in members if member_id not in made}}


def preferred_assignor(group: ConsumerGroup, old: str | None, new: str | None) -> str:
    """The assignor that most members ask for, once a member asks for ``new`` in the place of ``old``.

    Of two, Kafka takes the first of its hash table, where both share a bucket: a name that was not there before the
    member, or only because of it, comes to its head."""
    asked = [member.server_assignor for member in group.members.values() if member.server_assignor is not None]
    counts = Counter(asked)
    order = timeline_order(counts)
    if old is not None and counts[old] == 1:
        order.remove(old)
    if new is not None and new not in order:
        order.insert(0, new)
    counts.subtract(each for each in (old,) if each is not None)
    counts.update(each for each in (new,) if each is not None)
    return max(order, key=lambda name: counts[name], default=SERVER_ASSIGNORS[0])


def _is_same(old: Target | None, new: Target) -> bool:
    return old is not None and _sets(old) == _sets(new)


def _sets(target: Target) -> dict[str, Collection[int]]:
    return {topic_id: set(partitions) for topic_id, partitions in target.items()}


def _or(new: str | None, old: str | None) -> str | None:
    return old if new is None else new
