"""The paths of ``kafkapy metadata-shell``, by the code that completes them at its prompt.

Of files, only the records are replayed that the directory of a path is made of, and none where it is always the same:
partitions are most of a metadata log, and of these only the ones of a topic whose own directory is meant. What one
lists beside those has nothing in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.completion.cluster_names import names_of
from kafkapy.completion.metadata_records import MetadataFile, records_that_begin
from kafkapy.errors import FormatError
from kafkapy.formats.message_reader import MessageReader, decode_utf8
from kafkapy.formats.metadata_record import decode
from kafkapy.formats.uuid import uuid_bytes
from kafkapy.metadata.delta import MetadataDelta
from kafkapy.metadata.image import EMPTY
from kafkapy.metadata.image_tree import normalize, root
from kafkapy.metadata.metadata_shell import MetadataShell

if TYPE_CHECKING:
    from kafkapy.completion.values import Asked
    from kafkapy.metadata.image import MetadataImage

_TOPIC = b"\x02"
_TOPIC_FRAME = b"\x01" + _TOPIC + b"\x00"
_TYPES = {
    "features": b"\x0c",
    "cluster": b"\x00\x01\x07\x08\x11\x1b",
    "topics": _TOPIC + b"\x09",
    "configs": _TOPIC + b"\x04\x09",
    "clientQuotas": b"\x0e",
    "acls": b"\x12\x13",
    "scram": b"\x0b\x16",
    "delegationToken": b"\x0a\x1a",
}
"""The types of the records of each section: those that set something, and those that take it back. With a topic go its
configs."""
_PARTITION_BEFORE_TOPIC_ID = rb"(?s:\x01\x03.{5})"
"""The frame of a PartitionRecord, and its partition's number."""


def metadata_paths(asked: Asked) -> list[str]:
    """The paths that begin as what was typed does, in a file or in the cluster that the line means."""
    directory = normalize(asked.typed.rpartition("/")[0])
    file = asked.line.path("snapshot") or asked.line.path("s")
    image = names_of(asked.line).image(directory) if file is None else image_for([MetadataFile(file)], directory)
    return MetadataShell(root(image, "", "")).complete(asked.typed)


def image_for(files: Sequence[MetadataFile], directory: Sequence[str]) -> MetadataImage:
    """An image that has what is in one directory of the tree."""
    delta = MetadataDelta(EMPTY)
    types = _TYPES.get(directory[1], b"") if len(directory) > 1 else b""
    if types:
        _replay(records_that_begin(files, re.compile(b"\\x01[" + re.escape(types) + b"]")), delta)
    topics = {**delta.topics, **delta.topics_by_id}
    if directory[1:2] == ["topics"] and directory[3:] and directory[3] in topics:
        topic_id = re.escape(uuid_bytes(topics[directory[3]].id))
        _replay(records_that_begin(files, re.compile(_PARTITION_BEFORE_TOPIC_ID + topic_id)), delta)
    return delta.image()


def _replay(records: Iterable[bytes], delta: MetadataDelta) -> None:
    for record in records:
        with suppress(FormatError):
            if record.startswith(_TOPIC_FRAME):
                _replay_topic(MessageReader(record, len(_TOPIC_FRAME)), delta)
            else:
                delta.replay(decode(record))


def _replay_topic(reader: MessageReader, delta: MetadataDelta) -> None:
    """A topic, without the tables of schemas and their interpreter: there are thousands."""
    name = decode_utf8(reader.array(reader.compact_length()))
    delta.topic({"name": name, "topicId": reader.uuid()})
