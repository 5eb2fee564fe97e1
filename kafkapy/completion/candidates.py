"""The values that begin as what was typed does, each as the whole word that would then stand there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from kafkapy.completion.command_line import CommandLine
from kafkapy.value_kind import ValueKind

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
_CONFIGS = {
    "topics": ("topic",),
    "brokers": ("broker", "broker_quota"),
    "groups": ("group",),
    "client-metrics": ("client_metrics",),
    "users": ("client_quota",),
    "clients": ("client_quota",),
    "ips": ("ip_quota",),
}
_ENTITIES = {"topics": "TOPIC", "brokers": "BROKER", "broker-loggers": "BROKER", "groups": "GROUP"}


class Names(Protocol):
    """What a cluster of any kind is asked."""

    def topics(self, prefix: str) -> set[str]: ...

    def partitions(self, topic: str) -> set[int]: ...

    def brokers(self) -> set[int]: ...

    def groups(self) -> set[str]: ...

    def transactional_ids(self) -> set[str]: ...


def candidates(kind: ValueKind, line: CommandLine) -> list[str]:
    """What may stand in the place of the word that is being typed."""
    before, comma, typed = line.typed.rpartition(",") if kind.several else ("", "", line.typed)
    before += comma
    if kind.partitions and ":" in typed:
        return [before + value for value in _topic_partitions(kind, typed, line)]
    if kind.ends_with == "=" and "=" in typed:
        name, _, value = typed.partition("=")
        return [f"{before}{name}={choice}" for choice in _config_choices(line, name) if choice.startswith(value)]
    taken = set(before.split(","))
    names = (name for name in _values(kind.kind, typed, line) if name.startswith(typed) and name not in taken)
    return [f"{before}{name}{kind.ends_with}" for name in names]


def _topic_partitions(kind: ValueKind, typed: str, line: CommandLine) -> list[str]:
    topic, _, numbers = typed.partition(":")
    before, comma, number = numbers.rpartition(",") if kind.several_partitions else ("", "", numbers)
    taken = before.split(",")
    found = (str(each) for each in sorted(_cluster_names(line).partitions(topic)))
    return [f"{topic}:{before}{comma}{each}" for each in found if each.startswith(number) and each not in taken]


def _values(kind: str, typed: str, line: CommandLine) -> Iterable[str]:
    """The values of a kind, in order; also such as do not begin with ``typed``."""
    if kind == "ENTITY":
        kind = _ENTITIES[_entity_type(line)]
    of_a_cluster: dict[str, Callable[[Names], Iterable[object]]] = {
        "TOPIC": lambda names: names.topics(typed),
        "PARTITION": lambda names: names.partitions(line.value("topic") or ""),
        "BROKER": lambda names: names.brokers(),
        "GROUP": lambda names: names.groups(),
        "TRANSACTIONAL-ID": lambda names: names.transactional_ids(),
    }
    if kind in of_a_cluster:
        return map(str, sorted(of_a_cluster[kind](_cluster_names(line))))  # type: ignore[type-var]
    return _FIXED[kind](line)


def _cluster_names(line: CommandLine) -> Names:
    selection = line.selection()
    if selection.is_live:
        from kafkapy.completion.live_names import LiveNames

        return LiveNames(selection)
    from kafkapy.completion.file_names import FileNames

    return FileNames(selection)


def _entity_type(line: CommandLine) -> str:
    """The type of entity whose configs are meant; ``kafkapy topics`` knows no other than topics."""
    given = (entity for entity, options in _ENTITY_OPTIONS.items() if any(map(line.gives, options)))
    return line.value("entity-type") or next(given, "topics")


def _configs(line: CommandLine) -> Iterable[str]:
    from kafkapy.metadata.configs.config_def import definition

    return sorted(name for table in _CONFIGS[_entity_type(line)] for name in definition(table))


def _config_choices(line: CommandLine, name: str) -> list[str]:
    """The values that a config may have, where they are few."""
    from kafkapy.metadata.configs.config_def import definition

    for table in _CONFIGS[_entity_type(line)]:
        key = definition(table).get(name)
        if key is not None:
            _, _, named = key.validator.partition(":")
            return ["true", "false"] if key.type == "BOOLEAN" else named.split("|") if named else []
    return []


def _contexts(_: CommandLine) -> Iterable[str]:
    from kafkapy.contexts.config_file import read_config

    return sorted(read_config().contexts)


def _tables(_: CommandLine) -> Iterable[str]:
    from kafkapy.tables.registry import TABLES

    return TABLES


def _columns(line: CommandLine) -> Iterable[str]:
    from kafkapy.tables.column_names import COLUMN_NAMES

    return COLUMN_NAMES[line.value("table") or "records"]


def _scenarios(_: CommandLine) -> Iterable[str]:
    from kafkapy.lab.scenario_names import NAMES

    return NAMES


def _commands(_: CommandLine) -> Iterable[str]:
    from kafkapy.lazy_group import COMMANDS

    return COMMANDS


_FIXED: dict[str, Callable[[CommandLine], Iterable[str]]] = {
    "CONFIG": _configs,
    "CONTEXT": _contexts,
    "TABLE": _tables,
    "COLUMN": _columns,
    "SCENARIO": _scenarios,
    "PAGE": _commands,
}
