"""Which names an option takes, as its metavar says: the metavar's first word is the kind, the rest is its form.

    TOPIC                     one name
    TOPIC[,TOPIC...]          several, with commas
    CONFIG=VALUE[,...]        a name, "=" and a value, and more of them
    TOPIC[:PARTITION,...]     a topic, then perhaps partitions of it
    TOPIC:PARTITION[,...]     a partition of a topic, and more of them
    TOPIC[:PARTITION][,...]   a topic or a partition of one, and more of them
    TOPIC:CONFIG=VALUE        a topic, and a config of it
    BROKER:BROKER[,...]       several, with colons, and lists of them, with commas
    COL[:desc]                a name, then perhaps a word
    TOPIC|REGEX               one name, or what nothing but the user knows
    SCENARIO|FILE.yaml        one name, or a file
    HOST:PORT[,...]           addresses: a name each, whatever is in it
    EVENT@N                   a name, and behind it a number that nothing but the user knows
    FILE.json                 a file of that kind
    DIR                       a directory

A metavar in brackets is a value that may be left out. One of small letters, ``classic|consumer``, has the choices
themselves, and ``earliest|latest|OFFSET`` has some beside what nothing but the user knows; ``topic|date[,...]`` takes
several of them. ``[cat|ls [METADATA-PATH...]]`` takes one as its first word, and then names in words of their own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

OF_A_CLUSTER = frozenset(
    (
        *("TOPIC", "TOPIC-ID", "PARTITION", "GROUP", "TRANSACTIONAL-ID", "PRODUCER-ID"),
        *("BROKER", "NODE", "CONTROLLER", "CONTROLLER-DIR"),
        *("ENTITY", "USER", "PRINCIPAL", "CLIENT-ID", "IP", "CLIENT-METRICS", "TOKEN"),
        "METADATA-PATH",
    )
)
OF_KAFKAPY = frozenset(
    (
        *("CONFIG", "VALUE", "FEATURE", "LEVEL", "RELEASE", "STATE", "OPERATION"),
        *("COL", "CONTEXT", "HOST:PORT", "URL", "SCENARIO", "TABLE", "COLUMN", "PAGE"),
        *("PROPERTY", "SETTING", "FORMATTER", "DESERIALIZER", "DECODER", "DECODING", "SPEC", "CREDENTIAL", "CHANGE"),
        *("ENTITY-TYPE", "EVENT", "SPARK-SETTING"),
    )
)
OF_FILES = frozenset(("PATH", "FILE", "DIR"))
_CHOICES = re.compile(r"\[?([a-z][\w-]*(?:\|[a-z\d-][a-z\d_-]*)+)(?:\|[A-Z]+)?\]?")
_SEVERAL_CHOICES = re.compile(r"\[?([a-z][\w-]*(?:\|[a-z][\w-]*)+)\[?,\.\.\.\]")
_FIRST_THEN_OTHERS = re.compile(r"\[([a-z|]+) \[([A-Z-]+)\.\.\.\]\]")
_FIRST_WORD = re.compile(r"\[?(HOST:PORT|[A-Z]+(?:-[A-Z]+)*)")
_SUFFIX = re.compile(r"FILE(\.[a-z]+)")
_FOLLOWED = re.compile(r"(\[)?([:=])([\w=-]+)(,\.\.\.)?(\])?(.*)")


class ValueKind(NamedTuple):
    """What is to be offered for an option's value."""

    kind: str
    separators: str = ""
    """What stands between several of them."""
    joint: str = ""
    """What stands between a name and what follows it: "=" before a config's value, ":" before a partition, and a blank
    where the next words follow it."""
    then: ValueKind | None = None
    """What follows a name."""
    is_then_needed: bool = False
    or_file: bool = False

    @property
    def shown(self) -> str:
        """The kind in words."""
        return "column" if self.kind == "COL" else self.kind.lower().replace("-", " ").replace("|", ", ")


def value_kind(metavar: str) -> ValueKind | None:
    """The kind of an option's value; None where nothing but the user knows it."""
    several = _SEVERAL_CHOICES.fullmatch(metavar)
    if several is not None:
        return ValueKind(several[1], ",")
    first = _FIRST_THEN_OTHERS.fullmatch(metavar)
    if first is not None:
        return ValueKind(first[1], joint=" ", then=ValueKind(first[2]))
    word = _first_word(metavar)
    if word not in OF_A_CLUSTER | OF_KAFKAPY:
        return None
    form = metavar.lstrip("[").removeprefix(word)
    followed = _FOLLOWED.match(form)
    if followed is None:
        return ValueKind(word, _comma(form), or_file=form.startswith("|FILE"))
    bracket, joint, following, more, _, rest = followed.groups()
    if following == word:
        return ValueKind(word, joint + ",")
    then = value_kind(following + (more or "")) or ValueKind(following)
    return ValueKind(word, _comma(rest), joint, then, is_then_needed=bracket is None)


def takes_files(metavar: str) -> bool:
    """Whether a value is a path, or a list of them."""
    return _first_word(metavar) in OF_FILES


def takes_directories(metavar: str) -> bool:
    """Whether a value is a directory, or a list of them."""
    return _first_word(metavar) == "DIR"


def file_suffix(metavar: str) -> str:
    """How the name of a file ends; nothing where any will do."""
    named = _SUFFIX.fullmatch(metavar)
    return "" if named is None else named[1]


def choices(metavar: str) -> tuple[str, ...]:
    """The choices that a metavar names."""
    named = _CHOICES.fullmatch(metavar)
    return tuple(named[1].split("|")) if named else ()


def _first_word(metavar: str) -> str:
    word = _FIRST_WORD.match(metavar)
    return "" if word is None else word[1]


def _comma(form: str) -> str:
    return "," if "," in form else ""
