"""The configs that slow moves down, as ReassignPartitionsCommand sets and clears them.

Between brokers, two sorts that go together. A topic says which of its replicas are throttled, as "partition:broker":
``leader.replication.throttled.replicas`` has every replica that a partition had before, for each may lead and send;
``follower.replication.throttled.replicas`` those that are being added. A broker says how much it sends and receives of
such replicas, in bytes a second (``leader.`` and ``follower.replication.throttled.rate``). Between the log dirs of one
broker there is one limit for all (``replica.alter.log.dirs.io.max.bytes.per.second``).

They stay until somebody clears them: ``--verify`` and ``--cancel`` do, for all brokers, since by then nobody knows who
took part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs
from kafkapy.metadata.image import BROKER, TOPIC, MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.topics_image import PartitionRegistration

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"

BROKER_THROTTLES = (LEADER_RATE, FOLLOWER_RATE, LOG_DIRS_RATE)
TOPIC_THROTTLES = (LEADER_REPLICAS, FOLLOWER_REPLICAS)


class Move(NamedTuple):
    """Who has a partition, and who is to get it."""

    sources: frozenset[int]
    destinations: frozenset[int]


def moves(
    under_way: Mapping[TopicPartition, PartitionRegistration], proposed: Assignment, current: Assignment
) -> dict[TopicPartition, Move]:
    """What moves already and what is about to; a plan for what moves already changes only where to."""
    found = {
        partition: Move(frozenset(state.replicas) - {*state.adding_replicas}, frozenset(state.adding_replicas))
        for partition, state in under_way.items()
    }
    for partition, replicas in proposed.items():
        known = found.get(partition)
        sources = frozenset(current[partition]) if known is None else known.sources
        found[partition] = Move(sources, frozenset(replicas) - sources)
    return found


def throttle_changes(moving: Mapping[TopicPartition, Move], rate: int) -> list[AlterConfigs]:
    """The throttle between brokers: the topics' lists first, then the brokers' rates."""
    leaders, followers = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    brokers: set[int] = set()
    for partition, move in moving.items():
        leaders[partition.topic] += _throttled(partition, move.sources)
        followers[partition.topic] += _throttled(partition, move.destinations)
        brokers |= move.sources | move.destinations
    topics = [
        AlterConfigs(TOPIC, topic, {LEADER_REPLICAS: _joined(leaders[topic]), FOLLOWER_REPLICAS: _joined(to)})
        for topic, to in sorted(followers.items())
    ]
    rates = {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)}
    return topics + [AlterConfigs(BROKER, str(broker), rates) for broker in sorted(brokers)]


def log_dir_throttle_changes(brokers: Iterable[int], rate: int) -> list[AlterConfigs]:
    """The throttle between log dirs."""
    return [AlterConfigs(BROKER, str(broker), {LOG_DIRS_RATE: str(rate)}) for broker in sorted(brokers)]


def clearing_changes(image: MetadataImage, brokers: Iterable[int], topics: Iterable[str]) -> list[AlterConfigs]:
    """What takes the throttles away; nothing where none is. Who is unknown is asked for, and refused."""
    found = [_clearing(image, BROKER, str(each), BROKER_THROTTLES, each in image.brokers) for each in sorted(brokers)]
    found += [_clearing(image, TOPIC, each, TOPIC_THROTTLES, each in image.topics) for each in sorted(topics)]
    return [change for change in found if change.delete]


def _clearing(image: MetadataImage, kind: int, name: str, throttles: tuple[str, ...], is_known: bool) -> AlterConfigs:
    present = tuple(each for each in throttles if each in image.config(kind, name))
    return AlterConfigs(kind, name, delete=present if is_known else throttles)


def _throttled(partition: TopicPartition, brokers: Iterable[int]) -> list[str]:
    return [f"{partition.partition}:{broker}" for broker in brokers]


def _joined(components: Iterable[str]) -> str:
    """In the order of text, as Kafka writes them."""
    return ",".join(sorted(components))
