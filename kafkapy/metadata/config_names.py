"""The names of the configs that each type of entity has, and which was probably meant by one that it does not have.

Brokers take configs of any name, for plugins, and a config that was never set can be deleted: Kafka says nothing of
either, so a hint is told beside what was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.metadata.configs.config_def import ConfigKey, definition
from kafkapy.near_misses import hint

_TABLES = {
    "topics": ("topic",),
    "brokers": ("broker", "broker_quota"),
    "groups": ("group",),
    "client-metrics": ("client_metrics",),
    "users": ("client_quota",),
    "clients": ("client_quota",),
    "ips": ("ip_quota",),
    "broker-loggers": (),
}
_OF_A_LISTENER = "listener.name."


def config_keys(entity_type: str) -> Mapping[str, ConfigKey]:
    """The configs of a type by name, but for credentials of users."""
    return {name: key for table in _TABLES[entity_type] for name, key in definition(table).items()}


def config_names(entity_type: str) -> list[str]:
    """The names of the configs of a type, sorted."""
    if entity_type != "users":
        return sorted(config_keys(entity_type))
    from kafkapy.metadata.security_image import SCRAM_MECHANISMS

    return sorted([*config_keys(entity_type), *SCRAM_MECHANISMS.values()])


def config_hint(entity_type: str, names: Iterable[str]) -> str | None:
    """What was probably meant by the first of these names that there is not; None where nothing is like it."""
    known = config_names(entity_type)
    what = f"{entity_type.removesuffix('s').replace('-metric', ' metrics')} config"
    found = (hint(what, name, known) for name in names if not name.startswith(_OF_A_LISTENER))
    return next((each for each in found if each is not None), None)
