"""A cluster that is there as files: its log dirs, every partition in them, and what its metadata says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from shlex import quote

from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.file_replica_diff import is_given, left_out, missing_copies
from kafkapy.backends.log_dir_lock import holder_of
from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.backends.lost_replicas import stray_copies
from kafkapy.backends.replicas import LogDirs, Replica
from kafkapy.doctor.disks import check_disks
from kafkapy.doctor.expected_identity import expected_identities
from kafkapy.doctor.finding import Finding, Severity, error, info, warning
from kafkapy.doctor.log_dir_files import check_log_dir, is_stopped
from kafkapy.doctor.metadata_health import check_metadata
from kafkapy.doctor.partition_files import check_partition
from kafkapy.doctor.preferred_leaders import check_preferred_leaders
from kafkapy.doctor.replica_health import check_replicas, missing
from kafkapy.doctor.running_brokers import running_brokers
from kafkapy.doctor.unreadable import readable, unreadable
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import quorum_state
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.metadata_damage import what_to_do
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.near_misses import listed

Advance = Callable[[int], None]
WRITING = ("kafkapy cluster start-broker ", "kafkapy cluster replicate ", "kafkapy leader-election ")


def check_files(cluster: LogDirsCluster, where: str, is_quick: bool, advance: Advance) -> Iterator[Finding]:
    """All problems of the log dirs of all brokers, each told once; ``advance`` is told the bytes of logs that were
    looked at."""
    told: set[Finding] = set()
    before = _before_writing(cluster)
    for found in _found(cluster, where, is_quick, advance):
        if found not in told:
            told.add(found)
            writes = any(command in found.remedy for command in WRITING)
            yield found._replace(remedy=f"{before}{found.remedy}") if writes else found


def _before_writing(cluster: LogDirsCluster) -> str:
    """What has to be done before a command can write to a cluster directory: nothing, unless brokers run on it."""
    if not isinstance(cluster, DirectoryReader):
        return ""
    dirs = cluster.everywhere().dirs
    running = {broker for path, broker in dirs.broker_ids.items() if broker is not None and holder_of(path)}
    if not running:
        return ""
    names = f"broker{'' if len(running) == 1 else 's'} {listed(running)}"
    others = [each.id for each in cluster.cluster_file.brokers if each.id not in running]
    mended = f"start the other brokers, too ({listed(others)})" if others else "the brokers that run may mend it"
    return f"{mended}, or stop {names} first, then: "


def _found(cluster: LogDirsCluster, where: str, is_quick: bool, advance: Advance) -> Iterator[Finding]:
    dirs, down = cluster.everywhere().dirs, _down(cluster)
    for broker, state in down.items():
        yield warning(f"broker {broker}", f"is {state}", f"kafkapy cluster start-broker {broker} {where}")
    yield from readable(check_disks(dirs.paths, where), where)
    identities, wanted = _identities(cluster), _wanted(cluster, dirs)
    for log_dir in dirs.paths:
        yield from check_log_dir(log_dir, dirs, down, where, identities.get(log_dir), wanted)
        yield from readable(_quorum_state(log_dir), log_dir)
    diff = cluster.replica_diff()
    for partition in sorted(dirs.replicas):
        repair = f"kafkapy replica-diff {partition.topic}:{partition.partition} {where} --repair-plan"
        yield from readable(_twice(dirs, partition), str(partition))
        findings = _copies(dirs, partition, is_quick, repair, advance)
        if not is_quick:
            findings = chain(findings, check_replicas(diff, partition, where))
        yield from _without(_damaged_places(cluster), findings) if partition.topic == METADATA_TOPIC else findings
    yield from _metadata(cluster, dirs, where)


def _copies(
    dirs: LogDirs, partition: TopicPartition, is_quick: bool, repair: str, advance: Advance
) -> Iterator[Finding]:
    for replica in dirs.replicas[partition]:
        yield from readable(_partition(dirs, replica, is_quick, repair, advance), replica.path)


def _damaged_places(cluster: LogDirsCluster) -> set[str]:
    """The file, and its directory, of the damage that ``_metadata`` tells with what to do about it."""
    try:
        damage = cluster.everywhere().metadata_damage
    except (KafkapyError, OSError):
        return set()
    if damage is None:
        return set()
    return {damage.path, damage.path if os.path.isdir(damage.path) else os.path.dirname(damage.path)}


def _without(places: Collection[str], findings: Iterable[Finding]) -> Iterator[Finding]:
    """What is wrong elsewhere, or no loss."""
    return (found for found in findings if found.severity is not Severity.ERROR or found.place not in places)


def _twice(dirs: LogDirs, partition: TopicPartition) -> Iterator[Finding]:
    """Directories of a replica that its broker has in another log dir, too; of a broker that runs it is a move."""
    first: dict[int, Replica] = {}
    for replica in dirs.replicas[partition]:
        broker = dirs.broker_ids[replica.log_dir]
        if broker is None or replica.is_future:
            continue
        other = first.setdefault(broker, replica)
        if other is not replica and holder_of(replica.log_dir) is None:
            shorter = min(replica, other, key=lambda each: dirs.reader(each).log_end_offset)
            remedy = f"move the one that ends first out of its log dir: mv {quote(shorter.path)} /somewhere/else"
            yield error(replica.path, f"is also in {other.log_dir}: broker {broker} does not start with both", remedy)


def _partition(dirs: LogDirs, replica: Replica, is_quick: bool, repair: str, advance: Advance) -> Iterator[Finding]:
    reader = dirs.reader(replica)
    try:
        yield from check_partition(reader, is_stopped(replica.log_dir), is_quick, repair)
    except KafkapyError as problem:
        yield error(replica.path, f"cannot be read: {problem}", repair)
    advance(reader.size)


def size_of(cluster: LogDirsCluster) -> int:
    """How many bytes of logs there are to look at, of those that can be read."""
    dirs = cluster.everywhere().dirs
    return sum(_size(dirs, replica) for found in dirs.replicas.values() for replica in found)


def _size(dirs: LogDirs, replica: Replica) -> int:
    try:
        return dirs.reader(replica).size
    except OSError:
        return 0


def _identities(cluster: LogDirsCluster) -> dict[str, MetaProperties]:
    """What log dirs of a cluster directory that do not say who they are should say."""
    try:
        image = cluster.everywhere().image()
    except (KafkapyError, OSError):
        return {}
    if not isinstance(cluster, DirectoryReader):
        return {}
    return expected_identities(cluster.directory, cluster.cluster_file, image)


def _wanted(cluster: LogDirsCluster, dirs: LogDirs) -> set[TopicPartition] | None:
    """The partitions of the metadata of which no copy is here; None where it is not whole, and any may be wanted."""
    try:
        if cluster.everywhere().metadata_damage is not None:
            return None
        topics = cluster.image().topics if cluster.has_metadata else {}
    except (KafkapyError, OSError):
        return None
    named = {TopicPartition(name, number) for name, topic in topics.items() for number in topic.partitions}
    return named - dirs.replicas.keys()


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
        yield error(path, f"is damaged: {problem}", f"rm {quote(path)} while the node is stopped: it votes anew")


def _metadata(cluster: LogDirsCluster, dirs: LogDirs, where: str) -> Iterator[Finding]:
    try:
        has_metadata = cluster.has_metadata
    except OSError as problem:
        yield unreadable(problem, METADATA_TOPIC)
        return
    except KafkapyError as problem:
        yield error(METADATA_TOPIC, f"cannot be read: {problem}", f"kafkapy replica-diff {METADATA_TOPIC}:0 {where}")
        return
    whole = cluster.everywhere()  # as who writes looks at it, and refuses
    damage = whole.metadata_damage
    if damage is not None:
        text = f"is damaged at byte {damage.position}: {damage.reason}; what changed after that is not known"
        yield error(damage.path, text, what_to_do(damage, whole.has_metadata_records))
    if not has_metadata and damage is None:
        yield info(METADATA_TOPIC, "is in none of the log dirs: leaders and replicas are not known")
    if not has_metadata:
        return
    given = {broker for broker in dirs.broker_ids.values() if broker is not None}
    absent = sorted({*cluster.image().brokers} - given)
    if absent:
        who, has, whose = ("broker", "has", "its") if len(absent) == 1 else ("brokers", "have", "their")
        text = f"{who} {', '.join(map(str, absent))} {has} no log dir here: {whose} copies are not looked at"
        yield info("log dirs", text, f"name {whose} log dirs, too")
    for broker in sorted(given):
        if left_out(cluster.everywhere(), broker):
            text = f"not all of broker {broker} are here: copies in the others are not looked at"
            yield info("log dirs", text, "name its other log dirs, too")
    yield from _without_any_copy(cluster, dirs, where)
    running = running_brokers(cluster)
    fetching = cluster.brokers.fetching if isinstance(cluster, DirectoryReader) else running
    yield from check_metadata(cluster, running, fetching, False, where)
    if isinstance(cluster, DirectoryReader):
        yield from check_preferred_leaders(cluster.image(), cluster.brokers.alive, where)


def _without_any_copy(cluster: LogDirsCluster, dirs: LogDirs, where: str) -> Iterator[Finding]:
    """Partitions whose replicas should all be here, and none is."""
    for name, topic in sorted(cluster.image().topics.items()):
        for number, registration in sorted(topic.partitions.items()):
            partition = TopicPartition(name, number)
            if partition in dirs.replicas:
                continue
            if all(is_given(cluster.everywhere(), registration, each) for each in registration.replicas):
                gone = missing_copies(cluster.everywhere(), partition, registration, registration.replicas)
                stray = next(iter(stray_copies(dirs, partition, topic.id, registration.replicas)), None)
                path = None if stray is None else stray.directory
                for broker, each in gone.items():
                    yield missing(partition, broker, each._replace(aside=path), where)
