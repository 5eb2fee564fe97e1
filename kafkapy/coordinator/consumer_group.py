"""A consumer group as its coordinator sees it: members, target assignment and what their expressions matched.

It is made from the values of the group's records and never changed; ``with_member`` and ``without_regexes`` give the
group as it will be, so that what follows from a change can be computed before it is written.

Invariant: the epoch of the target assignment is never above that of the group; where it is below, the partitions are
to be divided anew. A group begins with both at 1, which no record says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from kafkapy.coordinator.consumer_group_member import ConsumerGroupMember, member_of
from kafkapy.coordinator.group import INITIAL_EPOCH, GroupType, ModernGroup, ModernMember
from kafkapy.errors import KafkaError

Target = Mapping[str, Collection[int]]
"""Topic id -> partitions, in the order of the record."""


class ResolvedRegularExpression(NamedTuple):
    """The topics that an expression matched in the metadata of offset ``version``."""

    topics: frozenset[str]
    version: int
    timestamp: int


class ConsumerGroup(NamedTuple):
    """A group; made new, it is one that nobody has joined. Members come in the order in which they joined."""

    group_id: str
    epoch: int = INITIAL_EPOCH
    metadata_hash: int = 0
    assignment_epoch: int = INITIAL_EPOCH
    assignment_timestamp: int = 0
    members: Mapping[str, ConsumerGroupMember] = {}
    targets: Mapping[str, Target] = {}
    regexes: Mapping[str, ResolvedRegularExpression] = {}

    def member(self, member_id: str) -> ConsumerGroupMember:
        """A member; an error for one that the group does not have."""
        found = self.members.get(member_id)
        if found is None:
            raise KafkaError(
                "UnknownMemberIdException", f"Member {member_id} is not a member of group {self.group_id}."
            )
        return found

    def static_member(self, instance_id: str | None) -> ConsumerGroupMember | None:
        """The member that has an instance id."""
        if instance_id is None:
            return None
        return next((each for each in self.members.values() if each.instance_id == instance_id), None)

    def with_member(self, member: ConsumerGroupMember, replaced: str | None = None) -> ConsumerGroup:
        """The group once it has ``member``, in the place of the member ``replaced``."""
        others = {key: each for key, each in self.members.items() if key != replaced}
        return self._replace(members={**others, member.member_id: member})

    def without_members(self, member_ids: Collection[str]) -> ConsumerGroup:
        """The group once they are gone."""
        return self._replace(members={key: each for key, each in self.members.items() if key not in member_ids})

    def without_regexes(self, regexes: Collection[str]) -> ConsumerGroup:
        """The group once it has forgotten what they matched."""
        return self._replace(regexes={key: each for key, each in self.regexes.items() if key not in regexes})

    def regex_subscribers(self) -> Counter[str]:
        """How many members subscribe to each expression."""
        found = (member.subscribed_topic_regex for member in self.members.values())
        return Counter(regex for regex in found if regex)

    def topic_names(self) -> set[str]:
        """All that is subscribed to, whether it exists or not."""
        named = (member.subscribed_topic_names for member in self.members.values())
        return set().union(*named, *(regex.topics for regex in self.regexes.values()))

    def subscription(self, member: ConsumerGroupMember) -> frozenset[str]:
        """The topics a member subscribes to; an expression that is not resolved yet matches none."""
        resolved = self.regexes.get(member.subscribed_topic_regex or "")
        return member.subscribed_topic_names.union(resolved.topics if resolved else ())

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same, in the same way, by which Kafka chooses the algorithm."""
        count = len(self.members)
        by_name = Counter(name for member in self.members.values() for name in member.subscribed_topic_names)
        subscribers = self.regex_subscribers()
        if not subscribers:
            return all(number == count for number in by_name.values())
        by_regex = Counter(topic for regex in self.regexes.values() for topic in regex.topics)
        same = next(iter(subscribers.values())) == count
        return same and not by_name and all(number == 1 for number in by_regex.values())

    def taken_partitions(self) -> set[tuple[str, int]]:
        """Partitions (by topic id) that a member has or has not given back yet."""
        return {
            (topic_id, partition)
            for member in self.members.values()
            for epochs in (member.assigned, member.pending_revocation)
            for topic_id, partitions in epochs.items()
            for partition in partitions
        }


def consumer_group(stored: ModernGroup) -> ConsumerGroup:
    """The group that its records tell of."""
    if stored.type is not GroupType.CONSUMER:
        raise KafkaError("GroupIdNotFoundException", f"Group {stored.group_id} is not a consumer group.")
    group = ConsumerGroup(
        stored.group_id,
        members={key: member_of(member) for key, member in stored.members.items()},
        targets={key: _target(member) for key, member in stored.members.items() if member.target is not None},
        regexes={
            regex: ResolvedRegularExpression(frozenset(value["topics"]), value["version"], value["timestamp"])
            for regex, value in stored.regular_expressions.items()
        },
    )
    if stored.metadata is not None:
        group = group._replace(epoch=stored.metadata["epoch"], metadata_hash=stored.metadata["metadataHash"])
    if stored.target is not None:
        group = group._replace(
            assignment_epoch=stored.target["assignmentEpoch"],
            assignment_timestamp=stored.target["assignmentTimestamp"],
        )
    return group


def _target(member: ModernMember) -> Target:
    topics = member.target["topicPartitions"] if member.target is not None else ()
    return {topic["topicId"]: tuple(topic["partitions"]) for topic in topics}
