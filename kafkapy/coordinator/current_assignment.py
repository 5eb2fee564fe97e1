"""Reconciliation: how a member of a consumer group gets from what it has to what it shall have.

    1. partitions that it shall not have any more are asked back; the member stays in its epoch until it no longer
       tells of owning them
    2. then it goes on to the epoch of the target assignment and gets those of its new partitions that nobody has
    3. those that others still have follow one heartbeat after another, as they are given back

Invariant: no partition is ever given to a member before the one who had it gave it back, so a partition has at most
one reader. A member that no longer subscribes to a topic gives its partitions back at once, whatever the target says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kafkapy.coordinator.consumer_group_member import ConsumerGroupMember, MemberState, PartitionEpochs
from kafkapy.errors import KafkaError
from kafkapy.metadata.image import MetadataImage

Partitions = Mapping[str, Collection[int]]
"""Topic id -> partitions."""


class CurrentAssignmentBuilder:
    """The next state of one member. ``owned`` is what the member says it has, None where it does not say;
    ``subscribed`` are the names of the topics that it subscribes to, by name or by an expression that matched;
    ``is_taken`` tells of a partition whether anybody has it."""

    def __init__(
        self,
        member: ConsumerGroupMember,
        target_epoch: int,
        target: Partitions,
        subscribed: Collection[str],
        image: MetadataImage,
        is_taken: Callable[[str, int], bool],
        owned: Partitions | None,
    ) -> None:
        self._member = member
        self._image = image
        self._target_epoch = target_epoch
        self._target = target
        self._subscribed = subscribed
        self._is_taken = is_taken
        self._owned = owned

    def build(self, has_subscription_changed: bool) -> ConsumerGroupMember:
        """The member after this heartbeat; the same one where it cannot go on."""
        member = self._member
        if member.state is MemberState.STABLE:
            if member.member_epoch != self._target_epoch:
                return self._next_assignment(member.member_epoch)
            return self._without_unsubscribed() if has_subscription_changed else member
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            if not self._owns_any(member.pending_revocation):
                return self._next_assignment(member.member_epoch)
            return self._without_unsubscribed() if has_subscription_changed else member
        if member.state is MemberState.UNRELEASED_PARTITIONS:
            return self._next_assignment(member.member_epoch)
        return self._from_unknown_state()

    def _from_unknown_state(self) -> ConsumerGroupMember:
        if self._owned is None or self._owned:
            raise KafkaError(
                "FencedMemberEpochException",
                "The consumer group member is in a unknown state. "
                "The member must abandon all its partitions and rejoin.",
            )
        return self._next_assignment(self._target_epoch)

    def _without_unsubscribed(self) -> ConsumerGroupMember:
        """The target is reached or cannot be yet; topics that were unsubscribed are asked back all the same."""
        member = self._member
        dropped = {topic: found for topic, found in member.assigned.items() if not self._subscribes(topic)}
        # of a member that wants nothing any more Kafka notes the step even if it had nothing
        if not dropped and (self._subscribed or member.pending_revocation):
            return member
        kept = {topic: found for topic, found in member.assigned.items() if topic not in dropped}
        pending = {topic: dict(found) for topic, found in member.pending_revocation.items()}
        for topic, found in dropped.items():
            pending.setdefault(topic, {}).update(found)
        if pending and self._owns_any(pending):
            return self._revoking(member.member_epoch, kept, pending)
        return member.to_epoch(member.member_epoch)._replace(assigned=kept)

    def _next_assignment(self, member_epoch: int) -> ConsumerGroupMember:
        kept: dict[str, dict[int, int]] = {}
        revoked: dict[str, dict[int, int]] = {}
        added: dict[str, list[int]] = {}
        has_unreleased = False
        for topic in {**self._target, **self._member.assigned}:
            current = self._member.assigned.get(topic, {})
            target = set(self._target.get(topic, ())) if self._subscribes(topic) else set()
            _put(kept, topic, {each: epoch for each, epoch in current.items() if each in target})
            _put(revoked, topic, {each: epoch for each, epoch in current.items() if each not in target})
            wanted = target.difference(current)
            free = [each for each in sorted(wanted) if self._is_free(topic, each)]
            has_unreleased |= len(free) < len(wanted)
            if free:
                added[topic] = free
        if revoked and self._owns_any(revoked):
            return self._revoking(member_epoch, kept, revoked)
        for topic, partitions in added.items():
            kept.setdefault(topic, {}).update(dict.fromkeys(partitions, self._target_epoch))
        return self._member.to_epoch(self._target_epoch)._replace(
            state=MemberState.UNRELEASED_PARTITIONS if has_unreleased else MemberState.STABLE,
            assigned=kept,
            pending_revocation={},
        )

    def _revoking(self, member_epoch: int, kept: PartitionEpochs, pending: PartitionEpochs) -> ConsumerGroupMember:
        return self._member.to_epoch(member_epoch)._replace(
            state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, pending_revocation=pending
        )

    def _subscribes(self, topic_id: str) -> bool:
        topic = self._image.topic_by_id(topic_id)
        return topic is not None and topic.name in self._subscribed

    def _is_free(self, topic: str, partition: int) -> bool:
        # what this member was to give back is its own still, and may be given to it again
        return partition in self._member.pending_revocation.get(topic, {}) or not self._is_taken(topic, partition)

    def _owns_any(self, partitions: PartitionEpochs) -> bool:
        if self._owned is None:
            return True
        return any(not partitions.get(topic, {}).keys().isdisjoint(owned) for topic, owned in self._owned.items())


def _put(found: dict[str, dict[int, int]], topic: str, partitions: dict[int, int]) -> None:
    if partitions:
        found[topic] = partitions
