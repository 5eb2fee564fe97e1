"""What coordinators do in the background: transactions past their timeout are aborted, transactional ids and offsets
that nobody has used for long are forgotten, and so are empty groups that have no offsets.

In a cluster directory that kafkapy keeps, members whose process is gone are removed from their groups, as a coordinator
does when it hears no heartbeat. In real brokers' log dirs nobody can tell, and members stay.

Each task is told at the partition of the internal topic that its record goes to. Killed in between, what was done
stands, and the rest is found due again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.group_eviction import evict_left_behind, left_behind
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.replica_maintenance import Task
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE, partition_for
from kafkapy.coordinator.offset_manager import Expired
from kafkapy.log.topic_partition import TopicPartition

ABORT_TRANSACTION = "abort transaction"
FORGET_TRANSACTIONAL_ID = "forget transactional id"
FORGET_OFFSETS = "forget offsets"
FORGET_GROUP = "forget group"
REMOVE_MEMBERS = "remove members"

_TIMED_OUT = "it is open for longer than its timeout of {} ms"
_NOT_USED = "it was not used for longer than transactional.id.expiration.ms"
_OLD_OFFSETS = "{} not needed for longer than offsets.retention.minutes"
_EMPTY_GROUP = "it has no members and no offsets"
_LEFT_BEHIND = "no process speaks for {}"


class CoordinatorTask(NamedTuple):
    """A task, and where its records go."""

    partition: TopicPartition
    task: Task


def planned(cluster: LogDirsCluster, now: int, directory: str | None) -> list[CoordinatorTask]:
    """What would be done, by partition; nothing is written. ``directory`` is the cluster directory, if it is one."""
    groups = [*_of_groups(cluster, cluster.groups().offset_manager.expired(now))]
    groups += [] if directory is None else _of_members(cluster, directory)
    return [*sorted(_of_transactions(cluster, now), key=_place), *sorted(groups, key=_place)]


def done(cluster: DirectoryCluster, now: int, directory: str | None) -> list[CoordinatorTask]:
    """Do what is due, and tell what was done. Members go last: a group that they leave empty is due the next time."""
    due = planned(cluster, now, directory)
    cluster.transactions().abort_timed_out(now)
    cluster.transactions().expire(now)
    cluster.groups().offset_manager.expire(now)
    return [each for each in due if each.task.kind != REMOVE_MEMBERS or _evict(cluster, directory, each.task.name)]


def _evict(cluster: DirectoryCluster, directory: str | None, group_id: str) -> bool:
    """Whether members went; a process may have come for the group in the meantime."""
    return directory is not None and bool(evict_left_behind(cluster.groups(), directory, group_id))


def _place(task: CoordinatorTask) -> tuple[TopicPartition, str]:
    return task.partition, task.task.name


def _of_transactions(cluster: LogDirsCluster, now: int) -> Iterator[CoordinatorTask]:
    transactions = cluster.transactions()
    for state in transactions.timed_out(now):
        yield _of_transaction(cluster, ABORT_TRANSACTION, state.transactional_id, _TIMED_OUT.format(state.timeout_ms))
    for transactional_id in transactions.expired(now):
        yield _of_transaction(cluster, FORGET_TRANSACTIONAL_ID, transactional_id, _NOT_USED)


def _of_members(cluster: LogDirsCluster, directory: str) -> Iterator[CoordinatorTask]:
    coordinator = cluster.groups()
    for group_id in coordinator.store.groups():
        if members := left_behind(coordinator, directory, group_id):
            yield _of_group(cluster, REMOVE_MEMBERS, group_id, _LEFT_BEHIND.format(", ".join(members)))


def _of_groups(cluster: LogDirsCluster, expired: Expired) -> Iterator[CoordinatorTask]:
    offsets: dict[str, list[TopicPartition]] = {}
    for group_id, partition in expired.offsets:
        offsets.setdefault(group_id, []).append(partition)
    for group_id, partitions in offsets.items():
        count = f"{len(partitions)} offset was" if len(partitions) == 1 else f"{len(partitions)} offsets were"
        yield _of_group(cluster, FORGET_OFFSETS, group_id, _OLD_OFFSETS.format(count))
    for group_id in expired.groups:
        yield _of_group(cluster, FORGET_GROUP, group_id, _EMPTY_GROUP)


def _of_group(cluster: LogDirsCluster, kind: str, group_id: str, reason: str) -> CoordinatorTask:
    return CoordinatorTask(cluster.groups().store.partition(group_id), Task(kind, group_id, 0, 0, reason))


def _of_transaction(cluster: LogDirsCluster, kind: str, transactional_id: str, reason: str) -> CoordinatorTask:
    count = len(cluster.image().topics[TRANSACTION_STATE].partitions)
    partition = TopicPartition(TRANSACTION_STATE, partition_for(transactional_id, count))
    return CoordinatorTask(partition, Task(kind, transactional_id, 0, 0, reason))
