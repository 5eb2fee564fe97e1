"""What is in force: each setting, its value, and where that comes from."""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.contexts.config_file import COMMAND_CONFIG, DEFAULTS, FILE_VARIABLE, ConfigFile
from kafkapy.contexts.resolution import CLUSTER_VARIABLE, Chosen, chosen_context

BUILT_IN = {"output": "kafka", "engine": "local", "master": "local[*]"}


class Effective(NamedTuple):
    """A setting as it is in force."""

    name: str
    value: str
    source: str


def effective_settings(config: ConfigFile, name: str | None) -> list[Effective]:
    """All settings of a context, or of a command that names none. Values stand as they are written: what they refer to
    in the environment may be a secret."""
    chosen = Chosen(config.context(name, "config show"), "") if name else chosen_context(config, None)
    where = Effective("config file", config.path, _file_source(config))
    return [where, *_cluster(config, chosen), *(_default(config, chosen, key) for key in DEFAULTS)]


def _file_source(config: ConfigFile) -> str:
    by = f"${FILE_VARIABLE}" if os.environ.get(FILE_VARIABLE) else "the default path"
    return by if os.path.exists(config.path) else f"{by}; there is no such file"


def _cluster(config: ConfigFile, chosen: Chosen | None) -> list[Effective]:
    if chosen is None:
        variable = os.environ.get(CLUSTER_VARIABLE)
        if variable:
            return [Effective("cluster", variable, f"${CLUSTER_VARIABLE}")]
        return [Effective("cluster", "./kafkapy-cluster", "built in")]
    context = chosen.context
    named = [Effective("context", context.name, chosen.said_by)] if chosen.said_by else []
    for key in (context.kind, COMMAND_CONFIG):
        if key in context.settings:
            named.append(Effective(key, context.settings[key].value, f"{config.path}:{context.settings[key].line}"))
    return named


def _default(config: ConfigFile, chosen: Chosen | None, key: str) -> Effective:
    own = chosen.context.settings.get(key) if chosen is not None else None
    setting = own or config.defaults.get(key)
    if setting is None:
        return Effective(key, BUILT_IN[key], "built in")
    return Effective(key, setting.value, f"{config.path}:{setting.line}")
