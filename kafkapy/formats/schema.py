"""The model of Kafka's message schemas, and the parser of the tables beside it.

A table (schemas/AREA.txt; schemas/requests/NAME.txt for a request and its response) holds one block a message, one
line a field:

    OffsetCommitValue coordinator-value key=1 versions=0-4 flexible=4+
      offset          int64
      leaderEpoch     int32    3+ default=-1 ignorable
      topicId         uuid     4+ tag=0 ignorable

The head has the message's name, its type, its api key if it has one, the versions that exist and those of them
that use the flexible encoding (compact lengths, tagged fields). A field has its name as Kafka's JSON spells it, its
type, and after that only what is not ordinary: the versions that have it (else all), ``tag=N`` (it is a tagged field
in all its versions), ``nullable`` (in all its versions) or ``nullable=V`` (in those), ``default=X`` (else zero, empty
or all defaults), ``ignorable`` (dropped in silence where a version lacks it), ``mapKey``.

``[]T`` is an array. The fields of a struct are indented beneath the field that has it; a struct that several fields
share stands at the end of the block as ``struct NAME`` with its fields beneath. The order of the fields is the order
of the bytes. A table is parsed when its area is first asked for, never before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafkapy.formats.uuid import ZERO_UUID

OPEN_END = 0x7FFF

_ZERO: dict[str, Any] = {"bool": False, "float64": 0.0, "string": "", "bytes": b"", "records": b"", "uuid": ZERO_UUID}
PRIMITIVES = frozenset([*_ZERO, "int8", "int16", "uint16", "int32", "uint32", "int64"])


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions, both ends in it; empty when low is above high."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __str__(self) -> str:
        if self.low > self.high:
            return "none"
        if self.high == OPEN_END:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"

    def nearest(self, version: int) -> int:
        return min(max(version, self.low), self.high)


ALL_VERSIONS = Versions(0, OPEN_END)
NO_VERSIONS = Versions(0, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field. ``type`` is the type of an element when it is an array; ``struct`` is set when that is a struct."""

    name: str
    type: str
    is_array: bool
    struct: Struct | None
    versions: Versions
    tag: int | None
    nullable: Versions
    default_text: str | None
    ignorable: bool
    map_key: bool

    def default(self) -> Any:
        """What the field holds when nobody set it: a new value each time, for lists and structs can change."""
        if self.default_text == "null":
            return None
        if self.is_array:
            return []
        if self.struct is not None:
            return self.struct.defaults()
        if self.default_text is None:
            return _ZERO.get(self.type, 0)
        return self.default_text == "true" if self.type == "bool" else int(self.default_text)


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """Fields in the order of their bytes. ``inline`` is true of a struct that one field has for itself alone."""

    name: str
    fields: tuple[Field, ...]
    inline: bool

    def defaults(self) -> dict[str, Any]:
        return {field.name: field.default() for field in self.fields}

    def at(self, version: int) -> tuple[list[Field], list[Field]]:
        """The fields a version has, and those it may not lose: the ones it lacks that are not ignorable."""
        return _split(self, version)


@cache
def _split(struct: Struct, version: int) -> tuple[list[Field], list[Field]]:
    here = [field for field in struct.fields if version in field.versions]
    return here, [field for field in struct.fields if field not in here and not field.ignorable]


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """One message in all its versions."""

    name: str
    type: str
    api_key: int | None
    valid_versions: Versions
    flexible_versions: Versions
    struct: Struct


@cache
def schemas(area: str) -> dict[str, Schema]:
    """Every message of an area by name, e.g. ``schemas("metadata")["TopicRecord"]``."""
    path = os.path.join(os.path.dirname(__file__), "schemas", f"{area}.txt")
    with open(path, encoding="utf-8") as table:
        return {schema.name: schema for schema in parse_table(table.read())}


@cache
def schemas_by_key(area: str, message_type: str) -> dict[int, Schema]:
    """The messages of one type by api key, e.g. ``schemas_by_key("group_coordinator", "coordinator-value")``."""
    found = (schema for schema in schemas(area).values() if schema.type == message_type)
    return {schema.api_key: schema for schema in found if schema.api_key is not None}


def parse_table(text: str) -> list[Schema]:
    """The messages of a table, in its order."""
    lines = [(len(line) - len(line.lstrip()), line.split()) for line in text.splitlines() if _is_content(line)]
    return [_parse_message(block) for block in _blocks(lines)]


_Line = tuple[int, list[str]]


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _blocks(lines: list[_Line]) -> list[list[_Line]]:
    """Cuts lines into runs that begin with a line of the least indentation."""
    blocks: list[list[_Line]] = []
    for line in lines:
        if line[0] == lines[0][0]:
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _parse_message(block: list[_Line]) -> Schema:
    name, message_type, *words = block[0][1]
    options = dict(word.split("=", 1) for word in words)
    body = _blocks(block[1:])
    shared = {lines[0][1][1]: lines[1:] for lines in body if lines[0][1][0] == "struct"}
    fields = tuple(_parse_field(lines, shared) for lines in body if lines[0][1][0] != "struct")
    return Schema(
        name=name,
        type=message_type,
        api_key=int(options["key"]) if "key" in options else None,
        valid_versions=_parse_versions(options["versions"]),
        flexible_versions=_parse_versions(options["flexible"]) if "flexible" in options else NO_VERSIONS,
        struct=Struct(name, fields, inline=False),
    )


def _parse_field(block: list[_Line], shared: dict[str, list[_Line]]) -> Field:
    name, full_type, *words = block[0][1]
    element_type = full_type.removeprefix("[]")
    options = dict(word.split("=", 1) for word in words if "=" in word)
    in_versions = [_parse_versions(word) for word in words if word[0].isdigit()]
    versions = in_versions[0] if in_versions else ALL_VERSIONS
    return Field(
        name=name,
        type=element_type,
        is_array=full_type.startswith("[]"),
        struct=None if element_type in PRIMITIVES else _parse_struct(element_type, block[1:], shared),
        versions=versions,
        tag=int(options["tag"]) if "tag" in options else None,
        nullable=_parse_nullable(words, options, versions),
        default_text=options.get("default"),
        ignorable="ignorable" in words,
        map_key="mapKey" in words,
    )


def _parse_struct(name: str, own_lines: list[_Line], shared: dict[str, list[_Line]]) -> Struct:
    blocks = _blocks(own_lines or shared[name])
    return Struct(name, tuple(_parse_field(block, shared) for block in blocks), inline=bool(own_lines))


def _parse_nullable(words: list[str], options: dict[str, str], versions: Versions) -> Versions:
    if "nullable" in words:
        return versions
    return _parse_versions(options["nullable"]) if "nullable" in options else NO_VERSIONS


def _parse_versions(text: str) -> Versions:
    if text.endswith("+"):
        return Versions(int(text[:-1]), OPEN_END)
    low, _, high = text.partition("-")
    return Versions(int(low), int(high or low))
