"""The disk of log dirs while a plan is played: of the brokers on which a replica goes to another log dir.

    started     the copy is made, empty, as ``<partition>.<id>-future``
    copied      both log dirs have the replica
    completed   the copy took its place, the old one is gone

New replicas count where the plan names their log dir; where it does not, the broker chooses, and they count for the
broker alone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.plan_cost import log_dir_moves
from kafkapy.metadata.reassignment.reassignment_json import LogDirs, Reassignment

Replica = tuple[TopicPartition, int]
NOTHING = Reassignment({}, {})


class LogDirTally:
    """Sums over log dirs, kept up to date replica by replica; ``moves`` are the bytes that go from one to another."""

    def __init__(self, layout: Layout, plan: Reassignment = NOTHING, current: LogDirs = {}) -> None:  # noqa: B006
        self._layout = layout
        self._targets = {replica: os.path.abspath(path) for replica, path in plan.log_dirs.items()}
        self.moves = log_dir_moves(layout, plan, current)
        watched = {broker for _, broker in self.moves}
        self._place = {replica: path for replica, path in current.items() if replica[1] in watched}
        self._disk = Counter[tuple[int, str]]()
        for broker, path in {(replica[1], self._targets[replica]) for replica in self.moves}:
            self._disk[broker, path] = 0
        for (partition, broker), path in self._place.items():
            self._disk[broker, path] += layout.size(partition)
        self._watched = watched

    def of(self, partitions: Iterable[TopicPartition]) -> list[Replica]:
        """The replicas of some partitions that are moved between log dirs."""
        wanted = set(partitions)
        return [replica for replica in self.moves if replica[0] in wanted]

    def added(self, partition: TopicPartition, brokers: Iterable[int]) -> None:
        """New replicas of a partition got its data."""
        for broker in brokers:
            path = self._targets.get((partition, broker))
            if broker in self._watched and path is not None:
                self._place[partition, broker] = path
                self._disk[broker, path] += self._layout.size(partition)

    def removed(self, partition: TopicPartition, brokers: Iterable[int]) -> None:
        """Replicas of a partition went."""
        for broker in brokers:
            path = self._place.pop((partition, broker), None)
            if path is not None:
                self._disk[broker, path] -= self._layout.size(partition)

    def copied(self, replica: Replica) -> None:
        """A copy has all the data."""
        self._disk[replica[1], self._targets[replica]] += self.moves[replica]

    def swapped(self, replica: Replica) -> None:
        """A copy took its replica's place."""
        self._disk[replica[1], self._place[replica]] -= self.moves[replica]
        self._place[replica] = self._targets[replica]

    def disks(self) -> dict[tuple[int, str], int]:
        """The bytes in each log dir."""
        return dict(sorted(self._disk.items()))
