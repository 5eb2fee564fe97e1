"""Which context a command line means, and the options that it stands for.

    1. --cluster, --log-dirs, --bootstrap-server, --bootstrap-controller
    2. --context
    3. $KAFKAPY_CLUSTER, then $KAFKAPY_CONTEXT: a directory that is named outright wins over a name for one
    4. the current context
    5. ./kafkapy-cluster

What a context says is put before what was typed, as options: a command cannot tell the two apart, and needs not to know
that there are contexts. Its output, engine and master hold where it names the cluster, those of ``defaults``
everywhere; what was typed wins. A context never logs in to a cluster that was named otherwise: its command-config goes
with its own servers only.

A default never makes a command refuse what it would do without it: where the two do not go together (``EXCLUSIVE``), it
gives way to what was typed, to the cluster, and to the defaults before it in ``DEFAULTS``: rows look as they are wanted
to look, whoever does the work.

A file that cannot be read stops whoever would take the cluster from it: that is not to become another one. All others
go on as if there were none, and say so.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from kafkapy.contexts.config_file import (
    COMMAND_CONFIG,
    DEFAULTS,
    ConfigFile,
    Context,
    config_path,
    read_config,
)
from kafkapy.errors import FormatError, UsageError

VARIABLE = "KAFKAPY_CONTEXT"
CLUSTER_VARIABLE = "KAFKAPY_CLUSTER"


class Typed(NamedTuple):
    """What a command line says: the ``context`` that it names, whether it names a cluster itself, the options on it
    (with their dashes) and their values, and its ``command``."""

    context: str | None
    names_cluster: bool
    options: Mapping[str, Any]
    command: str = ""


class Added(NamedTuple):
    """Options to put before a command line, and who said which cluster is meant: '' where the command line did.
    ``source`` is the context that gave the ``given``: paths and servers, of which an error may tell. ``unread`` is why
    the file was not read, where it could not be and was not needed."""

    words: tuple[str, ...] = ()
    said_by: str = ""
    source: str = ""
    given: tuple[str, ...] = ()
    unread: str = ""


class Choice(NamedTuple):
    """An option with one of these values; none for any."""

    option: str
    values: tuple[str, ...] = ()

    def is_made_by(self, option: str, value: Any) -> bool:
        """Whether it is this option with such a value."""
        return option == self.option and (not self.values or value in self.values)


class Exclusive(NamedTuple):
    """Two choices one of which the ``command`` would refuse beside the other; '' for every command that has both."""

    one: Choice
    other: Choice
    command: str = ""


SPARK = Choice("--engine", ("spark",))
EXCLUSIVE = (
    Exclusive(Choice("--output"), Choice("--plot")),
    Exclusive(Choice("--output"), Choice("--export")),
    Exclusive(Choice("--output"), Choice("--format")),
    Exclusive(Choice("--output", ("json",)), Choice("--watch")),
    Exclusive(Choice("--output", ("json", "jsonl", "yaml")), Choice("--no-header")),
    Exclusive(SPARK, Choice("--watch")),
    Exclusive(SPARK, Choice("--interval")),
    Exclusive(SPARK, Choice("--forecast")),
    Exclusive(SPARK, Choice("--bootstrap-server")),
    Exclusive(SPARK, Choice("--summary"), "dump-log"),
    Exclusive(SPARK, Choice("--sort-by"), "dump-log"),
    Exclusive(SPARK, Choice("--output", ("table", "json", "csv", "yaml")), "dump-log"),
)


class Chosen(NamedTuple):
    """A context, and who chose it."""

    context: Context
    said_by: str


def chosen_context(config: ConfigFile, named: str | None, names_cluster: bool = False) -> Chosen | None:
    """The context that is meant; ``named`` by --context. None where none is, or something else wins."""
    if named is not None:
        if not named:
            raise UsageError("--context is empty")
        return Chosen(config.context(named, "--context"), "--context")
    if names_cluster or os.environ.get(CLUSTER_VARIABLE):
        return None
    by_variable = os.environ.get(VARIABLE)
    if by_variable:
        return Chosen(config.context(by_variable, f"${VARIABLE}"), f"${VARIABLE}")
    if config.current is not None:
        return Chosen(config.contexts[config.current.value], f"current in {config.path}:{config.current.line}")
    return None


def is_needed(named: str | None) -> bool:
    """Whether there is anything to look up: most often there is no file, and nothing names a context."""
    return named is not None or bool(os.environ.get(VARIABLE)) or os.path.exists(config_path())


def options_of_context(offered: Mapping[str, Collection[str]], takes_cluster: bool, typed: Typed) -> Added:
    """What to put before a command line. ``offered`` are the command's options with the values that they take, none
    where they take any; ``takes_cluster`` says whether it names a cluster at all."""
    if not is_needed(typed.context):
        return Added()
    try:
        config = read_config()
    except (FormatError, OSError) as problem:
        if takes_cluster and _means_the_file(typed):
            raise
        reason = f"{config_path()}: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
        return Added(unread=reason)
    chosen = chosen_context(config, typed.context, typed.names_cluster) if takes_cluster else None
    is_meant = chosen is not None and not typed.names_cluster
    cluster = tuple(_cluster_options(config, chosen, offered, typed)) if chosen is not None and is_meant else ()
    values = {key: setting.value for key, setting in config.defaults.items()}
    if chosen is not None:
        own = chosen.context.settings
        values |= {key: config.resolved(chosen.context, key) for key in DEFAULTS if key in own}
    there = {**typed.options, **dict(zip(cluster[::2], cluster[1::2], strict=True))}
    words = (*cluster, *(word for pair in _defaults(values, offered, there, typed.command) for word in pair))
    if chosen is None or not is_meant:
        return Added(words)
    name = chosen.context.name
    given = tuple(part.strip() for value in cluster[1::2] for part in value.split(",") if part.strip())
    return Added(words, f"the context {name}, {chosen.said_by}", f"context {name} of {config.path}", given)


def _means_the_file(typed: Typed) -> bool:
    """Whether the file says which cluster is meant, or may say so."""
    return typed.context is not None or not (typed.names_cluster or os.environ.get(CLUSTER_VARIABLE))


def _cluster_options(
    config: ConfigFile, chosen: Chosen, offered: Mapping[str, Collection[str]], typed: Typed
) -> Iterator[str]:
    context = chosen.context
    if f"--{context.kind}" not in offered:
        raise UsageError(
            f"the context '{context.name}' ({chosen.said_by}) is a {context.kind}, which this command does not take: "
            f"name another context, or a cluster with {' or '.join(_cluster_names(offered))}"
        )
    yield from (f"--{context.kind}", config.resolved(context, context.kind))
    option = f"--{COMMAND_CONFIG}"
    if COMMAND_CONFIG in context.settings and option in offered and option not in typed.options:
        yield from (option, config.resolved(context, COMMAND_CONFIG))


def _cluster_names(offered: Mapping[str, Collection[str]]) -> list[str]:
    return [option for option in ("--cluster", "--log-dirs", "--bootstrap-server") if option in offered]


def _defaults(
    values: Mapping[str, str], offered: Mapping[str, Collection[str]], there: Mapping[str, Any], command: str
) -> Iterator[tuple[str, str]]:
    """Those that the command takes and that go with the options that are ``there``; a master is for Spark only."""
    taken = dict(there)
    for key in DEFAULTS:
        option, value = f"--{key}", values.get(key)
        if value is None or option not in offered or option in taken or value not in (offered[option] or (value,)):
            continue
        if key == "master" and "--engine" in offered and taken.get("--engine") != "spark":
            continue
        if all(_go_together((option, value), each, command) for each in taken.items()):
            taken[option] = value
            yield option, value


def _go_together(default: tuple[str, str], other: tuple[str, Any], command: str) -> bool:
    return not any(
        one.is_made_by(*first) and another.is_made_by(*second)
        for one, another, of in EXCLUSIVE
        for first, second in ((default, other), (other, default))
        if of in ("", command)
    )
