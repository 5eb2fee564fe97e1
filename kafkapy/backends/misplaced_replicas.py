"""Replicas that lie in another log dir of their broker than the metadata says, as after a ``mv``, or in two of them, as
after a ``cp``.

A broker that finds a replica in another log dir at its start uses it there, and reports the place to the controller
(AssignReplicasToDirs). So it is here. What the checkpoints of the old log dir kept of it goes along, which a broker
would forget: the log start, without which deleted records were back, and the high watermark.

With two directories of a partition a broker does not start: somebody has to remove one. Here the one that reaches
farthest is the replica, and of those that do the one that the metadata names: a ``mv`` to another disk that was
interrupted as it removed what it had copied leaves less there. The other is set aside as ``-stray``, as it is.

The checkpoints are written first, then the metadata, then those of the old log dir. Killed in between, the next command
finds the replica where the metadata does not expect it, and does the same again, or finds it there and has no more to
do than to set copies aside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.replica_places import assigned_directory
from kafkapy.backends.replicas import LogDirs, Replica, reach
from kafkapy.metadata.changes import AssignReplicaToDir
from kafkapy.metadata.features import IBP_3_7_IV2

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.log.topic_partition import TopicPartition


def find_misplaced(cluster: DirectoryCluster) -> Iterator[str]:
    """Let the metadata know where replicas lie, so that each is there once, and tell of what was otherwise."""
    for broker_id in cluster.places.brokers:
        log_dirs = cluster.places.of_broker(broker_id)
        for partition, found in _present(log_dirs).items() if len(log_dirs) > 1 else ():
            assigned = assigned_directory(cluster.image(), partition, broker_id)
            if assigned is not None and found != [assigned] and (assigned in log_dirs or len(found) > 1):
                yield from _put_right(cluster, partition, broker_id, assigned, found)


def _present(log_dirs: Mapping[str, BrokerLogs]) -> dict[TopicPartition, list[str]]:
    found: dict[TopicPartition, list[str]] = defaultdict(list)
    for directory, logs in log_dirs.items():
        for partition in logs.present:
            found[partition].append(directory)
    return found


def _put_right(
    cluster: DirectoryCluster, partition: TopicPartition, broker_id: int, assigned: str, found: list[str]
) -> Iterator[str]:
    log_dirs, topic_id = cluster.places.of_broker(broker_id), cluster.image().topics[partition.topic].id
    own = [each for each in found if log_dirs[each].is_of(partition, topic_id)]
    if not own:
        return
    chosen = max(own, key=lambda each: (_reach(log_dirs[each], partition), each == assigned))
    if chosen != assigned and assigned in log_dirs:
        if assigned in own or assigned not in found:  # else what is kept there is of the other topic
            log_dirs[chosen].adopt(partition, log_dirs[assigned])
        if cluster.image().metadata_version >= IBP_3_7_IV2:
            cluster.apply(AssignReplicaToDir(*partition, broker_id, chosen))
        log_dirs[assigned].forget([partition])
        yield f"{log_dirs[chosen].path(partition)}: its directory was moved here, and the metadata says so now"
    for other in found:
        if other != chosen:
            path, aside = log_dirs[other].path(partition), log_dirs[other].set_aside(partition)
            yield f"{path}: set aside as {aside}: broker {broker_id} also has it in {log_dirs[chosen].log_dir}"


def _reach(logs: BrokerLogs, partition: TopicPartition) -> tuple[int, int]:
    return reach(LogDirs((logs.log_dir,)).reader(Replica(partition, logs.log_dir, logs.path(partition))))
