"""Configs, quotas and SCRAM credentials as ConfigCommand describes them: its lines, each with a row.

Where Kafka goes through a hash map, the order here is that of the names, the default entity first for quotas and last
for brokers. Without metadata nobody knows what is set, and that is what each line then says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafkapy.errors import KafkaError, KafkapyError
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
from kafkapy.metadata.config_entries import Entries
from kafkapy.metadata.configs.describe_lines import (
    config_line,
    dynamic_source,
    heading,
    missing_line,
    quota_line,
    scram_line,
)
from kafkapy.metadata.configs.effective import ConfigEntry
from kafkapy.metadata.image import BROKER, BROKER_LOGGER, GROUP, TOPIC, MetadataImage, QuotaEntity
from kafkapy.metadata.image import CLIENT_METRICS as CLIENT_METRICS_RESOURCE
from kafkapy.metadata.security_image import SCRAM_MECHANISMS

Described = Iterator[tuple[str | None, dict[str, Any] | None]]

RESOURCE_TYPES = {
    TOPICS: TOPIC,
    BROKERS: BROKER,
    BROKER_LOGGERS: BROKER_LOGGER,
    GROUPS: GROUP,
    CLIENT_METRICS: CLIENT_METRICS_RESOURCE,
}
QUOTA_TYPES = {USERS: "user", CLIENTS: "client-id", IPS: "ip"}


class MissingEntityError(KafkaError):
    """A resource that is named and not there; Kafka says it as it says all else, and ends well."""


class Resources(NamedTuple):
    """How to ask for resources with configs: their names by the number of a type, and their configs."""

    names: Callable[[int], Sequence[str]]
    entries: Callable[[int, Sequence[str]], Entries]


def describe_entities(image: MetadataImage, resources: Resources, chosen: Entities, all_configs: bool) -> Described:
    """The lines and rows of what is chosen."""
    if chosen.type in RESOURCE_TYPES:
        return _resources(resources, chosen, all_configs)
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


def _resources(resources: Resources, chosen: Entities, all_configs: bool) -> Described:
    """Of a resource that is named and not there, what Kafka says of it: with ``--all`` that is the broker's to say."""
    entity_type, resource_type = chosen.type, RESOURCE_TYPES[chosen.type]
    names = [] if chosen.name is None else [chosen.name]
    if entity_type == TOPICS and chosen.name is not None:
        topic_names.validate(chosen.name)
    if chosen.name is None or not all_configs:
        there = resources.names(resource_type)
        if chosen.name is not None and chosen.name not in there:
            raise MissingEntityError("UnknownEntity", missing_line(entity_type, chosen.name))
        names = names or list(there)
    for name, entries in resources.entries(resource_type, names).items():
        yield heading(entity_type, name, all_configs=all_configs), None
        if isinstance(entries, KafkapyError):
            raise entries
        for entry in entries:
            if all_configs or entity_type == BROKER_LOGGERS or entry.source == dynamic_source(entity_type, name):
                yield config_line(entry), _config_row(entity_type, name, entry)


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
