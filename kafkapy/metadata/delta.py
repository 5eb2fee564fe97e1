"""Replaying records of the metadata log onto an image.

A MetadataDelta is a mutable working copy: the sections are copied when it is made, a topic's partitions when a record
first touches the topic, so a replay never touches the partitions of the others.

Metadata transactions: what stands between a BeginTransactionRecord and its EndTransactionRecord counts as a whole or,
after an AbortTransactionRecord, not at all. A log that ends inside a transaction (the controller died) is read as if
the transaction had not begun; the next controller writes the abort.

A record that does not fit the state before it means a damaged log: FormatError, in Kafka's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kafkapy.errors import FormatError
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata import cluster_image, features, security_image, topics_image
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.image import TOPIC, MetadataImage, ProducerIds, Provenance, QuotaEntity
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage

K = TypeVar("K")
V = TypeVar("V")


def replay(
    image: MetadataImage, records: Iterable[MetadataRecord], provenance: Provenance | None = None
) -> MetadataImage:
    """The image after ``records``; its provenance is the one given, else as many offsets later as there are records."""
    replayer = Replayer(image)
    count = 0
    for record in records:
        replayer.replay(record)
        count += 1
    old = image.provenance
    return replayer.image(provenance or old._replace(offset=old.offset + count))


class Replayer:
    """A delta with transactions."""

    def __init__(self, image: MetadataImage) -> None:
        self._delta = MetadataDelta(image)
        self._before: MetadataImage | None = None

    @property
    def in_transaction(self) -> bool:
        return self._before is not None

    def replay(self, record: MetadataRecord) -> None:
        if record.name in _TRANSACTION_RECORDS:
            self._replay_transaction(record.name)
        else:
            self._delta.replay(record)

    def image(self, provenance: Provenance) -> MetadataImage:
        """All that is not in an open transaction."""
        image = self._delta.image() if self._before is None else self._before
        return image._replace(provenance=provenance)

    def _replay_transaction(self, name: str) -> None:
        if name == "BeginTransactionRecord":
            if self._before is not None:
                raise FormatError("Encountered BeginTransactionRecord while already in a transaction")
            self._before = self._delta.image()
            self._delta = MetadataDelta(self._before)
            return
        if self._before is None:
            raise FormatError(f"Encountered {name} without having seen a BeginTransactionRecord")
        if name == "AbortTransactionRecord":
            self._delta = MetadataDelta(self._before)
        self._before = None


class MetadataDelta:
    """The working copy. ``replay`` takes every record but those of transactions."""

    def __init__(self, image: MetadataImage) -> None:
        self.features = dict(image.features)
        self.brokers = dict(image.brokers)
        self.controllers = dict(image.controllers)
        self.topics = dict(image.topics)
        self.topics_by_id = dict(image.topics_by_id)
        self.configs = dict(image.configs)
        self.client_quotas = dict(image.client_quotas)
        self.producer_ids = image.producer_ids
        self.acls = dict(image.acls)
        self.scram = dict(image.scram)
        self.delegation_tokens = dict(image.delegation_tokens)
        self._own_partitions: dict[str, dict[int, PartitionRegistration]] = {}

    def image(self) -> MetadataImage:
        """The image so far, without provenance; the delta must not be used after."""
        return MetadataImage(
            Provenance(),
            self.features,
            self.brokers,
            self.controllers,
            self.topics,
            self.topics_by_id,
            self.configs,
            self.client_quotas,
            self.producer_ids,
            self.acls,
            self.scram,
            self.delegation_tokens,
        )

    def replay(self, record: MetadataRecord) -> None:
        handler = _HANDLERS.get(record.name)
        if handler is None:
            raise FormatError(f"Unknown metadata record type {record.name}")
        handler(self, record.value)

    def topic(self, value: Value) -> None:
        topic_id = value["topicId"]
        self._own_partitions[topic_id] = {}
        topic = TopicImage(value["name"], topic_id, self._own_partitions[topic_id])
        self.topics[topic.name] = self.topics_by_id[topic_id] = topic

    def partition(self, value: Value) -> None:
        self._partitions(value["topicId"])[value["partitionId"]] = topics_image.partition_from_record(value)

    def partition_change(self, value: Value) -> None:
        partitions = self._partitions(value["topicId"])
        partition = partitions.get(value["partitionId"])
        if partition is None:
            raise FormatError(f"Unable to find partition {value['topicId']}:{value['partitionId']}")
        partitions[value["partitionId"]] = topics_image.merge(partition, value)

    def remove_topic(self, value: Value) -> None:
        topic = self.topics_by_id.pop(value["topicId"], None)
        if topic is None:
            raise FormatError(f"Unable to delete topic with id {value['topicId']}: no such topic found.")
        del self.topics[topic.name]
        self._own_partitions.pop(topic.id, None)
        self.configs.pop((TOPIC, topic.name), None)

    def clear_elr(self, value: Value) -> None:
        """Of one topic, or of all where no topic is named."""
        name = value["topicName"]
        if name and name not in self.topics:
            raise FormatError(f"Unable to clear elr for topic with name {name}: no such topic found.")
        for topic in [self.topics[name]] if name else list(self.topics.values()):
            for partition_id, partition in topic.partitions.items():
                if partition.elr or partition.last_known_elr:
                    cleared = topics_image.merge(partition, {"eligibleLeaderReplicas": [], "lastKnownElr": []})
                    self._partitions(topic.id)[partition_id] = cleared

    def feature_level(self, value: Value) -> None:
        name, level = value["name"], value["featureLevel"]
        if name == features.METADATA_VERSION and level > features.LATEST_TESTING_LEVEL:
            features.metadata_version_name(level)
        if name == features.KRAFT_VERSION:
            return  # its truth is the KRaftVersionRecord among the control records
        if level == 0:
            self.features.pop(name, None)
        else:
            self.features[name] = level

    def register_broker(self, value: Value) -> None:
        self.brokers[value["brokerId"]] = cluster_image.broker_from_record(value)

    def unregister_broker(self, value: Value) -> None:
        self.brokers.pop(value["brokerId"], None)

    def fence_broker(self, value: Value) -> None:
        broker = self._broker(value["id"], value["epoch"], "fence")
        self.brokers[broker.id] = broker._replace(fenced=True)

    def unfence_broker(self, value: Value) -> None:
        broker = self._broker(value["id"], value["epoch"], "unfence")
        self.brokers[broker.id] = broker._replace(fenced=False)

    def broker_registration_change(self, value: Value) -> None:
        broker = self._broker(value["brokerId"], value["brokerEpoch"], "change")
        self.brokers[broker.id] = cluster_image.change_registration(broker, value)

    def register_controller(self, value: Value) -> None:
        self.controllers[value["controllerId"]] = cluster_image.controller_from_record(value)

    def config(self, value: Value) -> None:
        resource = value["resourceType"], value["resourceName"]
        _set(self.configs, resource, value["name"], value["value"])

    def client_quota(self, value: Value) -> None:
        names = {item["entityType"]: item["entityName"] for item in value["entity"]}
        entity: QuotaEntity = tuple((entity_type, names[entity_type]) for entity_type in sorted(names))
        _set(self.client_quotas, entity, value["key"], None if value["remove"] else value["value"])

    def next_producer_id(self, value: Value) -> None:
        self.producer_ids = ProducerIds(value["nextProducerId"])

    def user_scram_credential(self, value: Value) -> None:
        self.scram[value["mechanism"], value["name"]] = security_image.scram_from_record(value)

    def remove_user_scram_credential(self, value: Value) -> None:
        self.scram.pop((value["mechanism"], value["name"]), None)

    def access_control_entry(self, value: Value) -> None:
        self.acls[value["id"]] = security_image.acl_from_record(value)

    def remove_access_control_entry(self, value: Value) -> None:
        if self.acls.pop(value["id"], None) is None:
            raise FormatError(f"Failed to find existing ACL with ID {value['id']} in either image or changes")

    def delegation_token(self, value: Value) -> None:
        self.delegation_tokens[value["tokenId"]] = security_image.token_from_record(value)

    def remove_delegation_token(self, value: Value) -> None:
        self.delegation_tokens.pop(value["tokenId"], None)

    def no_op(self, value: Value) -> None:
        """Changes nothing: it only keeps the log moving."""

    def _partitions(self, topic_id: str) -> dict[int, PartitionRegistration]:
        """The topic's partitions, to be changed."""
        partitions = self._own_partitions.get(topic_id)
        if partitions is None:
            topic = self.topics_by_id.get(topic_id)
            if topic is None:
                raise FormatError(f"Unable to find topic with id {topic_id}")
            partitions = self._own_partitions[topic_id] = dict(topic.partitions)
            self.topics[topic.name] = self.topics_by_id[topic_id] = topic._replace(partitions=partitions)
        return partitions

    def _broker(self, broker_id: int, epoch: int, action: str) -> BrokerRegistration:
        broker = self.brokers.get(broker_id)
        if broker is None:
            raise FormatError(f"Tried to {action} broker {broker_id}, but that broker was not registered.")
        if broker.epoch != epoch:
            raise FormatError(
                f"Tried to {action} broker {broker_id}, but the given epoch, {epoch}, did not match the current "
                f"broker epoch, {broker.epoch}"
            )
        return broker


def _set(section: dict[K, Mapping[str, V]], resource: K, name: str, value: V | None) -> None:
    """Sets or, with None, removes one value of a resource; a resource without values is not kept."""
    values = {key: present for key, present in section.get(resource, {}).items() if key != name}
    if value is not None:
        values[name] = value
    if values:
        section[resource] = values
    else:
        section.pop(resource, None)


_TRANSACTION_RECORDS = frozenset({"BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"})

_HANDLERS: dict[str, Callable[[MetadataDelta, Value], None]] = {
    "RegisterBrokerRecord": MetadataDelta.register_broker,
    "UnregisterBrokerRecord": MetadataDelta.unregister_broker,
    "TopicRecord": MetadataDelta.topic,
    "PartitionRecord": MetadataDelta.partition,
    "ConfigRecord": MetadataDelta.config,
    "PartitionChangeRecord": MetadataDelta.partition_change,
    "FenceBrokerRecord": MetadataDelta.fence_broker,
    "UnfenceBrokerRecord": MetadataDelta.unfence_broker,
    "RemoveTopicRecord": MetadataDelta.remove_topic,
    "DelegationTokenRecord": MetadataDelta.delegation_token,
    "UserScramCredentialRecord": MetadataDelta.user_scram_credential,
    "FeatureLevelRecord": MetadataDelta.feature_level,
    "ClientQuotaRecord": MetadataDelta.client_quota,
    "ProducerIdsRecord": MetadataDelta.next_producer_id,
    "BrokerRegistrationChangeRecord": MetadataDelta.broker_registration_change,
    "AccessControlEntryRecord": MetadataDelta.access_control_entry,
    "RemoveAccessControlEntryRecord": MetadataDelta.remove_access_control_entry,
    "NoOpRecord": MetadataDelta.no_op,
    "ZkMigrationStateRecord": MetadataDelta.no_op,
    "RemoveUserScramCredentialRecord": MetadataDelta.remove_user_scram_credential,
    "RemoveDelegationTokenRecord": MetadataDelta.remove_delegation_token,
    "RegisterControllerRecord": MetadataDelta.register_controller,
    "ClearElrRecord": MetadataDelta.clear_elr,
}
