"""Waiting for the moves of a plan: who moves by ListPartitionReassignments, how much is copied by DescribeLogDirs.

Brokers go on whether anybody waits or not. A broker that is needed and has been gone for default.api.timeout.ms ends
the waiting, not the move.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from kafkapy.backends.cluster import LogDir
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.live_log_dirs import describe_log_dirs
from kafkapy.backends.live.live_reassignments import list_reassignments
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.metadata.reassignment.verification import targets_of
from kafkapy.metadata.topics_image import PartitionRegistration

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0

UnderWay = Mapping[TopicPartition, PartitionRegistration]


class MoveProgress:
    """The moves of one plan; ``copied`` is told how many more bytes were copied."""

    def __init__(self, client: Client, plan: Reassignment, copied: Callable[[int], None]) -> None:
        self._client = client
        self._plan = plan
        self._copied = copied
        self._sizes: dict[tuple[TopicPartition, int, str], int] = {}
        self._gone_since: dict[int, float] = {}

    def wait(self) -> dict[TopicPartition, str]:
        """Wait for the end; the partitions that do not get there, and why."""
        pause = FIRST_PAUSE_S
        while True:
            under_way = list_reassignments(self._client, self._plan.replicas)
            moving = {partition for partition, _ in self._plan.log_dirs} | under_way.keys()
            if not moving:
                return {}
            self._client.forget()
            log_dirs = self._log_dirs(under_way, moving)
            self._count(under_way, log_dirs)
            between_log_dirs = {r.partition for each in log_dirs for r in each.replicas if r.is_future}
            if not under_way and not between_log_dirs:
                return {}
            stalled = self._stalled(under_way)
            if stalled:
                return stalled
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _log_dirs(self, under_way: UnderWay, moving: Collection[TopicPartition]) -> list[LogDir]:
        """The log dirs of brokers that get something."""
        brokers = {broker for state in under_way.values() for broker in state.adding_replicas}
        brokers |= {broker for _, broker in self._plan.log_dirs}
        live = brokers.intersection(self._client.nodes())
        return describe_log_dirs(self._client, live, moving) if live else []

    def _count(self, under_way: UnderWay, log_dirs: list[LogDir]) -> None:
        for log_dir in log_dirs:
            for replica in log_dir.replicas:
                state = under_way.get(replica.partition)
                is_new = state is not None and log_dir.broker_id in state.adding_replicas
                if log_dir.broker_id is not None and (is_new or replica.is_future):
                    key = (replica.partition, log_dir.broker_id, log_dir.path)
                    self._copied(max(0, replica.size - self._sizes.get(key, 0)))
                    self._sizes[key] = max(replica.size, self._sizes.get(key, 0))

    def _stalled(self, under_way: UnderWay) -> dict[TopicPartition, str]:
        """The partitions that wait for a broker that has been gone for long."""
        now, live = time.monotonic(), self._client.nodes()
        gone = {broker for state in under_way.values() for broker in targets_of(state) if broker not in live}
        self._gone_since = {broker: self._gone_since.get(broker, now) for broker in gone}
        patience = self._client.config.api_timeout_ms / 1000
        lost = {broker for broker, since in self._gone_since.items() if now - since > patience}
        waited_for = {partition: sorted(lost.intersection(targets_of(s))) for partition, s in under_way.items()}
        return {
            partition: ", ".join(f"broker {broker} is down" for broker in brokers)
            for partition, brokers in waited_for.items()
            if brokers
        }
