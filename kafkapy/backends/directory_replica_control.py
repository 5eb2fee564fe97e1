"""Elections and moves of a cluster directory: written to the metadata log, and played (reassigning.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.file_replica_control import FileReplicaControl
from kafkapy.backends.plan_checks import missing_brokers
from kafkapy.backends.replica_control import Copied, ReplicaDirs, Tell
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import ElectLeader
from kafkapy.metadata.elections import UNCLEAN
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import Reassignment

if TYPE_CHECKING:
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.backends.election_losses import ElectionLoss


class DirectoryReplicaControl(FileReplicaControl):
    """Plays the brokers."""

    def __init__(self, cluster: DirectoryCluster) -> None:
        super().__init__(cluster)
        self._directory = cluster

    def elect(
        self, election: str, partitions: Collection[TopicPartition] | None
    ) -> dict[TopicPartition, KafkaError | None]:
        """In a few batches of the metadata log: together, and where one is refused in two halves, down to the one.
        Killed in between, some partitions have their new leader and the others their old one. An unclean election of a
        lost partition leaves its leader, who begins anew."""
        from kafkapy.backends.leader_election import partitions_in_need
        from kafkapy.backends.lost_replicas import begin_anew

        image = self._directory.image()
        lost = {*self._directory.places.lost} if election == UNCLEAN else set()
        in_need = {*partitions_in_need(image, election), *lost} if partitions is None else partitions
        wanted = sorted(in_need)
        for partition in lost.intersection(wanted):
            self._directory.tell_recovered(begin_anew(self._directory, partition))
        changes = [ElectLeader(*partition, election) for partition in wanted if partition not in lost]
        refused = dict(self._elect(changes))
        return {partition: refused.get(partition) for partition in wanted}

    def _elect(self, changes: Sequence[ElectLeader]) -> Iterator[tuple[TopicPartition, KafkaError]]:
        """What was refused, and why."""
        if not changes:
            return
        try:
            self._directory.apply(*changes)
        except KafkaError as error:
            if len(changes) == 1:
                yield TopicPartition(changes[0].topic, changes[0].partition), error
                return
            middle = len(changes) // 2
            yield from self._elect(changes[:middle])
            yield from self._elect(changes[middle:])

    def election_losses(self, before: MetadataImage) -> list[ElectionLoss]:
        from kafkapy.backends.election_losses import election_losses

        return election_losses(self._directory, before)

    def check(self, plan: Reassignment, additional: bool, tell: Tell) -> None:
        from kafkapy.backends.reassigning import check

        brokers = self._directory.brokers
        for broker in missing_brokers(self._directory.image(), brokers.alive, plan.replicas):
            if broker in brokers.known:
                state = brokers[broker].state
                tell(f"broker {broker} is {state}: start it first (kafkapy cluster start-broker {broker})")
        check(self._directory, plan, additional)

    def check_accepted(self, plan: Assignment, allow_factor_change: bool) -> None:
        from kafkapy.backends.reassigning import check_accepted

        check_accepted(self._directory, plan, allow_factor_change)

    def begin(self, plan: Reassignment, allow_factor_change: bool) -> None:
        from kafkapy.backends.reassigning import start_reassignments

        start_reassignments(self._directory, plan)

    def begin_log_dir_moves(
        self, log_dirs: Mapping[tuple[TopicPartition, int], str], timeout_ms: int
    ) -> Iterator[ReplicaDirs]:
        from kafkapy.backends.log_dir_moves import start_moves

        start_moves(self._directory, log_dirs)
        if log_dirs:
            yield dict(log_dirs)

    def complete(self, plan: Reassignment, copied: Copied) -> dict[TopicPartition, str]:
        from kafkapy.backends.reassigning import play

        return play(self._directory, plan.replicas, copied)

    def cancel(self, partitions: Collection[TopicPartition]) -> None:
        from kafkapy.backends.reassigning import cancel

        cancel(self._directory, partitions)
