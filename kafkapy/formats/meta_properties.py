"""The identity of a log dir: ``meta.properties``.

| key          | version 1 | version 0 (made under ZooKeeper)   |
|--------------|-----------|------------------------------------|
| version      | 1         | 0, or missing                      |
| cluster.id   | required  | optional                           |
| node.id      | required  | not read; ``broker.id``, optional  |
| directory.id | optional  | optional                           |

Invariant: all dirs of a node agree on the cluster and the node, and no two directory ids are the same.

Kafka writes it as ``meta.properties.tmp`` and renames, so a crash leaves the old or the new text. A log dir without the
file was never formatted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkapy.errors import FormatError
from kafkapy.formats import java_properties
from kafkapy.formats.java_parsing import parse_int
from kafkapy.formats.uuid import uuid_bytes, uuid_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

FILE_NAME = "meta.properties"

_VERSIONS = (0, 1)
# String.trim drops every character up to the space.
_TRIMMED = "".join(map(chr, range(0x21)))


@dataclass(frozen=True, slots=True)
class MetaProperties:
    version: int
    cluster_id: str | None
    node_id: int | None
    directory_id: str | None = None

    def __post_init__(self) -> None:
        if self.version and self.cluster_id is None:
            raise FormatError("cluster.id was not found.")
        if self.version and self.node_id is None:
            raise FormatError("node.id was not found.")


def decode(data: bytes) -> MetaProperties:
    properties = java_properties.load(data)
    version = _version(properties.get("version", "0"))
    return MetaProperties(
        version, properties.get("cluster.id"), _node_id(properties, version), _directory_id(properties)
    )


def encode(meta: MetaProperties, written_at: datetime) -> bytes:
    """The file's text, with its keys in the order that Kafka's hash map gives them."""
    values = {
        "broker.id" if meta.version == 0 else "node.id": meta.node_id,
        "directory.id": meta.directory_id,
        "version": meta.version,
        "cluster.id": meta.cluster_id,
    }
    properties = {key: str(value) for key, value in values.items() if value is not None}
    return java_properties.store(properties, written_at).encode("utf-8", "replace")


def _version(text: str) -> int:
    try:
        version = parse_int(text.strip(_TRIMMED))
    except FormatError:
        raise FormatError(f"Invalid meta.properties version string '{text}'") from None
    if version not in _VERSIONS:
        raise FormatError(f"Unknown meta.properties version number {version}")
    return version


def _node_id(properties: Mapping[str, str], version: int) -> int | None:
    key = "broker.id" if version == 0 else "node.id"
    text = properties.get(key)
    if text is None:
        if version == 0:
            return None
        raise FormatError(f"Failed to find {key}")
    try:
        return parse_int(text)
    except FormatError:
        raise FormatError(f"Unable to read {key} as a base-10 number.") from None


def _directory_id(properties: Mapping[str, str]) -> str | None:
    text = properties.get("directory.id")
    if text is None:
        return None
    try:
        return uuid_text(uuid_bytes(text))
    except FormatError as error:
        raise FormatError(f"Unable to read directory.id as a Uuid: {error}") from None
