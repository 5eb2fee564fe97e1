"""Topics and partitions as the metadata log describes them.

A partition's state changes only by PartitionChangeRecords, each of which names what it changes: the partition epoch
rises with every one, the leader epoch with those that set a leader, even to the same broker. Replicas and
directories are parallel: ``directories[i]`` is the log dir that broker ``replicas[i]`` keeps the partition in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.uuid import DIRECTORY_MIGRATING
from kafkapy.metadata.features import IBP_3_7_IV2, IBP_4_0_IV1
from kafkapy.metadata.records import new_record

NO_LEADER = -1
NO_LEADER_CHANGE = -2

RECOVERED = 0
RECOVERING = 1
NO_RECOVERY_CHANGE = -1


class PartitionRegistration(NamedTuple):
    replicas: tuple[int, ...]
    directories: tuple[str, ...]
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    leader: int = NO_LEADER
    leader_recovery_state: int = RECOVERED
    leader_epoch: int = 0
    partition_epoch: int = 0

    @property
    def preferred_replica(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def is_reassigning(self) -> bool:
        return bool(self.removing_replicas or self.adding_replicas)

    def directory(self, replica: int) -> str:
        """The directory id of a replica."""
        return self.directories[self.replicas.index(replica)]


class TopicImage(NamedTuple):
    name: str
    id: str
    partitions: Mapping[int, PartitionRegistration]


def partition_from_record(value: Value) -> PartitionRegistration:
    """The registration in a PartitionRecord."""
    replicas = tuple(value["replicas"])
    return PartitionRegistration(
        replicas,
        _directories(value["directories"], replicas),
        tuple(value["isr"]),
        tuple(value["removingReplicas"]),
        tuple(value["addingReplicas"]),
        tuple(value["eligibleLeaderReplicas"] or ()),
        tuple(value["lastKnownElr"] or ()),
        value["leader"],
        _recovery_state(value["leaderRecoveryState"]),
        value["leaderEpoch"],
        value["partitionEpoch"],
    )


def merge(partition: PartitionRegistration, change: Value) -> PartitionRegistration:
    """The registration after a PartitionChangeRecord, in which null and -2 say: as it was."""
    changed = {
        attribute: tuple(change[field]) for attribute, field in _LIST_CHANGES.items() if change.get(field) is not None
    }
    replicas = changed.get("replicas", partition.replicas)
    leader = change.get("leader", NO_LEADER_CHANGE)
    recovery = change.get("leaderRecoveryState", NO_RECOVERY_CHANGE)
    return partition._replace(
        **changed | {"directories": _directories(changed.get("directories", partition.directories), replicas)},
        leader=partition.leader if leader == NO_LEADER_CHANGE else leader,
        leader_epoch=partition.leader_epoch + (leader != NO_LEADER_CHANGE),
        leader_recovery_state=(
            partition.leader_recovery_state if recovery == NO_RECOVERY_CHANGE else _recovery_state(recovery)
        ),
        partition_epoch=partition.partition_epoch + 1,
    )


def partition_record(
    topic_id: str, partition_id: int, partition: PartitionRegistration, metadata_version: int
) -> MetadataRecord:
    value: Value = {
        "partitionId": partition_id,
        "topicId": topic_id,
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "removingReplicas": list(partition.removing_replicas),
        "addingReplicas": list(partition.adding_replicas),
        "leader": partition.leader,
        "leaderRecoveryState": partition.leader_recovery_state,
        "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch,
    }
    if metadata_version >= IBP_3_7_IV2:
        value["directories"] = list(partition.directories)
    if partition.elr:
        value["eligibleLeaderReplicas"] = list(partition.elr)
    if partition.last_known_elr:
        value["lastKnownElr"] = list(partition.last_known_elr)
    return new_record("PartitionRecord", partition_record_version(metadata_version), value)


def partition_record_version(metadata_version: int) -> int:
    """The version of PartitionRecord, and of PartitionChangeRecord, at a metadata.version."""
    if metadata_version >= IBP_4_0_IV1:
        return 2
    return 1 if metadata_version >= IBP_3_7_IV2 else 0


def topic_record(name: str, topic_id: str) -> MetadataRecord:
    return new_record("TopicRecord", 0, {"name": name, "topicId": topic_id})


def topic_records(topic: TopicImage, metadata_version: int) -> Iterator[MetadataRecord]:
    """The topic and its partitions, as a snapshot has them."""
    yield topic_record(topic.name, topic.id)
    for partition_id in sorted(topic.partitions):
        yield partition_record(topic.id, partition_id, topic.partitions[partition_id], metadata_version)


_LIST_CHANGES = {
    "replicas": "replicas",
    "directories": "directories",
    "isr": "isr",
    "removing_replicas": "removingReplicas",
    "adding_replicas": "addingReplicas",
    "elr": "eligibleLeaderReplicas",
    "last_known_elr": "lastKnownElr",
}


def _directories(directories: list[str] | tuple[str, ...], replicas: tuple[int, ...]) -> tuple[str, ...]:
    """None given, or all of them unknown, means one unknown a replica."""
    if all(directory == DIRECTORY_MIGRATING for directory in directories):
        return (DIRECTORY_MIGRATING,) * len(replicas)
    if len(directories) != len(replicas):
        raise FormatError("The lengths for replicas and directories do not match.")
    return tuple(directories)


def _recovery_state(value: int) -> int:
    if value not in (RECOVERED, RECOVERING):
        raise FormatError(f"Value {value} is not a valid leader recovery state")
    return value
