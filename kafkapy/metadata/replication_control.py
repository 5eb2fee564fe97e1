"""Electing leaders and moving replicas on request."""

from __future__ import annotations

from kafkapy.errors import KafkaError
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata.changes import AssignReplicaToDir, ElectLeader, Reassign
from kafkapy.metadata.config_control import UNCLEAN_LEADER_ELECTION_ENABLE, min_isr, topic_config
from kafkapy.metadata.elections import ONLINE, PREFERRED, UNCLEAN, Cluster, Target, partition_change
from kafkapy.metadata.features import IBP_3_7_IV2
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topic_control import check_manual_assignment
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration


def elect_leader(image: MetadataImage, cluster: Cluster, change: ElectLeader) -> list[MetadataRecord]:
    topic = image.topics.get(change.topic)
    if topic is None:
        raise KafkaError("UnknownTopicOrPartitionException", f"No such topic as {change.topic}")
    partition = topic.partitions.get(change.partition)
    if partition is None:
        raise KafkaError("UnknownTopicOrPartitionException", f"No such partition as {topic.name}-{change.partition}")
    preferred = change.election == PREFERRED
    if partition.leader == partition.preferred_replica if preferred else partition.leader != NO_LEADER:
        raise KafkaError("ElectionNotNeededException", "Leader election not needed for topic partition.")
    isr = min_isr(image, topic.name)
    record = partition_change(topic.id, change.partition, partition, cluster, min_isr=isr, election=change.election)
    if record is not None:
        return [record]
    if preferred:
        raise KafkaError("PreferredLeaderNotAvailableException", "The preferred leader was not available.")
    raise KafkaError("EligibleLeadersNotAvailableException", "Eligible topic partition leaders are not available.")


def reassign(image: MetadataImage, cluster: Cluster, change: Reassign) -> list[MetadataRecord]:
    topic = image.topics.get(change.topic)
    if topic is None:
        raise KafkaError("UnknownTopicOrPartitionException", f"Unable to find a topic named {change.topic}.")
    partition = topic.partitions.get(change.partition)
    if partition is None:
        place = f"{change.topic}:{change.partition}"
        raise KafkaError("UnknownTopicOrPartitionException", f"Unable to find partition {place}.")
    election = ONLINE
    if change.replicas is None:
        unclean = topic_config(image, topic.name, UNCLEAN_LEADER_ELECTION_ENABLE, "false") == "true"
        election = UNCLEAN if unclean else ONLINE
        target = _reverted(partition, change, unclean)
    else:
        check_manual_assignment(cluster, change.replicas, None)
        target = _reassigned(partition, change.replicas)
    isr = min_isr(image, topic.name)
    record = partition_change(
        topic.id, change.partition, partition, cluster, min_isr=isr, election=election, target=target
    )
    return [] if record is None else [record]


def assign_replica_to_dir(image: MetadataImage, cluster: Cluster, change: AssignReplicaToDir) -> list[MetadataRecord]:
    """A broker says where it keeps a replica; before 3.7 the metadata does not know."""
    if image.metadata_version < IBP_3_7_IV2:
        raise KafkaError("UnsupportedVersionException", "Directory assignment is not supported yet.")
    topic = image.topics.get(change.topic)
    partition = None if topic is None else topic.partitions.get(change.partition)
    if topic is None or partition is None:
        raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
    if change.broker_id not in partition.replicas:
        place = f"{change.topic}-{change.partition}"
        raise KafkaError("NotLeaderOrFollowerException", f"broker {change.broker_id} has no replica of {place}")
    target = Target(directories={change.broker_id: change.directory})
    record = partition_change(
        topic.id, change.partition, partition, cluster, min_isr=min_isr(image, topic.name), target=target
    )
    return [] if record is None else [record]


def _reassigned(partition: PartitionRegistration, replicas: tuple[int, ...]) -> Target:
    """Old replicas stay behind the new ones until these have caught up."""
    removing = tuple(sorted(set(partition.replicas) - set(replicas)))
    adding = tuple(sorted(set(replicas) - set(partition.replicas)))
    return Target(replicas=replicas + removing, removing=removing or None, adding=adding or None)


def _reverted(partition: PartitionRegistration, change: Reassign, unclean: bool) -> Target:
    if not partition.is_reassigning:
        raise KafkaError("NoReassignmentInProgressException", "No partition reassignment is in progress.")
    adding = partition.adding_replicas
    replicas = tuple(replica for replica in partition.replicas if replica not in adding)
    isr = tuple(replica for replica in partition.isr if replica not in adding)
    if not isr and not replicas:
        raise KafkaError(
            "InvalidReplicaAssignmentException", "Invalid replica assignment: addingReplicas contains all replicas."
        )
    if not isr and not unclean:
        raise KafkaError(
            "InvalidReplicaAssignmentException",
            f"Unable to revert partition assignment for {change.topic}:{change.partition} because it would require "
            "an unclean leader election.",
        )
    return Target(isr=isr or replicas[:1], replicas=replicas, removing=(), adding=())
