"""Reassignments of a cluster directory: begun, played to their end, and taken back.

``start`` writes what Kafka's controller writes: replicas are the target and those to be removed, and the directories of
new replicas are made, empty. ``play`` is what running brokers do from then on: new replicas fetch what the leader has
and come into the ISR; the change that brings the last of them there also ends the reassignment, elects a leader from
the target if need be, and lets the old replicas go with their data. Who joins has synced before anybody goes.

Replicas for which the plan names another log dir of their broker are copied there (log_dir_moves.py).

Killed at any point, the metadata says which partitions are on their way: started again, each goes on from what it has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.log_dir_moves import directory_id, find_log_dir, finish_move, start_moves
from kafkapy.backends.plan_checks import EXISTING, check_brokers, check_partitions, refusal, terse
from kafkapy.backends.replica_control import Copied
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AssignReplicaToDir, Change, Reassign
from kafkapy.metadata.elections import Cluster
from kafkapy.metadata.features import IBP_3_7_IV2
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.metadata.reassignment.under_way import reassignments_under_way
from kafkapy.metadata.reassignment.verification import is_going_on, targets_of
from kafkapy.metadata.replication_control import reassign
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from kafkapy.replication.broker_state import RUNNING
from kafkapy.replication.partition import ReplicatedPartition


def check(cluster: DirectoryCluster, plan: Reassignment, additional: bool = False) -> None:
    """Refuse what cannot be executed here. A plan that is under way already may be executed again, to go on."""
    under_way = reassignments_under_way(cluster.image())
    if under_way and not additional and not is_going_on(under_way, plan.replicas):
        raise terse(EXISTING)
    check_brokers(cluster.image(), cluster.brokers.alive, plan.replicas)
    check_partitions(cluster.image(), plan.replicas)
    for (partition, broker), path in sorted(plan.log_dirs.items()):
        if broker not in cluster.brokers.alive:
            _check_stays(partition, broker, path)
        elif find_log_dir(cluster, broker, path) is None:
            raise KafkaError(
                "AdminCommandFailedException",
                f"Failed to alter dir for {partition}-{broker}: Log dir {path} is not found in the config.",
            )


def _check_stays(partition: TopicPartition, broker: int, path: str) -> None:
    """A broker that is down cannot move what it has, but keep it."""
    if not os.path.isdir(os.path.join(path, str(partition))):
        raise KafkaError(
            "AdminCommandFailedException",
            f"Failed to alter dir for {partition}-{broker}: broker {broker} is down, and the replica is not in {path}.",
        )


def check_accepted(cluster: DirectoryCluster, plan: Assignment, allow_factor_change: bool = True) -> None:
    """Refuse a plan of which the controller would refuse anything, or that moves what is lost: new replicas would have
    nobody to fetch from, and look like a partition without records. Then none of it is done."""
    image = cluster.image()
    controller = Cluster(image.brokers, cluster.brokers.alive, image.metadata_version, image.is_elr_enabled)
    refused: dict[TopicPartition, KafkaError] = {}
    for partition, replicas in sorted(plan.items()):
        try:
            reassign(image, controller, Reassign(*partition, replicas))
            state = cluster.places.registration(partition)
            _check_can_replace(state, replicas)
            before = len(targets_of(state))
            if not allow_factor_change and before != len(replicas):
                message = f"The replication factor is changed from {before} to {len(replicas)}"
                raise KafkaError("InvalidReplicationFactorException", message)
            if partition in cluster.places.lost:
                raise KafkaError("KafkaStorageException", cluster.places.lost[partition])
        except KafkaError as error:
            refused[partition] = error
    if refused:
        raise refusal("Error reassigning partition(s):", refused)


def start(cluster: DirectoryCluster, plan: Reassignment) -> None:
    """Begin the moves of a plan between brokers, then those between log dirs."""
    start_reassignments(cluster, plan)
    start_moves(cluster, plan.log_dirs)


def start_reassignments(cluster: DirectoryCluster, plan: Reassignment) -> None:
    """Begin to move partitions, all or none, new replicas to where the plan wants them; those that are under way or
    done stay as they are."""
    before = {partition: cluster.places.registration(partition) for partition in plan.replicas}
    changes: list[Change] = []
    for partition, replicas in sorted(plan.replicas.items()):
        state = before[partition]
        if _must_be_taken_back(state, replicas):
            changes.append(Reassign(*partition, None))
        changes.append(Reassign(*partition, replicas))
        if cluster.image().metadata_version >= IBP_3_7_IV2:
            added = {
                broker: plan.log_dirs.get((partition, broker)) for broker in replicas if broker not in state.replicas
            }
            changes += [
                AssignReplicaToDir(*partition, broker, directory_id(cluster, broker, path))
                for broker, path in added.items()
                if path is not None
            ]
    cluster.apply(*changes)


def _must_be_taken_back(state: PartitionRegistration, replicas: tuple[int, ...]) -> bool:
    """A reassignment under way that is to go elsewhere: the controller would wait for replicas that it removes."""
    return state.is_reassigning and targets_of(state) != replicas and bool(_in_sync_before(state))


def _check_can_replace(state: PartitionRegistration, replicas: tuple[int, ...]) -> None:
    """Where what is under way cannot be taken back, Kafka's controller writes over it, but for what is empty: if nobody
    is to be added now, it goes on to wait for those of before, also for one that it removes; if nobody is to be
    removed, it goes on to remove those of before, also one that is wanted."""
    if _in_sync_before(state) or not state.is_reassigning:
        return
    adding = set(replicas).difference(state.replicas) or set(state.adding_replicas)
    removing = set(state.replicas).difference(replicas) or set(state.removing_replicas)
    waits_for, removes = adding.difference(replicas), removing.intersection(replicas)
    if waits_for or removes:
        what = f"wait for broker {_numbers(waits_for)} forever" if waits_for else f"remove {_numbers(removes)}"
        old = _numbers(set(state.replicas).difference(state.adding_replicas))
        raise KafkaError(
            "InvalidReplicaAssignmentException",
            f"the move under way, to {','.join(map(str, targets_of(state)))}, cannot be taken back while none of {old} "
            f"is in sync, and with this one the controller would {what}. Bring one of {old} into the ISR first.",
        )


def _numbers(brokers: Iterable[int]) -> str:
    return ",".join(map(str, sorted(brokers)))


def _in_sync_before(state: PartitionRegistration) -> set[int]:
    """Who is in sync of the replicas from before the move."""
    return set(state.isr).difference(state.adding_replicas)


def play(
    cluster: DirectoryCluster, partitions: Iterable[TopicPartition], copied: Copied = lambda _: None
) -> dict[TopicPartition, str]:
    """Let replicas fetch until nothing of these partitions is under way; those that cannot get there, and why. What new
    replicas have already counts as ``copied``."""
    stalled: dict[TopicPartition, str] = {}
    for partition in sorted(partitions):
        with cluster.replicating(partition) as replicated:
            why = _play_reassignment(cluster, replicated, copied)
            for broker in tuple(cluster.places.registration(partition).replicas):
                finish_move(cluster, partition, broker, copied)
        if why is not None:
            stalled[partition] = why
    return stalled


def _play_reassignment(cluster: DirectoryCluster, replicated: ReplicatedPartition, copied: Copied) -> str | None:
    _elect(cluster, replicated)
    held, before = _held(replicated), None
    copied(sum(held.get(broker, 0) for broker in replicated.registration.adding_replicas))
    while replicated.registration.is_reassigning:
        if replicated.leader is None:
            return "it has no leader"
        replicated.fetch_round(cluster.now)
        held, last = _held(replicated), held
        copied(sum(max(0, size - last.get(broker, size)) for broker, size in held.items()))
        before, state = (held, replicated.registration), before
        if before == state and replicated.registration.is_reassigning:
            return _why_stalled(cluster, replicated.registration)
    return None


def _elect(cluster: DirectoryCluster, replicated: ReplicatedPartition) -> None:
    """Brokers that were stopped leave no leader, and who only acts as one cannot ask for an ISR."""
    registration = cluster.places.registration(replicated.partition)
    if registration.is_reassigning and registration.leader == NO_LEADER:
        cluster.apply(Reassign(*replicated.partition, targets_of(registration)))


def _held(replicated: ReplicatedPartition) -> dict[int, int]:
    """The bytes of each replica."""
    return {broker: replica.log.size for broker, replica in replicated.replicas.items()}


def _why_stalled(cluster: DirectoryCluster, registration: PartitionRegistration) -> str:
    idle = [broker for broker in targets_of(registration) if broker not in registration.isr]
    states = [f"broker {each} is {cluster.brokers[each].state}" for each in idle if each in cluster.brokers.known]
    return ", ".join(each for each in states if not each.endswith(RUNNING)) or "its replicas do not catch up"


def cancel(cluster: DirectoryCluster, partitions: Iterable[TopicPartition]) -> None:
    """Take reassignments under way back, all or none: what was added goes again."""
    wanted, refused = sorted(partitions), {}
    image = cluster.image()
    controller = Cluster(image.brokers, cluster.brokers.alive, image.metadata_version, image.is_elr_enabled)
    for partition in wanted:
        try:
            reassign(image, controller, Reassign(*partition, None))
        except KafkaError as error:
            refused[partition] = error
    if refused:
        plural = "" if len(refused) == 1 else "s"
        raise refusal(f"Error cancelling partition reassignment{plural} for:", refused)
    cluster.apply(*(Reassign(*partition, None) for partition in wanted))
