"""The lines that ConfigCommand prints. A missing or hidden value is ``null``, as Java prints it."""

from __future__ import annotations

from collections.abc import Mapping

from kafkapy.metadata.configs.config_types import to_text
from kafkapy.metadata.configs.effective import (
    DYNAMIC_BROKER_CONFIG,
    DYNAMIC_DEFAULT_BROKER_CONFIG,
    DYNAMIC_SOURCES,
    ConfigEntry,
)

_QUOTA_ENTITIES = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}


def dynamic_source(entity_type: str, entity_name: str) -> str:
    if entity_type == "brokers":
        return DYNAMIC_BROKER_CONFIG if entity_name else DYNAMIC_DEFAULT_BROKER_CONFIG
    return DYNAMIC_SOURCES[entity_type]


def heading(entity_type: str, entity_name: str, *, all_configs: bool) -> str:
    if not entity_name:
        return f"Default configs for {entity_type} in the cluster are:"
    return f"{'All' if all_configs else 'Dynamic'} configs for {entity_type[:-1]} {entity_name} are:"


def config_line(entry: ConfigEntry) -> str:
    synonyms = ", ".join(f"{synonym.source}:{synonym.name}={_shown(synonym.value)}" for synonym in entry.synonyms)
    sensitive = "true" if entry.sensitive else "false"
    return f"  {entry.name}={_shown(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def missing_line(entity_type: str, entity_name: str) -> str:
    return f"The {entity_type[:-1]} '{entity_name}' doesn't exist and doesn't have dynamic config."


def updated_line(entity_type: str, entity_name: str) -> str:
    if not entity_name:
        return f"Completed updating default config for {entity_type} in the cluster."
    return f"Completed updating config for {entity_type[:-1]} {entity_name}."


def quota_line(entity: Mapping[str, str | None], quotas: Mapping[str, float]) -> str:
    """``entity`` has user, client-id or ip, with None for the default one; the quotas come by name."""
    named = (
        f"the default {words}" if entity[kind] is None else f"{words} '{entity[kind]}'"
        for kind, words in _QUOTA_ENTITIES.items()
        if kind in entity
    )
    values = (f"{name}={to_text(float(value))}" for name, value in sorted(quotas.items()))
    return f"Quota configs for {', '.join(named)} are {', '.join(values)}"


def scram_line(user: str, iterations: Mapping[str, int]) -> str:
    """``iterations`` of a user's credentials, by mechanism."""
    credentials = ", ".join(f"{mechanism}=iterations={count}" for mechanism, count in iterations.items())
    return f"SCRAM credential configs for user-principal '{user}' are {credentials}"
