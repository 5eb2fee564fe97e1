"""``_kafkapy_export.json``: what an export holds. Spark and Arrow pass over names that begin with ``_``.

    {"kafkapy_export": 1,                        the version of this format
     "options": {"table": "records", ...},       what all runs agree on, by the names of the options (request.py)
     "topics": {
       "orders": {
         "0": {                                  a partition
           "topic_id": "9bVMNxFVTFupOJvSBLuCMw", null where no broker wrote one
           "log_start": 0,                       where the log began when it was last exported
           "ranges": [[0, 1200]],                the offsets that are done, ends exclusive; between two ranges the log
                                                 lost records before they were exported
           "files": [{"path": "topic=orders/part-orders-0-...parquet", "rows": 1200, "bytes": 4711}]
     }}},
     "files": []}                                the files of a table that is exported whole (request.py)

Invariant: every file that it names is there, whole and synced, and their rows are exactly those of the ranges. It is
replaced in one step, after the new files have their names and before the old ones go.

After a crash it is the old one or the new one. A file of ours that it does not name is a leftover, and so is whatever
lies in the staging directory (staging.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition

FILE_NAME = "_kafkapy_export.json"
VERSION_KEY, VERSION = "kafkapy_export", 1


class FileEntry(NamedTuple):
    """A file by its path below the export."""

    path: str
    rows: int
    bytes: int


class PartitionEntry(NamedTuple):
    """What is there of one partition."""

    topic_id: str | None
    log_start: int
    ranges: tuple[tuple[int, int], ...] = ()
    files: tuple[FileEntry, ...] = ()

    @property
    def end(self) -> int:
        """The offset up to which it is done."""
        return self.ranges[-1][1] if self.ranges else 0


class Manifest(NamedTuple):
    """All that is there."""

    options: dict[str, Any]
    partitions: dict[TopicPartition, PartitionEntry]
    files: tuple[FileEntry, ...] = ()

    def all_files(self) -> Iterator[FileEntry]:
        """Every file."""
        for entry in self.partitions.values():
            yield from entry.files
        yield from self.files


def read_manifest(out: str) -> Manifest | None:
    """The manifest of an export; None where there is none."""
    path = os.path.join(out, FILE_NAME)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return decode(data, path)


def write_manifest(out: str, manifest: Manifest, files: Files) -> None:
    """Replace the manifest in one step."""
    files.write_atomic(os.path.join(out, FILE_NAME), encode(manifest))


def encode(manifest: Manifest) -> bytes:
    """As it is in the file."""
    topics: dict[str, Any] = {}
    for partition, entry in sorted(manifest.partitions.items()):
        topics.setdefault(partition.topic, {})[str(partition.partition)] = {
            "topic_id": entry.topic_id,
            "log_start": entry.log_start,
            "ranges": [list(each) for each in entry.ranges],
            "files": [file._asdict() for file in entry.files],
        }
    document = {
        VERSION_KEY: VERSION,
        "options": manifest.options,
        "topics": topics,
        "files": [file._asdict() for file in manifest.files],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def decode(data: bytes, path: str) -> Manifest:
    """From what is in the file."""
    try:
        document = json.loads(data)
        version = document[VERSION_KEY]
        if version != VERSION:
            raise KafkapyError(f"{path} is of version {version}, which this kafkapy does not know: use a newer one")
        return Manifest(dict(document["options"]), dict(_partitions(document)), _files(document["files"]))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise KafkapyError(
            f"{path} is not a manifest of an export ({type(error).__name__}: {error}): put back the one that was "
            "there, or export to another --out"
        ) from None


def _partitions(document: Any) -> Iterator[tuple[TopicPartition, PartitionEntry]]:
    for name, topic in document["topics"].items():
        for number, found in topic.items():
            ranges = tuple((int(start), int(end)) for start, end in found["ranges"])
            entry = PartitionEntry(found["topic_id"], int(found["log_start"]), ranges, _files(found["files"]))
            yield TopicPartition(name, int(number)), entry


def _files(found: Any) -> tuple[FileEntry, ...]:
    return tuple(FileEntry(str(each["path"]), int(each["rows"]), int(each["bytes"])) for each in found)
