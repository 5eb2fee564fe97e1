"""The copies of partitions in a set of log dirs, compared.

Nothing is locked and nothing is written: log dirs of a running broker may be a little apart, as replicas are.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from kafkapy.backends.log_configs import log_config
from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.backends.replica_diff import Advance, Copy, MissingCopy, PartitionReport, diff_copies
from kafkapy.backends.replicas import Replica
from kafkapy.errors import FormatError
from kafkapy.formats import offset_checkpoint
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry
from kafkapy.log.checkpoints import read_checkpoint
from kafkapy.log.leader_epochs import read_epochs
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.replica_comparison import torn_bytes
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

NONE: Mapping[int | None, str] = {}


class FileReplicaDiff:
    """``not_fetching`` are brokers that are known not to fetch, and what they are: killed, for one."""

    where = "the given log dirs"

    def __init__(self, cluster: LogDirsCluster, not_fetching: Mapping[int | None, str] = NONE) -> None:
        self._cluster = cluster
        self._not_fetching = not_fetching

    def partitions(self) -> list[TopicPartition]:
        return sorted(self._cluster.dirs.replicas)

    def prepare(self, partitions: Sequence[TopicPartition]) -> int:
        """All copies but the largest one are read to the end."""
        dirs = self._cluster.dirs
        return sum(sum(sorted(dirs.reader(replica).size for replica in dirs.replicas[p])[:-1]) for p in partitions)

    def diff(self, partition: TopicPartition, advance: Advance = lambda _: None) -> PartitionReport:
        cluster = self._cluster
        registration = _registration(cluster, partition)
        copies = [
            copy._replace(not_fetching=self._not_fetching.get(copy.broker_id))
            for copy in (_copy(cluster, replica, registration) for replica in cluster.dirs.replicas[partition])
        ]
        wanted_id = cluster.image().topics[partition.topic].id if registration is not None else None
        reports = diff_copies(copies, wanted_id, _compacted_to(cluster, partition, copies), advance)
        leader = None if registration is None or registration.leader == NO_LEADER else registration.leader
        without = _without_copy(cluster, partition, registration, copies)
        return PartitionReport(partition, reports, leader, *without, topic_id=wanted_id)


def missing_copies(
    cluster: LogDirsCluster, partition: TopicPartition, registration: PartitionRegistration, brokers: Collection[int]
) -> dict[int, MissingCopy]:
    """What is not there on brokers that have a log dir here, and should have a copy."""
    dirs, found = cluster.dirs, {}
    for broker in brokers:
        own = [path for path in dirs.paths if dirs.broker_ids[path] == broker]
        assigned = [path for path in own if dirs.directory_id(path) == registration.directory(broker)]
        log_dir = (assigned or own)[0]
        path = os.path.join(log_dir, str(partition))
        found[broker] = MissingCopy(path, _once_to(Replica(partition, log_dir, path), None))
    return found


def _without_copy(
    cluster: LogDirsCluster, partition: TopicPartition, registration: PartitionRegistration | None, copies: list[Copy]
) -> tuple[dict[int, MissingCopy], tuple[int, ...]]:
    """The replicas that are not here though a log dir of their broker is, and those of brokers without one here."""
    if registration is None:
        return {}, ()
    present = {copy.broker_id for copy in copies}
    given = [broker for broker in registration.replicas if is_given(cluster, registration, broker)]
    absent = [broker for broker in registration.replicas if broker not in present]
    missing = missing_copies(cluster, partition, registration, [each for each in absent if each in given])
    return missing, tuple(each for each in absent if each not in given)


def is_given(cluster: LogDirsCluster, registration: PartitionRegistration, broker: int) -> bool:
    """Whether the log dir is here in which a broker should have its copy."""
    is_known = broker in cluster.dirs.broker_ids.values()
    return is_known and registration.directory(broker) not in left_out(cluster, broker)


def left_out(cluster: LogDirsCluster, broker: int) -> set[str]:
    """The log dirs of a broker that are not here, by their ids; none where one that is here does not say its own."""
    dirs = cluster.dirs
    here = {dirs.directory_id(path) for path in dirs.paths if dirs.broker_ids[path] == broker}
    registered = cluster.image().brokers.get(broker)
    return set() if registered is None or None in here else {*registered.directories} - here


def _registration(cluster: LogDirsCluster, partition: TopicPartition) -> PartitionRegistration | None:
    topic = cluster.image().topics.get(partition.topic) if cluster.has_metadata else None
    return None if topic is None else topic.partitions.get(partition.partition)


def _copy(cluster: LogDirsCluster, replica: Replica, registration: PartitionRegistration | None) -> Copy:
    broker_id = cluster.dirs.broker_ids[replica.log_dir]
    epochs = _epochs(replica.path)
    once_to = _once_to(replica, epochs)  # before the log, which may be written to
    reader = cluster.dirs.reader(replica)
    topic, number = replica.partition
    cleaned = read_checkpoint(replica.log_dir, offset_checkpoint.CLEANER_OFFSET_FILE).get((topic, number))
    known = registration is not None and not replica.is_future
    said = registration or PartitionRegistration((), (), ())
    return Copy(
        replica,
        broker_id,
        reader,
        _topic_id(reader),
        epochs,
        cleaned,
        is_leader=known and said.leader != NO_LEADER and broker_id == said.leader,
        in_isr=known and broker_id in said.isr,
        in_elr=known and broker_id in said.elr,
        is_assigned=_is_assigned(cluster, replica, registration, broker_id),
        torn_bytes=torn_bytes(reader),
        once_to=once_to,
        committed_to=_checkpointed(replica, offset_checkpoint.HIGH_WATERMARK_FILE),
    )


def _is_assigned(
    cluster: LogDirsCluster, replica: Replica, registration: PartitionRegistration | None, broker_id: int | None
) -> bool:
    """Whether the metadata gives the broker this replica; where there is none or not all of it, or nobody knows the
    broker, it may."""
    if not cluster.has_metadata or broker_id is None or replica.partition.topic == METADATA_TOPIC:
        return True
    if cluster.metadata_damage is not None:
        return True
    return registration is not None and broker_id in registration.replicas


def _once_to(replica: Replica, epochs: tuple[EpochEntry, ...] | None) -> int:
    """How far the log went, by its last epoch and the checkpoints of what was flushed and what was committed."""
    found = [entry.start_offset for entry in (epochs or ())[-1:]]
    for name in (offset_checkpoint.RECOVERY_POINT_FILE, offset_checkpoint.HIGH_WATERMARK_FILE):
        found.append(_checkpointed(replica, name))
    return max(found, default=0)


def _checkpointed(replica: Replica, name: str) -> int:
    """What a checkpoint of its log dir says of a copy; it says nothing of one that is on its way there."""
    return 0 if replica.is_future else read_checkpoint(replica.log_dir, name).get(replica.partition, 0)


def _topic_id(reader: PartitionReader) -> str | None:
    """The topic id of a copy; None where it has none, or one that cannot be read."""
    try:
        return reader.topic_id
    except FormatError:
        return None


def _epochs(directory: str) -> tuple[EpochEntry, ...] | None:
    """The leader epochs of a copy; None where the file cannot be read."""
    try:
        return tuple(read_epochs(directory))
    except FormatError:
        return None


def _compacted_to(cluster: LogDirsCluster, partition: TopicPartition, copies: list[Copy]) -> int:
    """Below which offset compaction may have been at work, on these brokers or on one that they fetched from."""
    checkpoints = [copy.cleaned_to for copy in copies if copy.cleaned_to is not None]
    if checkpoints:
        return max(checkpoints)
    if partition.topic not in cluster.image().topics or not cluster.has_metadata:
        return 0
    if "compact" not in log_config(cluster.image(), partition.topic).cleanup_policy:
        return 0
    logs = [cluster.dirs.reader(copy.replica).segments for copy in copies]
    return max(segments[-1].base_offset if segments else 0 for segments in logs)
