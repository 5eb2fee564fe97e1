"""The copies of partitions that lie in log dirs: which there are, whose they are, and which one to read.

Which broker a log dir belongs to stands in its meta.properties. Of several copies the leader's is read; where no
leader is known, as after a clean stop with ELR or without metadata, the one whose log reaches farthest: highest last
epoch, then highest end.
"""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cached_property
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import meta_properties, offset_checkpoint
from kafkapy.log.checkpoints import Offsets, read_checkpoint
from kafkapy.log.names import FUTURE_DIR_SUFFIX, partition_dirs
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition


class Replica(NamedTuple):
    """A partition directory."""

    partition: TopicPartition
    log_dir: str
    path: str
    is_future: bool = False


class LogDirs:
    """A set of log dirs, read and never written."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            if not os.path.isdir(path):
                raise KafkapyError(f"{path}: no such directory")
        self.paths = paths

    @cached_property
    def broker_ids(self) -> dict[str, int | None]:
        """The broker of each log dir."""
        return {path: _node_id(path) for path in self.paths}

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
        start = self._log_start_offsets(replica.log_dir).get((replica.partition.topic, replica.partition.partition))
        return PartitionReader(replica.path, replica.partition, start)

    def best_reader(self, partition: TopicPartition, leader: int | None) -> PartitionReader | None:
        """The log to read of a partition; None where no copy is here."""
        copies = [replica for replica in self.replicas.get(partition, ()) if not replica.is_future]
        for replica in copies:
            if leader is not None and self.broker_ids[replica.log_dir] == leader:
                return self.reader(replica)
        readers = [self.reader(replica) for replica in copies]
        return max(readers, key=_reach, default=None) if len(readers) != 1 else readers[0]

    def _log_start_offsets(self, log_dir: str) -> Offsets:
        if log_dir not in self._starts:
            self._starts[log_dir] = read_checkpoint(log_dir, offset_checkpoint.LOG_START_OFFSET_FILE)
        return self._starts[log_dir]

    @cached_property
    def _starts(self) -> dict[str, Offsets]:
        return {}


def _reach(reader: PartitionReader) -> tuple[int, int]:
    epochs = reader.epochs
    return (epochs[-1].epoch if epochs else -1), reader.log_end_offset


def _node_id(log_dir: str) -> int | None:
    try:
        with open(os.path.join(log_dir, meta_properties.FILE_NAME), "rb") as file:
            return meta_properties.decode(file.read()).node_id
    except (FileNotFoundError, FormatError):
        return None
