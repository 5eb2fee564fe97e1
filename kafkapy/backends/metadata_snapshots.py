"""When the metadata log is due for a snapshot, and the snapshot.

Kafka takes one when 20 MiB of records came after the newest, or when it is an hour old and anything came
(``metadata.log.max.record.bytes.between.snapshots``, ``metadata.log.max.snapshot.interval.ms``). It ends where the log
does, holds the whole image, and goes to every node under the same name.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.backends.log_dirs import METADATA_TOPIC
from kafkapy.formats import snapshot_id
from kafkapy.formats.snapshot_id import SnapshotId
from kafkapy.formats.time_text import duration_text
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_log import salvage_metadata
from kafkapy.metadata.metadata_replay import LoadedMetadata
from kafkapy.metadata.metadata_snapshot import Snapshot, encode_snapshot, read_snapshot

MAX_BYTES_BETWEEN = 20 << 20
MAX_INTERVAL_MS = 60 * 60 * 1000


class DueSnapshot(NamedTuple):
    """A snapshot to be written, and why."""

    snapshot_id: SnapshotId
    data: bytes
    reason: str


def due_snapshot(log_dirs: tuple[str, ...], now: int, asked: bool) -> DueSnapshot | None:
    """The snapshot that is due, or ``asked`` for; None where the newest has all, or the log ends in a transaction, or
    is damaged: a snapshot of what is left would pass for all of it."""
    loaded = salvage_metadata(*log_dirs)
    if loaded is None or loaded.damage or loaded.from_bootstrap or loaded.in_transaction or loaded.end_offset == 0:
        return None
    directory = os.path.join(loaded.log_dir, DIRECTORY_NAME)
    newest = _newest(directory)
    if newest is not None and newest.end_offset >= loaded.end_offset:
        return None
    start = 0 if newest is None else newest.end_offset
    reason = "it was asked for" if asked else _reason(directory, newest, start, now)
    if reason is None:
        return None
    provenance = loaded.image.provenance
    taken = SnapshotId(provenance.offset + 1, provenance.epoch)
    return DueSnapshot(taken, encode_snapshot(_snapshot(loaded), taken.epoch, now), reason)


def _snapshot(loaded: LoadedMetadata) -> Snapshot:
    records = tuple(loaded.image.to_records())
    return Snapshot(records, loaded.image.provenance.timestamp, loaded.kraft_version, loaded.voters)


def _newest(directory: str) -> SnapshotId | None:
    parsed = [snapshot_id.parse(name) for name in os.listdir(directory) if name.endswith(snapshot_id.SUFFIX)]
    return max((each.snapshot_id for each in parsed if each is not None), default=None)


def _reason(directory: str, newest: SnapshotId | None, start: int, now: int) -> str | None:
    log = PartitionReader(directory, TopicPartition(METADATA_TOPIC, 0))
    headers = [header for segment in log.segments for _, header in segment.headers(start)]
    grown = sum(header.size for header in headers)
    if grown >= MAX_BYTES_BETWEEN:
        return f"{grown} bytes came since the last one, metadata.log.max.record.bytes.between.snapshots is reached"
    if newest is None:
        since = headers[0].max_timestamp if headers else now
    else:
        since = read_snapshot(os.path.join(directory, newest.file_name())).last_contained_log_timestamp
    if now - since >= MAX_INTERVAL_MS:
        what = "the last one" if newest is not None else "the first record"
        return f"{what} is {duration_text(now - since)} old, metadata.log.max.snapshot.interval.ms={MAX_INTERVAL_MS}"
    return None
