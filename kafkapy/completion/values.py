"""The values of each kind, in order; also such as do not begin as what was typed does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import NamedTuple

from kafkapy.completion.cluster_names import ENTITIES, Names, names_of
from kafkapy.completion.command_line import CommandLine


class Asked(NamedTuple):
    """What is asked for: the value of one place of a line."""

    line: CommandLine
    typed: str
    of: str = ""
    """The topic, config or feature behind whose name the value stands."""
    of_kind: str = ""
    """Which of them it is."""
    separators: str = ""
    """What the value cannot have in it, since it would end there."""


def values(kind: str, asked: Asked) -> Iterable[str]:
    """The values of a kind; the name of one that is not known has the choices themselves."""
    if kind == "ENTITY":
        from kafkapy.completion.config_values import entity_kind

        kind = entity_kind(asked.line)
    if kind in ENTITIES:
        return sorted(names_of(asked.line).entities(kind))
    if kind in _OF_A_CLUSTER:
        return map(str, sorted(_OF_A_CLUSTER[kind](names_of(asked.line), asked)))  # type: ignore[type-var]
    return _OF_KAFKAPY[kind](asked) if kind in _OF_KAFKAPY else kind.split("|")


def pieces(typed: str, separators: str) -> list[str]:
    """What was typed, cut behind each separator. One inside of brackets, as in ``cleanup.policy=[compact,delete]``, is
    part of a value."""
    found, depth = [""], 0
    for character in typed:
        found[-1] += character
        depth += (character == "[") - (character == "]")
        if character in separators and depth <= 0:
            found.append("")
    return found


_OF_A_CLUSTER: dict[str, Callable[[Names, Asked], Iterable[object]]] = {
    "TOPIC": lambda names, asked: names.topics(asked.typed),
    "TOPIC-ID": lambda names, _: names.topic_ids(),
    "PARTITION": lambda names, asked: names.partitions(asked.of or asked.line.value("topic") or ""),
    "GROUP": lambda names, _: names.groups(),
    "BROKER": lambda names, _: names.brokers(),
    "NODE": lambda names, _: names.brokers() | names.controllers().keys(),
    "CONTROLLER": lambda names, _: names.controllers().keys(),
    "CONTROLLER-DIR": lambda names, asked: _controller_dirs(names, asked.line),
    "TRANSACTIONAL-ID": lambda names, _: names.transactional_ids(),
    "PRODUCER-ID": lambda names, asked: _producer_ids(names, asked.line),
}


def _controller_dirs(names: Names, line: CommandLine) -> Iterable[str]:
    controller = line.value("controller-id") or line.value("i")
    return {each for number, each in names.controllers().items() if each and controller in (None, str(number))}


def _producer_ids(names: Names, line: CommandLine) -> Iterable[int]:
    """Those of a partition, or of the partition directories whose files are named."""
    if line.gives("files"):
        from kafkapy.completion.producer_ids import producer_ids

        return producer_ids(line.paths("files"))
    topic, partition = line.value("topic"), line.value("partition")
    return set() if topic is None or partition is None else names.producer_ids(topic, int(partition))


def _told_by(module: str, name: str) -> Callable[[Asked], Iterable[str]]:
    """What a function of a module answers, or a list in it holds; the module is imported when it is asked."""

    def values_of(asked: Asked) -> Iterable[str]:
        told = getattr(import_module(module), name)
        found: Iterable[str] = told(asked) if callable(told) else told
        return found

    return values_of


def _values_of(asked: Asked) -> Iterable[str]:
    from kafkapy.completion.config_values import config_values
    from kafkapy.completion.property_values import property_values, setting_values
    from kafkapy.completion.spark_settings import spark_values

    told = {"PROPERTY": property_values, "SETTING": setting_values, "SPARK-SETTING": spark_values}
    return told.get(asked.of_kind, config_values)(asked)


def _credentials(_: Asked) -> Iterable[str]:
    from kafkapy.metadata.security_image import SCRAM_MECHANISMS

    return (f"{mechanism}=[name=" for mechanism in SCRAM_MECHANISMS.values())


def _features(_: Asked) -> Iterable[str]:
    from kafkapy.metadata.features import FEATURES, METADATA_VERSION

    return sorted((METADATA_VERSION, *FEATURES))


def _levels(asked: Asked) -> Iterable[str]:
    from kafkapy.metadata.features import FEATURES, LATEST_PRODUCTION_LEVEL, METADATA_VERSION, MINIMUM_LEVEL

    if asked.of == METADATA_VERSION:
        return map(str, range(MINIMUM_LEVEL, LATEST_PRODUCTION_LEVEL + 1))
    return (str(version.level) for version in FEATURES.get(asked.of, ()))


def _releases(_: Asked) -> Iterable[str]:
    from kafkapy.metadata.features import LATEST_PRODUCTION_LEVEL, MINIMUM_LEVEL, metadata_version_name

    return map(metadata_version_name, range(MINIMUM_LEVEL, LATEST_PRODUCTION_LEVEL + 1))


def _states(asked: Asked) -> Iterable[str]:
    from kafkapy.coordinator.group import GroupType
    from kafkapy.coordinator.typed_groups import STATES

    typed = {"share-groups": GroupType.SHARE, "streams-groups": GroupType.STREAMS}
    command = asked.line.command(typed)
    if command:
        return STATES[typed[command]]
    from kafkapy.backends.group_selection import STATES as OF_CONSUMERS

    return OF_CONSUMERS


def _operations(_: Asked) -> Iterable[str]:
    from kafkapy.metadata.acls import ALL, OPERATIONS, title

    return map(title, OPERATIONS[ALL:])


def _columns_of_rows(asked: Asked) -> Iterable[str]:
    from kafkapy.output.row_columns import columns_of, commands

    return columns_of(asked.line.command(commands()), asked.line.gives)


def _contexts(_: Asked) -> Iterable[str]:
    from kafkapy.contexts.config_file import read_config

    return sorted(read_config(any_current=True).contexts)


def _columns(asked: Asked) -> Iterable[str]:
    from kafkapy.tables.column_names import COLUMN_NAMES

    return COLUMN_NAMES[asked.line.value("table") or "records"]


def _pages(asked: Asked) -> Iterable[str]:
    """Commands, and behind one its own commands; a script of Kafka's where one is being typed."""
    from kafkapy.command_names import COMMANDS, SUBCOMMANDS

    pages = {f"help {name}": SUBCOMMANDS.get(name, ()) for name in COMMANDS}
    pages |= {f"{page} {name}": () for page, names in list(pages.items()) for name in names}
    page = asked.line.command(pages)
    if page:
        return pages[page]
    if not asked.typed.startswith("kafka-"):
        return COMMANDS
    from kafkapy.shims.scripts import SCRIPTS

    return SCRIPTS


def _in_contexts(*keys: str) -> Iterable[str]:
    """What the contexts of the user have for these settings; what refers to the environment is left as it stands."""
    from kafkapy.contexts.config_file import read_config

    config = read_config()
    places = [config.defaults, *(context.settings for context in config.contexts.values())]
    return sorted({place[key].value for place in places for key in keys if key in place})


def _addresses(_: Asked) -> Iterable[str]:
    from kafkapy.contexts.config_file import LIVE_KINDS

    return (address for addresses in _in_contexts(*LIVE_KINDS) for address in addresses.split(","))


def _masters(_: Asked) -> Iterable[str]:
    return ("local[*]", *_in_contexts("master"))


def _events(asked: Asked) -> Iterable[str]:
    """A new member, or one of those that are there from the beginning."""
    members = int(asked.line.value("members") or 1)
    return ("join@", *(f"leave:{number}@" for number in range(1, members + 1)))


_OF_KAFKAPY: dict[str, Callable[[Asked], Iterable[str]]] = {
    "CONFIG": _told_by("kafkapy.completion.config_values", "configs"),
    "VALUE": _values_of,
    "PROPERTY": _told_by("kafkapy.completion.property_values", "properties"),
    "SETTING": _told_by("kafkapy.completion.property_values", "settings"),
    "SPARK-SETTING": _told_by("kafkapy.completion.spark_settings", "SETTINGS"),
    "FORMATTER": _told_by("kafkapy.output.record_formatter", "SHORT_NAMES"),
    "DESERIALIZER": _told_by("kafkapy.output.deserializers", "NAMES"),
    "DECODER": _told_by("kafkapy.scan.payload", "NAMES"),
    "DECODING": _told_by("kafkapy.completion.schema_files", "decodings"),
    "SPEC": _told_by("kafkapy.metadata.offset_specs", "OFFSET_SPECS"),
    "CREDENTIAL": _credentials,
    "ENTITY-TYPE": _told_by("kafkapy.completion.config_values", "ENTITY_TYPES"),
    "CHANGE": lambda _: ("join:", "leave:", "topic:"),
    "EVENT": _events,
    "FEATURE": _features,
    "LEVEL": _levels,
    "RELEASE": _releases,
    "STATE": _states,
    "OPERATION": _operations,
    "COL": _columns_of_rows,
    "CONTEXT": _contexts,
    "HOST:PORT": _addresses,
    "URL": _masters,
    "TABLE": _told_by("kafkapy.tables.registry", "TABLES"),
    "COLUMN": _columns,
    "SCENARIO": _told_by("kafkapy.lab.scenario_names", "NAMES"),
    "PAGE": _pages,
    "METADATA-PATH": _told_by("kafkapy.completion.metadata_paths", "metadata_paths"),
}
