"""The CSV file of a reset: what ``--export`` prints and ``--from-file`` reads.

    topic,partition,offset          where one group is named
    group,topic,partition,offset    else, and also taken where one group is named

There is no header. A file is of one form, the one of its first line. Kafka's tool takes a missing offset for 0; here
every line must have all fields, since a group would silently go back to its beginning.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats.java_parsing import parse_int, parse_long
from kafkapy.log.topic_partition import TopicPartition

_LONGEST_UNQUOTED = 24
_FIRST_UNQUOTED = "-"

ResetOffsets = dict[str, dict[TopicPartition, int]]


def parse_reset_file(text: str, path: str, groups: Sequence[str]) -> ResetOffsets:
    """The offsets of each group; ``groups`` are those that were named."""
    found: ResetOffsets = defaultdict(dict)
    is_short = False
    for number, line in enumerate(_lines(text), 1):
        try:
            fields = next(csv.reader([line]), [])
            is_short = len(groups) == 1 and len(fields) == 3 if number == 1 else is_short
            group, topic, partition, offset = [groups[0], *fields] if is_short else fields
            found[group][TopicPartition(topic, parse_int(partition.strip()))] = parse_long(offset.strip())
        except (ValueError, csv.Error):
            wanted = "topic,partition,offset" if is_short else "group,topic,partition,offset"
            raise KafkapyError(f"{path}, line {number}: {line!r} is not {wanted}") from None
        except FormatError as error:
            raise KafkapyError(f"{path}, line {number}: {error}") from None
    return dict(found)


def reset_file_lines(rows: Iterable[tuple[str, TopicPartition, int]], with_group: bool) -> Iterator[str]:
    """The lines of such a file."""
    for group, (topic, partition), offset in rows:
        fields = _quoted(group), _quoted(topic), str(partition), str(offset)
        yield ",".join(fields if with_group else fields[1:])


def _lines(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _quoted(name: str) -> str:
    """In quotes where Kafka's tool puts them: a name of another kind than most, or too long to be looked at."""
    is_plain = len(name) <= _LONGEST_UNQUOTED and all(char >= _FIRST_UNQUOTED and char != "\\" for char in name)
    return name if is_plain else '"' + name.replace('"', '""') + '"'
