"""Partitions that the metadata has, and of which no copy is in the log dirs.

One that a broker should have whose log dirs are here is lost; a replica that a reassignment is about to make is no copy
of it. With the disks of some brokers only, others are not to be expected: that is worth one line, and no more than that
unless somebody asked for just them. Without a metadata log nobody knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.log.topic_partition import TopicPartition


class AbsentPartitions(NamedTuple):
    """Those that should be here, and those of brokers whose log dirs are not given."""

    where: str
    lost: list[TopicPartition]
    elsewhere: list[TopicPartition]

    def missed(self, is_named: bool) -> list[TopicPartition]:
        """Those that should be here; ``is_named`` where just these topics or partitions were asked for."""
        return sorted([*self.lost, *self.elsewhere]) if is_named else self.lost

    def problems(self, is_named: bool) -> list[str]:
        """What is wrong with that."""
        missed = self.missed(is_named)
        return [self.problem(*missed)] if missed else []

    def problem(self, *partitions: TopicPartition) -> str:
        """That partitions are not here."""
        return f"no copy of {', '.join(map(str, partitions))} is in {self.where}"

    def notes(self, is_named: bool) -> list[str]:
        """What is told all the same."""
        count = 0 if is_named else len(self.elsewhere)
        partitions = "1 partition" if count == 1 else f"{count} partitions"
        return [f"left out: {partitions} that only other brokers have copies of"] if count else []


def absent_partitions(
    cluster: Cluster, wants: Callable[[TopicPartition], bool], broker: int | None = None
) -> AbsentPartitions:
    """The wanted partitions that are not here; with ``broker`` those only that it should have and has not."""
    found = AbsentPartitions(cluster.where, [], [])
    given = set(cluster.log_dir_brokers()) if broker is None else {broker}
    here: dict[TopicPartition, set[int | None]] = defaultdict(set)
    for owner, replica in cluster.replica_places():
        if not replica.is_future and (broker is None or owner == broker):
            here[replica.partition].add(owner)
    for name, topic in sorted(cluster.image().topics.items()):
        for number, registration in sorted(topic.partitions.items()):
            partition = TopicPartition(name, number)
            adding = set(registration.adding_replicas)
            if here[partition] - (adding - set(registration.isr)) or not wants(partition):
                continue
            if not given.isdisjoint(set(registration.replicas) - adding):
                found.lost.append(partition)
            elif broker is None and not here[partition]:
                found.elsewhere.append(partition)
    return found
