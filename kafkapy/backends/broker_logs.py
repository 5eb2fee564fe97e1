"""The logs of one broker of a cluster directory, opened to be written.

A log dir that was stopped cleanly has Kafka's ``.kafka_cleanshutdown``. It is taken away before the first write and
put back, with the checkpoints, when all logs are closed: killed in between, the next command finds no mark and
recovers every log first, as a broker would. The mark holds the broker's epoch, by which a real controller knows that
the stop was clean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats import clean_shutdown, offset_checkpoint
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.names import DELETE_DIR_SUFFIX, PartitionDir, partition_dirs
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.metadata_log import DIRECTORY_NAME as METADATA_DIRECTORY

Offsets = dict[tuple[str, int], int]
ConfigOf = Callable[[TopicPartition], LogConfig]


class Environment(NamedTuple):
    """What every log of a command is opened with."""

    files: Files
    now: int
    config_of: ConfigOf


class BrokerLogs:
    """The partitions in one log dir."""

    def __init__(self, log_dir: str, broker_epoch: int, environment: Environment) -> None:
        self.log_dir = log_dir
        self._broker_epoch = broker_epoch
        self._environment = environment
        self._open: dict[TopicPartition, PartitionLog] = {}
        self._starts = self._checkpoint(offset_checkpoint.LOG_START_OFFSET_FILE)
        self._recovery_points = self._checkpoint(offset_checkpoint.RECOVERY_POINT_FILE)
        self._high_watermarks = self._checkpoint(offset_checkpoint.HIGH_WATERMARK_FILE)
        mark = os.path.join(log_dir, clean_shutdown.FILE_NAME)
        self._clean = os.path.exists(mark)
        if self._clean:
            environment.files.unlink(mark)

    def recover(self) -> Iterator[str]:
        """After an unclean stop, open every log, which recovers it; what was done. Deleted partitions go for good."""
        for name, path in partition_dirs(self.log_dir):
            if name.mark == DELETE_DIR_SUFFIX:
                self._environment.files.rmtree(path)
            elif not name.mark and not self._clean and name.name != METADATA_DIRECTORY:
                partition = TopicPartition(name.topic, name.partition)
                yield from (f"{path}: {line}" for line in self.log(partition, None).recovered)

    def log(self, partition: TopicPartition, topic_id: str | None) -> PartitionLog:
        """The log of a partition, made where it is not there."""
        if partition not in self._open:
            key = (partition.topic, partition.partition)
            path = self.path(partition)
            if not os.path.isdir(path):
                self._environment.files.mkdir(path)
            self._open[partition] = PartitionLog.open(
                path,
                partition,
                self._environment.config_of(partition),
                files=self._environment.files,
                now=self._environment.now,
                clean_shutdown=self._clean,
                recovery_point=self._recovery_points.get(key, 0),
                log_start_offset=self._starts.get(key),
                topic_id=topic_id,
            )
        return self._open[partition]

    def path(self, partition: TopicPartition) -> str:
        """The directory of a partition."""
        return os.path.join(self.log_dir, str(partition))

    def delete(self, partition: TopicPartition, unique_id: str) -> None:
        """Take a partition away: first out of sight under another name, then for good."""
        opened = self._open.pop(partition, None)
        if opened is not None:
            opened.close(self._environment.now)
        path = self.path(partition)
        if os.path.isdir(path):
            name = PartitionDir(partition.topic, partition.partition, DELETE_DIR_SUFFIX, unique_id).name
            gone = os.path.join(self.log_dir, name)
            self._environment.files.rename(path, gone)
            self._environment.files.rmtree(gone)
        for offsets in (self._starts, self._recovery_points, self._high_watermarks):
            offsets.pop((partition.topic, partition.partition), None)

    def flush(self) -> None:
        """Bring what was appended to disk."""
        for log in self._open.values():
            log.flush()

    def close(self) -> None:
        """Close every log and leave the checkpoints and the mark of a clean stop."""
        for partition, log in self._open.items():
            log.close(self._environment.now)
            key = (partition.topic, partition.partition)
            self._recovery_points[key] = self._high_watermarks[key] = log.log_end_offset
            if log.log_start_offset > log.segments[0].base_offset:
                self._starts[key] = log.log_start_offset
        self._write(offset_checkpoint.RECOVERY_POINT_FILE, self._recovery_points)
        self._write(offset_checkpoint.LOG_START_OFFSET_FILE, self._starts)
        self._write(offset_checkpoint.HIGH_WATERMARK_FILE, self._high_watermarks)
        self._environment.files.write_atomic(
            os.path.join(self.log_dir, clean_shutdown.FILE_NAME), clean_shutdown.encode(self._broker_epoch)
        )
        self._open.clear()

    def _write(self, name: str, offsets: Offsets) -> None:
        self._environment.files.write_atomic(os.path.join(self.log_dir, name), offset_checkpoint.encode(offsets))

    def _checkpoint(self, name: str) -> Offsets:
        path = os.path.join(self.log_dir, name)
        try:
            with open(path, "rb") as file:
                return dict(offset_checkpoint.decode(file.read(), path))
        except (FileNotFoundError, FormatError):
            return {}
