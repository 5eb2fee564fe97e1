"""What ConfigCommand's options name: one entity, all of a type, or a user together with a client.

An entity is named by its type and its name, or by one option that says both: ``--entity-type topics --entity-name
orders`` is ``--topic orders``. The name "" is the default entity. Types without a name mean all entities of the type.
What does not go together raises a UsageError in ConfigCommand's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.errors import FormatError, UsageError
from kafkapy.formats.java_parsing import parse_int
from kafkapy.near_misses import hinting

TOPICS = "topics"
CLIENTS = "clients"
USERS = "users"
BROKERS = "brokers"
IPS = "ips"
CLIENT_METRICS = "client-metrics"
GROUPS = "groups"
BROKER_LOGGERS = "broker-loggers"

ENTITY_TYPES = (TOPICS, CLIENTS, USERS, BROKERS, IPS, CLIENT_METRICS, GROUPS, BROKER_LOGGERS)
WITH_DEFAULT = (CLIENTS, USERS, BROKERS, IPS)


class Entities(NamedTuple):
    """Types and names in the order of the command line; there may be fewer names than types."""

    types: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def type(self) -> str:
        """The type that decides what is done."""
        return self.types[0]

    @property
    def name(self) -> str | None:
        """The name that belongs to it; None for all."""
        return self.names[0] if self.names else None

    @property
    def named(self) -> dict[str, str | None]:
        """The name of each type, None for all."""
        return dict(zip(self.types, (*self.names, *(None,) * len(self.types)), strict=False))


def entities(types: list[str], names: list[str], shortcuts: Mapping[str, str | None], defaults: list[str]) -> Entities:
    """What is named, checked.

    ``shortcuts`` has the names given by ``--topic`` and its like by their types, None where not given; ``defaults`` are
    the types whose ``--...-defaults`` was given.
    """
    given = {entity_type: name for entity_type, name in shortcuts.items() if name is not None}
    found = Entities((*types, *given, *defaults), (*names, *given.values(), *("" for _ in defaults)))
    _check_types(found.types)
    if (types or names) and (given or defaults):
        raise UsageError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
    if len(found.names) > len(found.types):
        raise UsageError("More entity names specified than entity types")
    for entity_type, name in found.named.items():
        if entity_type in (BROKERS, BROKER_LOGGERS) and name:
            _check_broker_id(entity_type, name)
        if entity_type == IPS and name:
            _check_ip(name)
    return found


def _check_types(types: tuple[str, ...]) -> None:
    repeated = [each for number, each in enumerate(types) if each in types[:number]]
    if repeated:
        raise UsageError(f"Duplicate entity type(s) specified: {','.join(repeated)}")
    for entity_type in types:
        if entity_type not in ENTITY_TYPES:
            must = f"the entity type must be one of {', '.join(ENTITY_TYPES)}"
            error = UsageError(f"Invalid entity type {entity_type}, {must}")
            raise hinting(error, "entity type", entity_type, ENTITY_TYPES)
    if not types:
        raise UsageError("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise UsageError(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")


def _check_broker_id(entity_type: str, name: str) -> None:
    try:
        parse_int(name)
    except FormatError:
        raise UsageError(
            f"The entity name for {entity_type} must be a valid integer broker id, but it is: {name}"
        ) from None


def _check_ip(name: str) -> None:
    import socket

    try:
        socket.getaddrinfo(name, None)
    except OSError:
        raise UsageError(f"The entity name for ips must be a valid IP or resolvable host, but it is: {name}") from None


def check_describe(chosen: Entities) -> None:
    """Whether these can be described."""
    if "" in chosen.names and chosen.type not in WITH_DEFAULT:
        raise UsageError(f"--entity-default must not be specified with --describe of {','.join(chosen.types)}")
    if chosen.type == BROKER_LOGGERS and not chosen.names:
        raise UsageError(f"An entity name must be specified with --describe of {','.join(chosen.types)}")


def check_alter(chosen: Entities, adds: bool, adds_file: bool, deletes: bool) -> None:
    """Whether these can be altered by such options."""
    if chosen.type in WITH_DEFAULT and not chosen.names:
        raise UsageError(
            "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
        )
    if chosen.type not in WITH_DEFAULT and not any(chosen.names):
        raise UsageError(f"An entity name must be specified with --alter of {','.join(chosen.types)}")
    if adds and adds_file:
        raise UsageError("Only one of --add-config or --add-config-file must be specified")
    if not (adds or adds_file or deletes):
        raise UsageError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )
    if len(chosen.types) != len(chosen.names):
        raise UsageError("An entity name must be specified for every entity type")
