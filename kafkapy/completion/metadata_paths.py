"""The paths of ``kafkapy metadata-shell``, by the code that completes them at its prompt.

Of files, only the records are replayed that the directory of a path is made of: partitions are most of a metadata log,
and of these only the ones of a topic whose own directory is meant. What one lists beside those has nothing in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.completion.cluster_names import names_of
from kafkapy.completion.metadata_records import MetadataFile, records_that_begin
from kafkapy.errors import FormatError
from kafkapy.formats.metadata_record import decode
from kafkapy.formats.uuid import uuid_bytes
from kafkapy.metadata.delta import MetadataDelta
from kafkapy.metadata.image import EMPTY
from kafkapy.metadata.image_tree import normalize, root
from kafkapy.metadata.metadata_shell import MetadataShell

if TYPE_CHECKING:
    from kafkapy.completion.values import Asked
    from kafkapy.metadata.image import MetadataImage

_BEGINS = {
    "topics": re.compile(rb"\x01[\x02\x09]\x00"),
    "configs": re.compile(rb"\x01[\x02\x04\x09]\x00"),
}
"""TopicRecord, ConfigRecord, and RemoveTopicRecord, which takes back both."""
_OTHERS = re.compile(rb"\x01[^\x02\x03\x04\x05\x09]")
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
    _replay(records_that_begin(files, _BEGINS.get(directory[1] if len(directory) > 1 else "", _OTHERS)), delta)
    topics = {**delta.topics, **delta.topics_by_id}
    if directory[1:2] == ["topics"] and directory[3:] and directory[3] in topics:
        topic_id = re.escape(uuid_bytes(topics[directory[3]].id))
        _replay(records_that_begin(files, re.compile(_PARTITION_BEFORE_TOPIC_ID + topic_id)), delta)
    return delta.image()


def _replay(records: Iterable[bytes], delta: MetadataDelta) -> None:
    for record in records:
        with suppress(FormatError):
            delta.replay(decode(record))
