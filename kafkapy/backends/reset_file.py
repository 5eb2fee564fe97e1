"""The CSV file of a reset: what ``--export`` prints and ``--from-file`` reads.

    topic,partition,offset          where one group is named
    group,topic,partition,offset    else, and also taken where one group is named

There is no header. A file is of one form, the one of its first line; empty lines are none. No offset is negative.
Kafka's tool takes a missing offset for 0; here every line must have all fields, since a group would silently go back to
its beginning.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkapyError, UsageError
from kafkapy.formats.java_parsing import parse_int, parse_long
from kafkapy.log.topic_partition import TopicPartition

_LONGEST_UNQUOTED = 24
_FIRST_UNQUOTED = "-"

SHORT, LONG = "topic,partition,offset", "group,topic,partition,offset"


class ResetFile(NamedTuple):
    """The offsets of each group, and the line that each partition is in."""

    offsets: dict[str, dict[TopicPartition, int]]
    places: dict[TopicPartition, str]


def parse_reset_file(text: str, path: str, groups: Sequence[str]) -> ResetFile:
    """What a file says; ``groups`` are those that were named."""
    offsets: dict[str, dict[TopicPartition, int]] = defaultdict(dict)
    places: dict[TopicPartition, str] = {}
    form = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            fields = _fields(line)
            form = form or _form(fields, groups)
            if len(fields) != form.count(",") + 1:
                raise KafkapyError(f"{line.rstrip()!r} is not {form}")
            group, topic, partition, offset = [*groups[:1], *fields] if form == SHORT else fields
            found = TopicPartition(topic, _number(parse_int, "partition", partition))
            offsets[group][found] = _number(parse_long, "offset", offset)
            if offsets[group][found] < 0:
                raise UsageError(f"Invalid negative offset: {offset.strip()}")
            places[found] = f"{path}, line {number}"
        except KafkapyError as error:
            raise type(error)(f"{path}, line {number}: {error}") from None
    return ResetFile(dict(offsets), places)


def _fields(line: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r")]), [])
    except csv.Error as error:
        raise KafkapyError(f"not CSV: {error}") from None


def _form(fields: Sequence[str], groups: Sequence[str]) -> str:
    """The form of a file, by its first line. Where both are allowed, one that fits neither was meant to be short."""
    return SHORT if len(groups) == 1 and len(fields) != 4 else LONG


def _number(parse: Callable[[str], int], field: str, text: str) -> int:
    try:
        return parse(text.strip())
    except FormatError:
        raise KafkapyError(f"the {field} {text.strip()!r} is not a number, or is too large") from None


def reset_file_lines(rows: Iterable[tuple[str, TopicPartition, int]], with_group: bool) -> Iterator[str]:
    """The lines of such a file."""
    for group, (topic, partition), offset in rows:
        fields = _quoted(group), _quoted(topic), str(partition), str(offset)
        yield ",".join(fields if with_group else fields[1:])


def _quoted(name: str) -> str:
    """In quotes where Kafka's tool puts them: a name of another kind than most, or too long to be looked at."""
    is_plain = len(name) <= _LONGEST_UNQUOTED and all(char >= _FIRST_UNQUOTED and char != "\\" for char in name)
    return name if is_plain else '"' + name.replace('"', '""') + '"'
