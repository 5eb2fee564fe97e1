"""Configs, quotas and SCRAM credentials as ConfigCommand describes them: from an image to its lines, each with a row.

Where Kafka goes through a hash map, the order here is that of the names, the default entity first for quotas and last
for brokers. Without metadata nobody knows what is set, and that is what each line then says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafkapy.errors import KafkaError, Unsupported
from kafkapy.metadata import topic_names
from kafkapy.metadata.config_entities import (
    BROKER_LOGGERS,
    BROKERS,
    CLIENT_METRICS,
    CLIENTS,
    GROUPS,
    IPS,
    TOPICS,
    USERS,
    Entities,
)
from kafkapy.metadata.configs.describe_lines import (
    config_line,
    dynamic_source,
    heading,
    missing_line,
    quota_line,
    scram_line,
)
from kafkapy.metadata.configs.effective import BrokerLayers, ConfigEntry, describe
from kafkapy.metadata.image import BROKER, GROUP, TOPIC, MetadataImage, QuotaEntity
from kafkapy.metadata.image import CLIENT_METRICS as CLIENT_METRICS_RESOURCE
from kafkapy.metadata.security_image import SCRAM_MECHANISMS

Described = Iterator[tuple[str | None, dict[str, Any] | None]]

RESOURCE_TYPES = {TOPICS: TOPIC, BROKERS: BROKER, GROUPS: GROUP, CLIENT_METRICS: CLIENT_METRICS_RESOURCE}
QUOTA_TYPES = {USERS: "user", CLIENTS: "client-id", IPS: "ip"}


def describe_entities(image: MetadataImage, chosen: Entities, all_configs: bool) -> Described:
    """The lines and rows of what is chosen."""
    if chosen.type == BROKER_LOGGERS:
        raise Unsupported("--entity-type broker-loggers", "files", "only a running broker knows its loggers")
    if chosen.type in RESOURCE_TYPES:
        return _resources(image, chosen, all_configs)
    return _quotas_and_credentials(image, chosen)


def unknown_entities(image: MetadataImage, chosen: Entities, brokers: Iterable[int]) -> Described:
    """What can be said without metadata: which topics and brokers there are, and that their configs are not known."""
    names: list[str | None] = [chosen.name]
    if chosen.name is None and chosen.type in (TOPICS, BROKERS):
        names = [*sorted(image.topics)] if chosen.type == TOPICS else [*map(str, sorted(brokers)), ""]
    for name in names:
        whose = "all" if name is None else repr(name) if name else "the default"
        row = _row(chosen.type, name) | {"known": False}
        yield f"The configs of {chosen.type} ({whose}) are unknown: there is no metadata log", row


def _resources(image: MetadataImage, chosen: Entities, all_configs: bool) -> Described:
    entity_type, name = chosen.type, chosen.name
    if name is not None and not _exists(image, entity_type, name):
        if all_configs and entity_type == TOPICS:
            raise KafkaError("UnknownTopicOrPartitionException", f"The topic '{name}' does not exist.")
        if all_configs and entity_type == BROKERS:
            raise KafkaError("BrokerIdNotRegisteredException", f"No node with id {name} found.")
        if not all_configs:
            yield missing_line(entity_type, name), None
            return
    layers = BrokerLayers(cluster=image.config(BROKER, ""))
    for each in [name] if name is not None else _names(image, entity_type):
        yield heading(entity_type, each, all_configs=all_configs), None
        for entry in _entries(image, entity_type, each, layers):
            if all_configs or entry.source == dynamic_source(entity_type, each):
                yield config_line(entry), _config_row(entity_type, each, entry)


def _exists(image: MetadataImage, entity_type: str, name: str) -> bool:
    if entity_type == TOPICS:
        topic_names.validate(name)
    return name in _names(image, entity_type)


def _names(image: MetadataImage, entity_type: str) -> list[str]:
    if entity_type == TOPICS:
        return sorted(image.topics)
    if entity_type == BROKERS:
        return [*map(str, sorted(image.brokers)), ""]
    return sorted(name for resource_type, name in image.configs if resource_type == RESOURCE_TYPES[entity_type])


def _entries(image: MetadataImage, entity_type: str, name: str, layers: BrokerLayers) -> list[ConfigEntry]:
    configs = image.config(RESOURCE_TYPES[entity_type], name)
    if entity_type == BROKERS and name:
        # Its own server.properties is not among its data; that a broker has its id there is certain.
        layers = BrokerLayers(configs, layers.cluster, {"node.id": name})
    return describe(entity_type, name, configs, layers)


def _quotas_and_credentials(image: MetadataImage, chosen: Entities) -> Described:
    for entity, quotas in sorted(image.client_quotas.items(), key=_default_first):
        if quotas and _is_meant(entity, chosen):
            row = {"type": "quota", "user": None, "client_id": None, "ip": None}
            row.update((kind.replace("-", "_"), "<default>" if name is None else name) for kind, name in entity)
            yield quota_line(dict(entity), quotas), row | {"quotas": dict(sorted(quotas.items()))}
    if chosen.types == (USERS,) and "" not in chosen.names:
        for user, iterations in sorted(_credentials(image).items()):
            if chosen.name in (None, user):
                yield scram_line(user, iterations), {"type": "scram", "user": user, "iterations": iterations}


def _default_first(item: tuple[QuotaEntity, Mapping[str, float]]) -> list[tuple[str, bool, str]]:
    return [(kind, name is not None, name or "") for kind, name in item[0]]


def _is_meant(entity: QuotaEntity, chosen: Entities) -> bool:
    """Whether an entity has just the types that were given, and their names."""
    wanted = {QUOTA_TYPES[entity_type]: name for entity_type, name in chosen.named.items()}
    own = dict(entity)
    return own.keys() == wanted.keys() and all(
        name is None or (own[kind] or "") == name for kind, name in wanted.items()
    )


def _credentials(image: MetadataImage) -> dict[str, dict[str, int]]:
    users: dict[str, dict[str, int]] = defaultdict(dict)
    for (mechanism, user), credential in sorted(image.scram.items()):
        users[user][SCRAM_MECHANISMS[mechanism]] = credential.iterations
    return users


def _row(entity_type: str, entity_name: str | None) -> dict[str, Any]:
    return {"type": "config", "entity_type": entity_type, "entity_name": entity_name}


def _config_row(entity_type: str, entity_name: str, entry: ConfigEntry) -> dict[str, Any]:
    return _row(entity_type, entity_name) | {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source,
        "sensitive": entry.sensitive,
        "read_only": entry.read_only,
        "synonyms": [synonym._asdict() for synonym in entry.synonyms],
    }
