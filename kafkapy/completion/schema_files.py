"""How keys and values may be decoded, with the files that may have the schema: ``avro:orders.avsc``.

A shell knows files only where a word begins with one, so they are looked for here: those that end as schemas do, and
directories, or else all. A shell would not expand ``~`` behind a colon, and neither does this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.completion.values import Asked

_BY_ITSELF = ("string", "json")
_BY_A_SCHEMA = ("avro:", "confluent:")
_SUFFIXES = (".avsc", ".json")


def decodings(asked: Asked) -> Iterable[str]:
    """The ways of decoding, and behind a colon paths."""
    way, colon, path = asked.typed.partition(":")
    if way + colon not in _BY_A_SCHEMA:
        return (*_BY_ITSELF, *_BY_A_SCHEMA)
    return (f"{way}:{each}" for each in _paths(path))


def _paths(typed: str) -> list[str]:
    """Directories end with a slash; hidden names are there only for who types their dot."""
    directory, begun = os.path.split(typed)
    before = typed.removesuffix(begun)
    with os.scandir(os.path.expandvars(directory) or ".") as entries:
        found = sorted(
            f"{before}{entry.name}{'/' * entry.is_dir()}"
            for entry in entries
            if entry.name.startswith(begun) and entry.name.startswith(".") == begun.startswith(".")
        )
    return [path for path in found if path.endswith((*_SUFFIXES, "/"))] or found
