"""A cluster that is there as files: its log dirs, every partition in them, and what its metadata says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.doctor.finding import Finding, error, info, warning
from kafkapy.doctor.log_dir_files import check_log_dir, is_stopped
from kafkapy.doctor.metadata_health import check_metadata
from kafkapy.doctor.partition_files import check_partition
from kafkapy.doctor.replica_health import check_replicas
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import quorum_state
from kafkapy.metadata.metadata_log import DIRECTORY_NAME

Advance = Callable[[int], None]


def check_files(cluster: LogDirsCluster, where: str, is_quick: bool, advance: Advance) -> Iterator[Finding]:
    """All problems of the log dirs of all brokers; ``advance`` is told the bytes of logs that were looked at."""
    everywhere = LogDirsCluster(*cluster.every_log_dir)  # a cluster directory shows the brokers that run only
    dirs, down = everywhere.dirs, _down(cluster)
    for broker, state in down.items():
        yield warning(f"broker {broker}", f"is {state}", f"kafkapy cluster start-broker {broker} {where}")
    for log_dir in dirs.paths:
        yield from check_log_dir(log_dir, dirs, down, where)
        yield from _quorum_state(log_dir)
    diff = cluster.replica_diff()
    for partition in sorted(dirs.replicas):
        repair = f"kafkapy replica-diff {partition.topic}:{partition.partition} {where} --repair-plan"
        for replica in dirs.replicas[partition]:
            reader = dirs.reader(replica)
            try:
                yield from check_partition(reader, is_stopped(replica.log_dir), is_quick, repair)
            except (KafkapyError, OSError) as problem:
                yield error(replica.path, f"cannot be read: {problem}", repair)
            advance(reader.size)
        if not is_quick:
            yield from check_replicas(diff, partition, where)
    yield from _metadata(cluster, where)


def size_of(cluster: LogDirsCluster) -> int:
    """How many bytes of logs there are to look at."""
    dirs = LogDirsCluster(*cluster.every_log_dir).dirs
    return sum(dirs.reader(replica).size for found in dirs.replicas.values() for replica in found)


def _down(cluster: LogDirsCluster) -> dict[int | None, str]:
    """The brokers of a cluster directory that do not run, and what they are."""
    if not isinstance(cluster, DirectoryReader):
        return {}
    brokers, alive = cluster.cluster_file.brokers, cluster.brokers.alive
    return {each.id: each.state.state for each in brokers if each.id not in alive}


def _quorum_state(log_dir: str) -> Iterator[Finding]:
    path = os.path.join(log_dir, DIRECTORY_NAME, quorum_state.FILE_NAME)
    try:
        with open(path, "rb") as file:
            quorum_state.decode(file.read())
    except FileNotFoundError:
        return
    except FormatError as problem:
        yield error(path, f"is damaged: {problem}", f"rm {path} while the node is stopped: it votes anew")


def _metadata(cluster: LogDirsCluster, where: str) -> Iterator[Finding]:
    try:
        has_metadata = cluster.has_metadata
    except (KafkapyError, OSError) as problem:
        yield error(METADATA_TOPIC, f"cannot be read: {problem}", f"kafkapy replica-diff {METADATA_TOPIC}:0 {where}")
        return
    if not has_metadata:
        yield info(METADATA_TOPIC, "is in none of the log dirs: leaders and replicas are not known")
        return
    given = {broker for broker in LogDirsCluster(*cluster.every_log_dir).dirs.broker_ids.values() if broker is not None}
    absent = sorted({*cluster.image().brokers} - given)
    if absent:
        text = f"brokers {', '.join(map(str, absent))} have no log dir here: their copies are not looked at"
        yield info("log dirs", text, "name their log dirs, too")
    alive = cluster.brokers.alive if isinstance(cluster, DirectoryReader) else cluster.live_brokers
    yield from check_metadata(cluster, alive, False, where)
