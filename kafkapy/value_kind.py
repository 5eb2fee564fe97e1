"""Which names an option takes, as its metavar says: the metavar's first word is the kind, the rest is its form.

    TOPIC                     one name
    TOPIC[,TOPIC...]          several, with commas
    CONFIG=VALUE[,...]        names that go on after a "="
    TOPIC[:PARTITION,...]     a topic, then perhaps partitions of it
    TOPIC:PARTITION[,...]     a partition of a topic, and more of them
    SCENARIO|FILE.yaml        one name, or a file

A metavar in brackets is a value that may be left out. One of small letters, ``classic|consumer``, has the choices
themselves.
"""

from __future__ import annotations

import re
from typing import NamedTuple

OF_A_CLUSTER = ("TOPIC", "PARTITION", "GROUP", "BROKER", "TRANSACTIONAL-ID", "ENTITY")
OF_KAFKAPY = ("CONFIG", "CONTEXT", "SCENARIO", "TABLE", "COLUMN", "PAGE")
_CHOICES = re.compile(r"\[?([a-z][\w-]*(?:\|[a-z][\w-]*)+)\]?")
_FIRST_WORD = re.compile(r"\[?([A-Z]+(?:-[A-Z]+)*)")


class ValueKind(NamedTuple):
    """What is to be offered for an option's value."""

    kind: str
    several: bool = False
    ends_with: str = ""
    """What follows each name at once: "=" before a config's value, ":" before a partition."""
    partitions: bool = False
    """Whether names of topics are followed by a colon and partitions."""
    several_partitions: bool = False
    or_file: bool = False

    @property
    def shown(self) -> str:
        """The kind in words."""
        return self.kind.lower().replace("-", " ")


def value_kind(metavar: str) -> ValueKind | None:
    """The kind of an option's value; None where nothing but the user knows it."""
    word = _FIRST_WORD.match(metavar)
    if word is None or word[1] not in OF_A_CLUSTER + OF_KAFKAPY:
        return None
    form = metavar[word.end() :]
    before, _, after = form.partition(":PARTITION")
    if form.startswith(("[:", ":")):
        several_partitions = after.startswith(",")
        several = "," in after and not several_partitions
        return ValueKind(word[1], several, "" if before else ":", True, several_partitions)
    return ValueKind(word[1], "," in form, "=" if form.startswith("=") else "", or_file=form.startswith("|FILE"))


def choices(metavar: str) -> tuple[str, ...]:
    """The choices that a metavar names."""
    named = _CHOICES.fullmatch(metavar)
    return tuple(named[1].split("|")) if named else ()
