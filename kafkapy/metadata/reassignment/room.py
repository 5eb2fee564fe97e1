"""Whether there are brokers enough for the replicas that partitions are to have; if not, which topics have too many,
and what to do about them."""

from __future__ import annotations

from collections.abc import Sequence

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.broker_loads import BrokerLoads

SHOWN = 10


def check_room(loads: BrokerLoads, partitions: Sequence[TopicPartition]) -> None:
    """Refuse partitions that are to have more replicas than there are brokers who may have one."""
    lacking = [partition for partition in partitions if loads.wanted(partition) > _room(loads, partition)]
    if not lacking:
        return
    wanted, room = loads.wanted(lacking[0]), _room(loads, lacking[0])
    text = f"{lacking[0]} needs {wanted} replicas, but only {room} brokers may have one."
    error = KafkaError("InvalidReplicationFactorException", text)
    if loads.goal.replication_factor is None and room:
        error.hint = _remedy(sorted({partition.topic for partition in lacking}), room)
    raise error


def _room(loads: BrokerLoads, partition: TopicPartition) -> int:
    goal = loads.goal
    return len(goal.brokers) + len(goal.kept.intersection(loads.replicas[partition]))


def _remedy(topics: Sequence[str], room: int) -> str:
    more = f" and {len(topics) - SHOWN} more" if len(topics) > SHOWN else ""
    return (
        f"this applies to the topics {', '.join(topics[:SHOWN])}{more}: name others with --topics-to-move-json-file, "
        f"or these, to lower their replication factor first, with --generate --set-replication-factor {room}"
    )
