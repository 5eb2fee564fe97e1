"""What Kafka defines a config to be, and how a text becomes its value.

A table (topic.txt, broker.txt, ...) has one config a line, in the order of Kafka's definition, which is the order in
which values are checked:

    name  TYPE  default  validator  IMPORTANCE  [synonym=NAME] [cluster-wide | per-broker] [internal]

A default is text as Kafka prints it: ``null`` for none, ``""`` for an empty text or list, ``required`` where the config
has to be given. validators.py has the notation of validators; those of two broker configs that only a starting broker
checks, the voters and the bootstrap servers of the quorum, are left out. ``synonym`` is the broker config that the
default of a topic's or a group's config comes from. ``cluster-wide`` and ``per-broker`` mark what can be changed while
a broker runs; an ``internal`` config is not shown unless it is set.

A table is read when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from kafkapy.metadata.configs.config_types import Value, invalid_config, parse_type
from kafkapy.metadata.configs.validators import validated

READ_ONLY = "read-only"


class ConfigKey(NamedTuple):
    """One config of a definition. ``update_mode`` is that of a broker's: read-only, per-broker or cluster-wide."""

    name: str
    type: str
    default: str | None
    required: bool
    validator: str
    importance: str
    synonym: str | None
    update_mode: str
    internal: bool

    @property
    def sensitive(self) -> bool:
        return self.type == "PASSWORD"


@cache
def definition(of: str) -> Mapping[str, ConfigKey]:
    """The table of that name: topic, broker, group, client_metrics, broker_quota, client_quota or ip_quota."""
    import os

    path = os.path.join(os.path.dirname(__file__), f"{of}.txt")
    with open(path, encoding="utf-8") as table:
        keys = [_config_key(line.split()) for line in table]
    return {key.name: key for key in keys}


def _config_key(fields: list[str]) -> ConfigKey:
    name, config_type, default, validator, importance, *marks = fields
    synonym = next((mark.removeprefix("synonym=") for mark in marks if mark.startswith("synonym=")), None)
    update_mode = next((mark for mark in marks if mark in ("per-broker", "cluster-wide")), READ_ONLY)
    text = None if default in ("null", "required") else "" if default == '""' else default
    required, internal = default == "required", "internal" in marks
    return ConfigKey(name, config_type, text, required, validator, importance, synonym, update_mode, internal)


def parse_value(key: ConfigKey, text: str) -> Value:
    """The value of one config, checked."""
    return validated(key.name, parse_type(key.name, text, key.type), key.validator)


def default_value(key: ConfigKey) -> Value:
    return None if key.default is None else parse_type(key.name, key.default, key.type)


def parse(keys: Mapping[str, ConfigKey], configs: Mapping[str, str]) -> dict[str, Value]:
    """``ConfigDef.parse``: every config of a definition, given or by default. Names that it lacks are passed over."""
    values = {}
    for name, key in keys.items():
        if name not in configs and key.required:
            raise invalid_config(f'Missing required configuration "{name}" which has no default value.')
        values[name] = parse_value(key, configs[name]) if name in configs else default_value(key)
    return values
