"""The few records of a metadata log that a completion looks at, among all those of topics and partitions.

To decode all takes longer than a user waits. So a batch is looked into only if its bytes have what such a record begins
with (the frame's version, 1, then the type and the version), and of its records only those are decoded whose bytes have
it. What the bytes of others happen to look like costs a look, and no more.

The newest snapshot is read and the log after it; where there is no snapshot, bootstrap.checkpoint first, whose records
the log may lack. Transactions of the metadata are not waited for: what an aborted one had set is offered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import snapshot_id
from kafkapy.formats.compression import Codec, decompress
from kafkapy.formats.record_batch import HEADER_SIZE, BatchHeader, decode_record
from kafkapy.formats.varint import read_varint
from kafkapy.log.batch import batch_bytes, walk
from kafkapy.log.names import LOG_SUFFIX
from kafkapy.log.window import Window


class MetadataFile(NamedTuple):
    """A snapshot or a segment, and the offset from which on it counts."""

    path: str
    start: int = 0


def metadata_files(directory: str) -> Iterator[MetadataFile]:
    """The files of a metadata directory that are to be read, in order."""
    names = os.listdir(directory)
    snapshots = [found for found in map(_snapshot, names) if found is not None]
    newest = max(snapshots, key=lambda each: (each.epoch, each.end_offset), default=None)
    if newest is None:
        yield MetadataFile(os.path.join(os.path.dirname(directory), snapshot_id.BOOTSTRAP_FILE_NAME))
    else:
        yield MetadataFile(os.path.join(directory, newest.file_name()))
    for name in sorted(name for name in names if name.endswith(LOG_SUFFIX)):
        yield MetadataFile(os.path.join(directory, name), 0 if newest is None else newest.end_offset)


def records_that_begin(files: Iterable[MetadataFile], begins: re.Pattern[bytes]) -> Iterator[bytes]:
    """The records that begin so; what cannot be read ends its file."""
    for file in files:
        with suppress(KafkapyError, OSError):
            yield from _records(file, begins)


def _records(file: MetadataFile, begins: re.Pattern[bytes]) -> Iterator[bytes]:
    with Window(file.path) as window:
        for _, header in walk(window):
            if header.is_control or header.last_offset < file.start:
                continue
            data = batch_bytes(window, header.size)[HEADER_SIZE:]
            if header.codec is not Codec.NONE:
                data = decompress(header.codec, data)
            if begins.search(data) is not None:
                yield from _in_batch(header, data, begins)


def _in_batch(header: BatchHeader, data: bytes, begins: re.Pattern[bytes]) -> Iterator[bytes]:
    position = 0
    for _ in range(header.record_count):
        length, start = read_varint(data, position)
        if begins.search(data, start, start + length) is not None:
            value = decode_record(header, data, position)[0].value
            if value is not None and begins.match(value) is not None:
                yield value
        position = start + length


def _snapshot(name: str) -> snapshot_id.SnapshotId | None:
    with suppress(FormatError):
        found = snapshot_id.parse(name)
        if found is not None and not found.partial and not found.deleted:
            return found.snapshot_id
    return None
