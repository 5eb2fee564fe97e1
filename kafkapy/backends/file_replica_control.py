"""What files tell of replicas that move. Nothing is begun here: log dirs are only read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.replica_control import Copied, Lags, Places, ReplicaDirs, Tell
from kafkapy.errors import KafkaError, Unsupported
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.metadata.reassignment.throttles import clearing_changes
from kafkapy.metadata.reassignment.under_way import reassignments_under_way
from kafkapy.metadata.topics_image import PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.election_losses import ElectionLoss


class FileReplicaControl:
    """The metadata log and the names of directories."""

    goes_on = False
    knows_topics = True

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def elect(
        self, election: str, partitions: Collection[TopicPartition] | None
    ) -> dict[TopicPartition, KafkaError | None]:
        raise _read_only("electing leaders")

    def await_elected(self, election: str, partitions: Collection[TopicPartition]) -> None:
        """What was written is what is read."""

    def election_losses(self, before: MetadataImage) -> list[ElectionLoss]:
        return []

    def under_way(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, PartitionRegistration]:
        found = reassignments_under_way(self._cluster.image())
        return {each: state for each, state in found.items() if partitions is None or each in partitions}

    def places(self, partitions: Collection[TopicPartition] | None = None) -> Places:
        found = Places({}, {})
        for broker, replica in self._cluster.replica_places():
            if broker is not None and (partitions is None or replica.partition in partitions):
                into = found.future if replica.is_future else found.current
                into[replica.partition, broker] = os.path.abspath(replica.log_dir)
        return found

    def lags(self, under_way: Mapping[TopicPartition, PartitionRegistration]) -> Lags:
        return {
            (replica.partition, log_dir.broker_id): replica.offset_lag
            for log_dir in (self._cluster.log_dirs() if under_way else ())
            for replica in log_dir.replicas
            if log_dir.broker_id is not None and replica.partition in under_way and not replica.is_future
        }

    def simulated(self, plan: Assignment) -> MetadataImage:
        return self._cluster.image()

    def check(self, plan: Reassignment, additional: bool, tell: Tell) -> None:
        raise _read_only("executing a reassignment")

    def check_accepted(self, plan: Assignment, allow_factor_change: bool) -> None:
        raise _read_only("executing a reassignment")

    def begin(self, plan: Reassignment, allow_factor_change: bool) -> None:
        raise _read_only("executing a reassignment")

    def begin_log_dir_moves(
        self, log_dirs: Mapping[tuple[TopicPartition, int], str], timeout_ms: int
    ) -> Iterator[ReplicaDirs]:
        raise _read_only("moving replicas between log dirs")

    def complete(self, plan: Reassignment, copied: Copied) -> dict[TopicPartition, str]:
        raise _read_only("executing a reassignment")

    def cancel(self, partitions: Collection[TopicPartition]) -> None:
        raise _read_only("cancelling a reassignment")

    def throttle_clearing(self, brokers: Iterable[int], topics: Iterable[str]) -> list[AlterConfigs]:
        """Nothing where none is set, so that nothing is written."""
        return clearing_changes(self._cluster.image(), brokers, topics)


def _read_only(operation: str) -> Unsupported:
    return Unsupported(operation, "--log-dirs", "these directories are only read; use --cluster for one to write")
