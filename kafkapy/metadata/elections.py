"""What a controller makes of a partition when something changes: Kafka's PartitionChangeBuilder, as values.

The rules, in the order in which they are applied:

1. A reassignment is complete when the target ISR without the removed replicas is not empty and has all added ones, and,
   where the partition shrinks, all that stay. Then removing and adding end, in the same record.
2. Eligible leader replicas (ELR, feature level 1): while the ISR is smaller than min.insync.replicas, who leaves it
   becomes eligible, unless it stopped uncleanly; with enough in the ISR nobody is.
3. The leader stays if it is in the ISR and can lead; else the first replica **in assignment order** that is in the ISR
   (in the ELR if the ISR is empty) and can; else the last known leader, if ISR and ELR are empty. Unclean elections
   may then take any replica that can lead: the ISR becomes that one, and its state RECOVERING.
4. Without ELR the last member of an ISR stays in it, with leader -1.

Setting a leader raises the leader epoch, and so does removing a replica: its fetches must be told apart from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.uuid import DIRECTORY_LOST, DIRECTORY_MIGRATING, DIRECTORY_UNASSIGNED
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.features import IBP_3_6_IV0, IBP_3_7_IV2
from kafkapy.metadata.records import new_record
from kafkapy.metadata.topics_image import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    PartitionRegistration,
    partition_record_version,
)

PREFERRED = "PREFERRED"
ONLINE = "ONLINE"
UNCLEAN = "UNCLEAN"


class Cluster(NamedTuple):
    """What an election has to know of the cluster: who registered, who of them is live, and the features."""

    brokers: Mapping[int, BrokerRegistration]
    live: Collection[int]
    metadata_version: int
    elr_enabled: bool

    def can_lead(self, partition: PartitionRegistration, broker_id: int) -> bool:
        """Whether the broker is live and the log dir with its replica online. One that is only to become a replica may
        still be eligible, since a move that removes one leaves it in the ELR where too few are in sync. Kafka 4.3.1's
        controller fails there, with UNKNOWN_SERVER_ERROR: else it would lead without a copy."""
        if broker_id not in self.live:
            return False
        if broker_id not in partition.replicas:
            raise KafkaError(
                "UnknownServerException",
                f"it has no leader, and broker {broker_id}, which has no copy, would become it: first start a "
                "broker that has a copy",
            )
        return _is_online(partition.directory(broker_id), self.brokers[broker_id].directories)

    def default_directory(self, broker_id: int) -> str:
        """The directory of a new replica: the only one of its broker, or for the broker to decide."""
        if self.metadata_version < IBP_3_7_IV2:
            return DIRECTORY_MIGRATING
        directories = self.brokers[broker_id].directories if broker_id in self.brokers else (DIRECTORY_UNASSIGNED,)
        if not directories:
            return DIRECTORY_MIGRATING
        return directories[0] if len(directories) == 1 else DIRECTORY_UNASSIGNED


class Target(NamedTuple):
    """What is wanted of a partition; None leaves it as it is."""

    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    leader_recovery_state: int | None = None
    directories: Mapping[int, str] = {}
    unclean_shutdown_replicas: tuple[int, ...] = ()


class Elected(NamedTuple):
    leader: int
    unclean: bool = False


def partition_change(
    topic_id: str,
    partition_id: int,
    partition: PartitionRegistration,
    cluster: Cluster,
    *,
    min_isr: int,
    election: str = ONLINE,
    target: Target = Target(),  # noqa: B008
) -> MetadataRecord | None:
    """The PartitionChangeRecord that brings a partition to its target, None if there is nothing to change."""
    wanted = _complete_reassignment(_wanted(partition, target))
    if cluster.elr_enabled:
        wanted = wanted._replace(elr=_target_elr(partition, wanted, min_isr, target.unclean_shutdown_replicas))
    elected = elect(partition, wanted, cluster, election)
    change: dict[str, Any] = {}
    if elected.leader != partition.leader:
        change["leader"] = elected.leader
        if elected.leader in wanted.elr:
            rest = tuple(replica for replica in wanted.elr if replica != elected.leader)
            wanted = wanted._replace(isr=(elected.leader,), elr=rest)
        if elected.unclean:
            wanted = wanted._replace(isr=(elected.leader,), elr=(), leader_recovery_state=RECOVERING)
    change |= _isr_changes(partition, wanted, cluster, elected.unclean and "leader" in change)
    if _must_bump_leader_epoch(partition, wanted, change, cluster):
        change["leader"] = partition.leader
    change |= _last_known_leader(partition, change.get("leader", NO_LEADER_CHANGE), cluster)
    change |= _assignment_changes(partition, wanted, target, cluster)
    if wanted.leader_recovery_state != partition.leader_recovery_state:
        change["leaderRecoveryState"] = wanted.leader_recovery_state
    if not change:
        return None
    value: Value = {"partitionId": partition_id, "topicId": topic_id, **change}
    return new_record("PartitionChangeRecord", partition_record_version(cluster.metadata_version), value)


def elect(partition: PartitionRegistration, wanted: PartitionRegistration, cluster: Cluster, election: str) -> Elected:
    """Who leads; ``wanted`` has the replicas, ISR and ELR to choose from."""

    def is_valid(replica: int) -> bool:
        candidates = wanted.isr or wanted.elr
        return replica in candidates and cluster.can_lead(partition, replica)

    preferred = wanted.replicas[:1] if election == PREFERRED else ()
    for replica in (*preferred, partition.leader, *wanted.replicas):
        if is_valid(replica):
            return Elected(replica)
    if _can_elect_last_known_leader(partition, wanted, cluster):
        return Elected(partition.last_known_elr[0], unclean=True)
    if election == UNCLEAN:
        for replica in wanted.replicas:
            if cluster.can_lead(partition, replica):
                return Elected(replica, unclean=True)
    return Elected(NO_LEADER)


def _wanted(partition: PartitionRegistration, target: Target) -> PartitionRegistration:
    recovery = target.leader_recovery_state
    return partition._replace(
        isr=partition.isr if target.isr is None else target.isr,
        replicas=partition.replicas if target.replicas is None else target.replicas,
        removing_replicas=partition.removing_replicas if target.removing is None else target.removing,
        adding_replicas=partition.adding_replicas if target.adding is None else target.adding,
        leader_recovery_state=partition.leader_recovery_state if recovery is None else recovery,
    )


def _complete_reassignment(wanted: PartitionRegistration) -> PartitionRegistration:
    if not wanted.is_reassigning:
        return wanted
    isr = _without(wanted.isr, wanted.removing_replicas)
    replicas = _without(wanted.replicas, wanted.removing_replicas)
    if wanted.removing_replicas and not (isr and replicas):
        return wanted
    shrinks = len(wanted.adding_replicas) < len(wanted.removing_replicas)
    if not set(isr).issuperset((*wanted.adding_replicas, *(replicas if shrinks else ()))):
        return wanted
    return wanted._replace(isr=isr, replicas=replicas, removing_replicas=(), adding_replicas=())


def _target_elr(
    partition: PartitionRegistration, wanted: PartitionRegistration, min_isr: int, unclean: tuple[int, ...]
) -> tuple[int, ...]:
    if len(wanted.isr) >= min_isr:
        return ()
    return tuple(sorted({*partition.elr, *partition.isr} - {*wanted.isr, *unclean}))


def _can_elect_last_known_leader(
    partition: PartitionRegistration, wanted: PartitionRegistration, cluster: Cluster
) -> bool:
    if not cluster.elr_enabled or wanted.isr or wanted.elr or len(partition.last_known_elr) != 1:
        return False
    return cluster.can_lead(partition, partition.last_known_elr[0])


def _isr_changes(
    partition: PartitionRegistration, wanted: PartitionRegistration, cluster: Cluster, unclean: bool
) -> dict[str, Any]:
    """An unclean election writes the ISR even where it is the same."""
    changes: dict[str, Any] = {}
    elr = wanted.elr if cluster.elr_enabled else ()
    if elr != partition.elr:
        changes["eligibleLeaderReplicas"] = list(elr)
    if unclean or (wanted.isr != partition.isr and (wanted.isr or cluster.elr_enabled)):
        changes["isr"] = list(wanted.isr)
    return changes


def _last_known_leader(partition: PartitionRegistration, leader: int, cluster: Cluster) -> dict[str, Any]:
    if not cluster.elr_enabled:
        return {}
    if leader == NO_LEADER and partition.leader != NO_LEADER and not partition.last_known_elr:
        return {"lastKnownElr": [partition.leader]}
    return {"lastKnownElr": []} if leader >= 0 and partition.last_known_elr else {}


def _assignment_changes(
    partition: PartitionRegistration, wanted: PartitionRegistration, target: Target, cluster: Cluster
) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    known = dict(zip(partition.replicas, partition.directories, strict=True)) | dict(target.directories)
    directories = [known.get(replica) or cluster.default_directory(replica) for replica in wanted.replicas]
    if cluster.metadata_version >= IBP_3_7_IV2 and tuple(directories) != partition.directories:
        changes["directories"] = directories
    for field, attribute in _ASSIGNMENT_FIELDS.items():
        if getattr(wanted, attribute) != getattr(partition, attribute):
            changes[field] = list(getattr(wanted, attribute))
    return changes


def _must_bump_leader_epoch(
    partition: PartitionRegistration, wanted: PartitionRegistration, change: Mapping[str, Any], cluster: Cluster
) -> bool:
    """A replica was removed, or before 3.6 the ISR shrank, and the leader is not set anyway."""
    if "leader" in change:
        return False
    shrunk_isr = "isr" in change and not set(change["isr"]).issuperset(partition.isr)
    removed = not set(wanted.replicas).issuperset(partition.replicas)
    return removed or (shrunk_isr and cluster.metadata_version < IBP_3_6_IV0)


_ASSIGNMENT_FIELDS = {
    "replicas": "replicas",
    "removingReplicas": "removing_replicas",
    "addingReplicas": "adding_replicas",
}


def _without(replicas: tuple[int, ...], removed: Collection[int]) -> tuple[int, ...]:
    return tuple(replica for replica in replicas if replica not in removed)


def _is_online(directory: str, online: tuple[str, ...]) -> bool:
    if directory in (DIRECTORY_UNASSIGNED, DIRECTORY_MIGRATING):
        return True
    if directory == DIRECTORY_LOST:
        return False
    return not online or directory in online
