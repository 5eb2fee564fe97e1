"""Random groups, and what every division of one must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.consumer_protocol import Subscription
from kafkapy.log.topic_partition import TopicPartition

TOPICS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 12), min_size=1)
Assigned = Mapping[str, Sequence[TopicPartition]]


def subscribed(**topics: str) -> dict[str, MemberSubscription]:
    """Members by name, each with the letters of its topics."""
    return {member: MemberSubscription(Subscription(tuple(wanted))) for member, wanted in topics.items()}


def written(assigned: Assigned) -> dict[str, str]:
    """As ``a0 a1 b2``."""
    return {member: " ".join(f"{topic}{number}" for topic, number in found) for member, found in assigned.items()}


def check_whole(topics: Mapping[str, int], members: Mapping[str, MemberSubscription], assigned: Assigned) -> None:
    """Each partition that someone wants has one owner, who wants it."""
    wanted = {topic for member in members.values() for topic in member.subscription.topics}
    counts = Counter(partition for found in assigned.values() for partition in found)
    everything = {TopicPartition(topic, number) for topic in wanted & topics.keys() for number in range(topics[topic])}
    assert counts == Counter(everything)
    assert assigned.keys() == members.keys()
    for member, found in assigned.items():
        assert {partition.topic for partition in found} <= set(members[member].subscription.topics)


def spread(assigned: Assigned) -> int:
    """How many partitions the most loaded member has more than the least loaded one."""
    loads = [len(found) for found in assigned.values()]
    return max(loads) - min(loads)
