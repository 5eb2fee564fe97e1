"""The copies of partitions that lie in log dirs: which there are, whose they are, and which one to read.

Which broker and cluster a log dir belongs to stands in its meta.properties; of a cluster directory cluster.yaml tells
it, too (``owners``), where that file is gone or cannot be read. Log dirs of two clusters are not mixed, and a directory
that has neither that file nor partitions is no log dir.

Of several copies the leader's is read; where no leader is known, as after a clean stop with ELR or without metadata,
the one whose log reaches farthest: highest last epoch, then highest end. One with damage at its end is passed over for
a copy without that reaches at least as far.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from kafkapy.backends.log_dir_identity import read_meta_properties
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import clean_shutdown, meta_properties, offset_checkpoint, partition_metadata
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.log.checkpoints import Offsets, read_checkpoint
from kafkapy.log.names import FUTURE_DIR_SUFFIX, LOG_SUFFIX, partition_dirs
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.near_misses import did_you_mean_path

NO_OWNERS: Mapping[str, int] = {}
_NOT_THERE = "; is its disk mounted, and is it what log.dirs of the broker names?"


class Replica(NamedTuple):
    """A partition directory."""

    partition: TopicPartition
    log_dir: str
    path: str
    is_future: bool = False


class LogDirs:
    """A set of log dirs, read and never written."""

    def __init__(self, paths: tuple[str, ...], owners: Mapping[str, int] = NO_OWNERS) -> None:
        for path in paths:
            if not os.path.isdir(path):
                raise KafkapyError(f"{path}: no such directory{did_you_mean_path(path) or _NOT_THERE}")
        self.paths = paths
        self._owners = owners
        self._metas = {path: _meta_properties(path) for path in paths}
        self._check_cluster()

    def _check_cluster(self) -> None:
        known = [(meta.cluster_id, path) for path, meta in self._metas.items() if meta and meta.cluster_id]
        for cluster_id, path in known[1:]:
            if cluster_id != known[0][0]:
                raise KafkapyError(
                    f"{known[0][1]} belongs to the cluster {known[0][0]}, {path} to {cluster_id}: give the log dirs of "
                    "one cluster"
                )

    @cached_property
    def broker_ids(self) -> dict[str, int | None]:
        """The broker of each log dir."""
        return {path: self._owners.get(path) if meta is None else meta.node_id for path, meta in self._metas.items()}

    def directory_id(self, path: str) -> str | None:
        """The id of a log dir, where it says so."""
        meta = self._metas[path]
        return None if meta is None else meta.directory_id

    @cached_property
    def replicas(self) -> dict[TopicPartition, list[Replica]]:
        """Every copy of every partition; directories on their way out are left out."""
        found: dict[TopicPartition, list[Replica]] = defaultdict(list)
        for log_dir in self.paths:
            for name, path in partition_dirs(log_dir):
                partition = TopicPartition(name.topic, name.partition)
                if name.mark in ("", FUTURE_DIR_SUFFIX):
                    found[partition].append(Replica(partition, log_dir, path, bool(name.mark)))
        return dict(found)

    def reader(self, replica: Replica) -> PartitionReader:
        """The log of one copy."""
        starts, ends = self._checkpoints(replica.log_dir)
        key = (replica.partition.topic, replica.partition.partition)
        return PartitionReader(replica.path, replica.partition, starts.get(key), ends.get(key))

    def copies(self, partition: TopicPartition, leader: int | None) -> Iterator[PartitionReader]:
        """The logs of a partition: the leader's, then those that reach farthest."""
        copies = [replica for replica in self.replicas.get(partition, ()) if not replica.is_future]
        led = [each for each in copies if leader is not None and self.broker_ids[each.log_dir] == leader]
        for found in (led, [each for each in copies if each not in led]):
            readers = map(self.reader, found)
            yield from sorted(readers, key=reach, reverse=True) if len(found) > 1 else readers

    def best_reader(self, partition: TopicPartition, leader: int | None) -> PartitionReader | None:
        """The log to read of a partition; None where no copy is here."""
        readers = self.copies(partition, leader)
        is_single = len(self.replicas.get(partition, ())) == 1
        return next(readers) if is_single else whole_copy(readers)

    def _checkpoints(self, log_dir: str) -> tuple[Offsets, Offsets]:
        """Where logs begin, and where they ended when the broker stopped cleanly."""
        if log_dir not in self._read_checkpoints:
            starts = read_checkpoint(log_dir, offset_checkpoint.LOG_START_OFFSET_FILE)
            self._read_checkpoints[log_dir] = (starts, _clean_ends(log_dir))
        return self._read_checkpoints[log_dir]

    @cached_property
    def _read_checkpoints(self) -> dict[str, tuple[Offsets, Offsets]]:
        return {}


def _clean_ends(log_dir: str) -> Offsets:
    """How far logs went at least when their broker stopped cleanly: what it had synced, and what was committed. Nothing
    of one that did not: a crash may cost both, and one that runs may have begun a topic of the same name anew."""
    if not os.path.exists(os.path.join(log_dir, clean_shutdown.FILE_NAME)):
        return {}
    names = (offset_checkpoint.RECOVERY_POINT_FILE, offset_checkpoint.HIGH_WATERMARK_FILE)
    synced, committed = (read_checkpoint(log_dir, name) for name in names)
    return {key: max(synced.get(key, 0), committed.get(key, 0)) for key in {**synced, **committed}}


def whole_copy(readers: Iterable[PartitionReader]) -> PartitionReader | None:
    """The first copy, or if its end is damaged the first without such damage that reaches at least as far."""
    first = None
    for reader in readers:
        if reader.damage is None and (first is None or reader.log_end_offset >= first.log_end_offset):
            return reader
        first = first or reader
    return first


def reach(reader: PartitionReader) -> tuple[int, int]:
    """How far a log reaches beside others: its last epoch, then its end. Epochs that cannot be read are as none."""
    try:
        epochs = reader.epochs
    except FormatError:
        epochs = []
    return (epochs[-1].epoch if epochs else -1), reader.log_end_offset


def _meta_properties(log_dir: str) -> MetaProperties | None:
    try:
        return read_meta_properties(log_dir)
    except (FormatError, PermissionError):
        return None
    except FileNotFoundError:
        if any(_is_partition(path) for _, path in partition_dirs(log_dir)):
            return None
    below = sorted(name for name in os.listdir(log_dir) if _is_formatted(os.path.join(log_dir, name)))
    hint = f"; {', '.join(below)} in it {'is one' if len(below) == 1 else 'are'}" if below else ""
    raise KafkapyError(
        f"{log_dir} is not a log dir of a broker: it has no {meta_properties.FILE_NAME} and no partitions{hint}"
    )


def _is_partition(path: str) -> bool:
    """Whether a directory is more than named like one of a partition, as ``broker-1`` is."""
    try:
        names = os.listdir(path)
    except PermissionError:
        return False
    return any(name.endswith(LOG_SUFFIX) or name == partition_metadata.FILE_NAME for name in names)


def _is_formatted(path: str) -> bool:
    return os.path.exists(os.path.join(path, meta_properties.FILE_NAME))
