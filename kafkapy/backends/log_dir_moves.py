"""Moving replicas between the log dirs of a broker of a cluster directory; how that survives a crash stands in
future_replicas.py."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kafkapy.backends.broker_logs import BrokerLogs
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.future_replicas import copy_log
from kafkapy.backends.replica_control import Copied
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AssignReplicaToDir
from kafkapy.metadata.features import IBP_3_7_IV2


def start_moves(cluster: DirectoryCluster, log_dirs: Mapping[tuple[TopicPartition, int], str]) -> None:
    """Begin to move replicas to other log dirs; a broker that is down moves nothing."""
    for (partition, broker), path in sorted(log_dirs.items()):
        if broker in cluster.brokers.alive:
            start_move(cluster, partition, broker, directory_id(cluster, broker, path))


def start_move(cluster: DirectoryCluster, partition: TopicPartition, broker: int, directory: str) -> None:
    """Begin to move a replica to another log dir; back to where it lies, to give a move up."""
    log_dirs, current = cluster.places.of_broker(broker), cluster.places.directory_of(partition, broker)
    with cluster.replicating(partition):
        others = {each: logs for each, logs in log_dirs.items() if each != directory or each == current}
        for logs in others.values():
            if partition in logs.futures():
                logs.remove_future(partition)
        if directory != current:
            topic_id = cluster.image().topics[partition.topic].id
            log_dirs[directory].open_future(partition, topic_id).close(cluster.now)


def finish_move(cluster: DirectoryCluster, partition: TopicPartition, broker: int, copied: Copied) -> None:
    """Copy what is still missing, and let the copy take the replica's place."""
    log_dirs = cluster.places.of_broker(broker)
    for directory, logs in log_dirs.items() if len(log_dirs) > 1 else ():
        if partition in logs.futures():
            _copy(cluster, partition, broker, logs, copied)
            if cluster.image().metadata_version >= IBP_3_7_IV2:
                cluster.apply(AssignReplicaToDir(*partition, broker, directory))
            for old in log_dirs.values():
                if old is not logs and old.has(partition):
                    old.delete([partition])
            logs.promote_future(partition)
            cluster.replicas.reopen(partition, broker)


def _copy(
    cluster: DirectoryCluster, partition: TopicPartition, broker: int, target: BrokerLogs, copied: Copied
) -> None:
    current = cluster.replicas.partition(partition).replicas[broker].log
    future = target.open_future(partition, cluster.image().topics[partition.topic].id)
    copy_log(current, future, cluster.now, copied)
    future.close(cluster.now)
    target.keep_future_start(future)


def finish_moves(cluster: DirectoryCluster) -> None:
    """Finish all moves that are under way."""
    for partition in sorted(moves_under_way(cluster)):
        for broker in cluster.places.registration(partition).replicas:
            with cluster.replicating(partition):
                finish_move(cluster, partition, broker, lambda _: None)


def moves_under_way(cluster: DirectoryCluster) -> set[TopicPartition]:
    """The partitions with a replica that is being moved to another log dir."""
    several = [each for broker in cluster.brokers.alive if len(each := cluster.places.of_broker(broker)) > 1]
    return {partition for log_dirs in several for logs in log_dirs.values() for partition in logs.futures()}


def find_log_dir(cluster: DirectoryCluster, broker: int, path: str) -> str | None:
    """The id of a broker's log dir; None where it has no such one."""
    log_dirs = cluster.places.of_broker(broker)
    wanted = os.path.abspath(path)
    return next((each for each, logs in log_dirs.items() if os.path.abspath(logs.log_dir) == wanted), None)


def directory_id(cluster: DirectoryCluster, broker: int, path: str) -> str:
    """The id of a log dir that is known to be there."""
    found = find_log_dir(cluster, broker, path)
    assert found is not None, "the plan was checked"
    return found
