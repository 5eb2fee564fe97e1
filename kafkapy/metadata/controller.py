"""The controller: a change in, the records of the metadata log that make it out, or a KafkaError in Kafka's words.

A controller holds an image and decides on it; it writes nothing. All records of a change go into one batch, so a change
is made whole or not at all. Several changes go through one after the other, each on the image that the records of
the ones before it give (``delta.replay``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kafkapy.errors import KafkaError
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.uuid import random_uuid
from kafkapy.metadata import placement
from kafkapy.metadata.acl_control import create_acl, delete_acls
from kafkapy.metadata.broker_control import add_broker, alter_partition, lose_replicas, remove_broker
from kafkapy.metadata.changes import (
    AddBroker,
    AllocateProducerIds,
    AlterClientQuotas,
    AlterConfigs,
    AlterPartition,
    AlterScramCredential,
    AssignReplicaToDir,
    Change,
    CreateAcl,
    CreatePartitions,
    CreateTopic,
    DeleteAcls,
    DeleteTopic,
    ElectLeader,
    LoseReplicas,
    Reassign,
    RemoveBroker,
)
from kafkapy.metadata.config_control import CheckConfig, alter_configs
from kafkapy.metadata.elections import Cluster
from kafkapy.metadata.image import MetadataImage, client_quota_record, producer_ids_record
from kafkapy.metadata.placement import Draws, Placer
from kafkapy.metadata.records import new_record
from kafkapy.metadata.replication_control import assign_replica_to_dir, elect_leader, reassign
from kafkapy.metadata.security_image import scram_record
from kafkapy.metadata.topic_control import TopicControl

PRODUCER_ID_BLOCK_SIZE = 1000


class Controller:
    """``live`` are the brokers that may lead; without it those that the image shows unfenced.

    ``check_config(type, name, configs)`` raises for configs that the resource may not have. ``placer`` decides where
    replicas go, ``new_uuid`` gives topics their ids.
    """

    def __init__(
        self,
        image: MetadataImage,
        random: Draws,
        check_config: CheckConfig,
        *,
        live: Collection[int] | None = None,
        placer: Placer = placement.place,
        new_uuid: Callable[[], str] = random_uuid,
        default_partitions: int = 1,
        default_replication_factor: int = 1,
    ) -> None:
        self.image = image
        self._new_uuid = new_uuid
        self.check_config = check_config
        self.cluster = Cluster(
            image.brokers,
            active_brokers(image) if live is None else live,
            image.metadata_version,
            image.is_elr_enabled,
        )
        self._topics = TopicControl(
            image, self.cluster, random, placer, new_uuid, default_partitions, default_replication_factor
        )

    def apply(self, change: Change) -> list[MetadataRecord]:
        """The records of a change; none if everything is as it is wanted already."""
        if isinstance(change, CreateTopic):
            return self._topics.create_topic(change, self.check_config)
        if isinstance(change, CreatePartitions):
            return self._topics.create_partitions(change)
        if isinstance(change, DeleteTopic):
            return self._topics.delete_topic(change)
        if isinstance(change, AlterConfigs):
            return alter_configs(self.image, change, self.check_config)
        if isinstance(change, ElectLeader):
            return elect_leader(self.image, self.cluster, change)
        if isinstance(change, Reassign):
            return reassign(self.image, self.cluster, change)
        if isinstance(change, AssignReplicaToDir):
            return assign_replica_to_dir(self.image, self.cluster, change)
        if isinstance(change, AlterPartition):
            return alter_partition(self.image, self.cluster, change)
        if isinstance(change, LoseReplicas):
            return lose_replicas(self.image, self.cluster, change)
        if isinstance(change, RemoveBroker):
            return remove_broker(self.image, self.cluster, change)
        if isinstance(change, AddBroker):
            return add_broker(self.image, self.cluster, change)
        if isinstance(change, AlterClientQuotas):
            return _alter_quotas(change, self.image.client_quotas.get(change.entity, {}))
        if isinstance(change, AlterScramCredential):
            return _alter_scram(change, self.image)
        if isinstance(change, CreateAcl):
            return create_acl(self.image, change, self._new_uuid)
        if isinstance(change, DeleteAcls):
            return delete_acls(self.image, change)
        return _allocate_producer_ids(change, self.image)


def active_brokers(image: MetadataImage) -> frozenset[int]:
    """The brokers that are neither fenced nor shutting down."""
    return frozenset(
        broker.id for broker in image.brokers.values() if not broker.fenced and not broker.in_controlled_shutdown
    )


def _alter_quotas(change: AlterClientQuotas, present: Mapping[str, float]) -> list[MetadataRecord]:
    records = [
        client_quota_record(change.entity, key, value) for key, value in change.set.items() if present.get(key) != value
    ]
    return records + [client_quota_record(change.entity, key, None) for key in change.delete if key in present]


def _alter_scram(change: AlterScramCredential, image: MetadataImage) -> list[MetadataRecord]:
    if change.credential is not None:
        return [scram_record(change.mechanism, change.user, change.credential)]
    if (change.mechanism, change.user) not in image.scram:
        raise KafkaError("ResourceNotFoundException", "Attempt to delete a user credential that does not exist")
    value = {"name": change.user, "mechanism": change.mechanism}
    return [new_record("RemoveUserScramCredentialRecord", 0, value)]


def _allocate_producer_ids(change: AllocateProducerIds, image: MetadataImage) -> list[MetadataRecord]:
    broker = image.brokers.get(change.broker_id)
    first = max(image.producer_ids.next_producer_id, 0)
    epoch = -1 if broker is None else broker.epoch
    return [producer_ids_record(change.broker_id, epoch, first + PRODUCER_ID_BLOCK_SIZE)]
