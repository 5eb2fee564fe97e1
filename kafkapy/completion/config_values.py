"""What may be configured, and with which values: by the type of entity that a line names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkapy.metadata.config_names import config_keys, config_names

if TYPE_CHECKING:
    from kafkapy.completion.command_line import CommandLine
    from kafkapy.completion.values import Asked
    from kafkapy.metadata.configs.config_def import ConfigKey

_ENTITY_OPTIONS = {
    "topics": ("topic",),
    "brokers": ("broker", "broker-defaults"),
    "groups": ("group",),
    "client-metrics": ("client-metrics",),
    "users": ("user", "user-defaults"),
    "clients": ("client", "client-defaults"),
    "ips": ("ip", "ip-defaults"),
    "broker-loggers": ("broker-logger",),
}
_ENTITY_KINDS = {
    "topics": "TOPIC",
    "brokers": "BROKER",
    "groups": "GROUP",
    "client-metrics": "CLIENT-METRICS",
    "users": "USER",
    "clients": "CLIENT-ID",
    "ips": "IP",
    "broker-loggers": "BROKER",
}
ENTITY_TYPES = tuple(_ENTITY_KINDS)
_BRACKET = "["
_LOG_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def entity_kind(line: CommandLine) -> str:
    """The kind of the names of what is configured."""
    return _ENTITY_KINDS[_entity_type(line)]


def configs(asked: Asked) -> Iterable[str]:
    """The names of configs."""
    line = asked.line
    entity_type = _entity_type(line)
    if entity_type == "broker-loggers":
        from kafkapy.completion.cluster_names import names_of

        return sorted(names_of(line).loggers(line.value("broker-logger") or line.value("entity-name") or ""))
    return config_names(entity_type)


def config_values(asked: Asked) -> Iterable[str]:
    """The values that a config may have, where they are few. A list of them stands in brackets where commas end it,
    and may do so elsewhere; a credential always does."""
    entity_type = _entity_type(asked.line)
    if entity_type == "broker-loggers":
        return _LOG_LEVELS
    key = config_keys(entity_type).get(asked.of)
    if key is None:
        return [f"{_BRACKET}password="] if asked.of in config_names(entity_type) else []
    choices = _choices(key)
    bracket = asked.typed[: asked.typed.startswith(_BRACKET)]
    if key.type != "LIST" or not choices:
        return choices
    if "," in asked.separators and not bracket:
        return [*choices, _BRACKET]
    before, comma, _ = asked.typed.rpartition(",")
    listed = before.removeprefix(bracket).split(",")
    return [f"{before}{comma}{choice}" if comma else bracket + choice for choice in choices if choice not in listed]


def _choices(key: ConfigKey) -> list[str]:
    if key.type == "BOOLEAN":
        return ["true", "false"]
    if key.validator == "offset-reset":
        return ["earliest", "latest", "by_duration:"]
    return [choice for choice in key.validator.partition(":")[2].split("|") if choice]


def _entity_type(line: CommandLine) -> str:
    """The type of entity whose configs are meant; ``kafkapy topics`` knows no other than topics."""
    given = (entity for entity, options in _ENTITY_OPTIONS.items() if any(map(line.gives, options)))
    return line.value("entity-type") or next(given, "topics")
