"""The metadata image: all of a cluster's metadata at one offset of the metadata log, as an immutable value.

An image is what replaying the log up to its offset gives (delta.py), or a snapshot and the log after it: both ways give
the same image. ``to_records`` is the way back: the records from which an empty image becomes this one, which is
what a snapshot holds. Kafka writes them section by section, in the order here; within a section its order is that
of a hash map, here it is sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata import cluster_image, security_image, topics_image
from kafkapy.metadata.cluster_image import BrokerRegistration, ControllerRegistration
from kafkapy.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION, LATEST_PRODUCTION_LEVEL, METADATA_VERSION
from kafkapy.metadata.records import new_record
from kafkapy.metadata.security_image import Acl, DelegationToken, ScramCredential
from kafkapy.metadata.topics_image import TopicImage

# The types of a config's resource, by Kafka's numbers.
TOPIC = 2
BROKER = 4
BROKER_LOGGER = 8
CLIENT_METRICS = 16
GROUP = 32

CONFIG_TYPE_NAMES = {
    TOPIC: "TOPIC",
    BROKER: "BROKER",
    BROKER_LOGGER: "BROKER_LOGGER",
    CLIENT_METRICS: "CLIENT_METRICS",
    GROUP: "GROUP",
}

# (entity type, name or None for the default entity), sorted by type.
QuotaEntity = tuple[tuple[str, str | None], ...]


class Provenance(NamedTuple):
    """Where an image ends: the last offset in it, that record's epoch, and when it was appended."""

    offset: int = -1
    epoch: int = -1
    timestamp: int = -1


class ProducerIds(NamedTuple):
    """The first producer id that no broker has been given; -1 before the first block."""

    next_producer_id: int = -1


class MetadataImage(NamedTuple):
    """``configs`` is by (type number, resource name), "" being the default of all brokers or groups; ``scram`` is by
    (mechanism, user), ``acls`` and ``delegation_tokens`` by their ids."""

    provenance: Provenance
    features: Mapping[str, int]
    brokers: Mapping[int, BrokerRegistration]
    controllers: Mapping[int, ControllerRegistration]
    topics: Mapping[str, TopicImage]
    topics_by_id: Mapping[str, TopicImage]
    configs: Mapping[tuple[int, str], Mapping[str, str]]
    client_quotas: Mapping[QuotaEntity, Mapping[str, float]]
    producer_ids: ProducerIds
    acls: Mapping[str, Acl]
    scram: Mapping[tuple[int, str], ScramCredential]
    delegation_tokens: Mapping[str, DelegationToken]

    def topic_by_id(self, topic_id: str) -> TopicImage | None:
        return self.topics_by_id.get(topic_id)

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        """The configs set on a resource; none set is an empty mapping."""
        return self.configs.get((resource_type, name), {})

    @property
    def metadata_version(self) -> int:
        """The level of metadata.version; a log that never set one is read as the latest, as Kafka bootstraps it."""
        return self.features.get(METADATA_VERSION, LATEST_PRODUCTION_LEVEL)

    @property
    def is_elr_enabled(self) -> bool:
        return self.features.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1

    def to_records(self) -> Iterator[MetadataRecord]:
        """What a snapshot holds between its header and its footer."""
        yield from _feature_records(self)
        for broker_id in sorted(self.brokers):
            yield cluster_image.broker_record(self.brokers[broker_id], self.metadata_version)
        for controller_id in sorted(self.controllers):
            yield cluster_image.controller_record(self.controllers[controller_id])
        for name in sorted(self.topics):
            yield from topics_image.topic_records(self.topics[name], self.metadata_version)
        for (resource_type, resource), configs in sorted(self.configs.items(), key=lambda item: item[0]):
            for key in sorted(configs):
                yield config_record(resource_type, resource, key, configs[key])
        yield from _quota_records(self.client_quotas)
        if self.producer_ids.next_producer_id >= 0:
            yield producer_ids_record(-1, -1, self.producer_ids.next_producer_id)
        for acl_id in sorted(self.acls):
            yield security_image.acl_record(acl_id, self.acls[acl_id])
        for mechanism, user in sorted(self.scram):
            yield security_image.scram_record(mechanism, user, self.scram[mechanism, user])
        for token_id in sorted(self.delegation_tokens):
            yield security_image.token_record(self.delegation_tokens[token_id])


EMPTY = MetadataImage(Provenance(), {}, {}, {}, {}, {}, {}, {}, ProducerIds(), {}, {}, {})


def feature_level_record(name: str, level: int) -> MetadataRecord:
    return new_record("FeatureLevelRecord", 0, {"name": name, "featureLevel": level})


def config_record(resource_type: int, resource: str, name: str, value: str | None) -> MetadataRecord:
    """Sets a config; None removes it."""
    fields = {"resourceType": resource_type, "resourceName": resource, "name": name, "value": value}
    return new_record("ConfigRecord", 0, fields)


def producer_ids_record(broker_id: int, broker_epoch: int, next_producer_id: int) -> MetadataRecord:
    value = {"brokerId": broker_id, "brokerEpoch": broker_epoch, "nextProducerId": next_producer_id}
    return new_record("ProducerIdsRecord", 0, value)


def client_quota_record(entity: QuotaEntity, key: str, value: float | None) -> MetadataRecord:
    """Sets a quota; None removes it."""
    fields = {
        "entity": [{"entityType": entity_type, "entityName": name} for entity_type, name in entity],
        "key": key,
        "value": 0.0 if value is None else value,
        "remove": value is None,
    }
    return new_record("ClientQuotaRecord", 0, fields)


def _feature_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    """metadata.version stands first: it decides how the records after it are to be read."""
    yield feature_level_record(METADATA_VERSION, image.metadata_version)
    for name in sorted(image.features):
        if name != METADATA_VERSION:
            yield feature_level_record(name, image.features[name])


def _quota_records(quotas: Mapping[QuotaEntity, Mapping[str, float]]) -> Iterator[MetadataRecord]:
    def default_first(entity: QuotaEntity) -> list[tuple[str, str]]:
        return [(entity_type, name or "") for entity_type, name in entity]

    for entity in sorted(quotas, key=default_first):
        for key in sorted(quotas[entity]):
            yield client_quota_record(entity, key, quotas[entity][key])
