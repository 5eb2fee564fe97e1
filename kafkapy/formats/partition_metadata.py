"""The topic id of a partition dir: ``partition.metadata``.

    version: 0
    topic_id: x1FvxV5tS-CzvP5OVrXOIw

Two lines, no newline at the end: 43 bytes. Invariant: the id is never zero, and never changes. A dir whose id is not
the one the metadata log has for its topic belongs to a deleted topic of the same name: a stray.

Kafka writes it as ``partition.metadata.tmp`` and renames before the first append, so after a crash it is whole or, for
an empty partition, missing. Dirs made by brokers before 2.8 have none.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats.java_parsing import parse_int, read_lines, split_spaces
from kafkapy.formats.uuid import ZERO_UUID, uuid_bytes, uuid_text

FILE_NAME = "partition.metadata"
CURRENT_VERSION = 0


class PartitionMetadata(NamedTuple):
    topic_id: str
    version: int = CURRENT_VERSION


def decode(data: bytes, location: str) -> PartitionMetadata:
    """The id and the version, which may be a later one: what follows the first two lines is not read."""
    lines = read_lines(data)
    version = _version(lines, location)
    topic_id = uuid_text(uuid_bytes(_second_field(lines, 1, location)))
    if topic_id == ZERO_UUID:
        raise FormatError(f"Invalid topic ID in partition metadata file ({location})")
    return PartitionMetadata(topic_id, version)


def encode(metadata: PartitionMetadata) -> bytes:
    return f"version: {metadata.version}\ntopic_id: {metadata.topic_id}".encode("ascii")


def _second_field(lines: list[str], index: int, location: str) -> str:
    line = lines[index] if index < len(lines) else ""
    fields = split_spaces(line)
    if len(fields) != 2:
        raise _malformed(line, location)
    return fields[1]


def _version(lines: list[str], location: str) -> int:
    text = _second_field(lines, 0, location)
    try:
        version = parse_int(text)
    except FormatError:
        raise _malformed(lines[0], location) from None
    if version < CURRENT_VERSION:
        raise FormatError(f"Unrecognized version of partition metadata file ({location}): {version}")
    return version


def _malformed(line: str, location: str) -> FormatError:
    return FormatError(f"Malformed line in partition metadata file [{location}]: {line}")
