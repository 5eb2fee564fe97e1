"""A cluster directory that is only read: as the brokers that run would answer, without a lock.

Consumers read up to the leader's high watermark, which its log dir keeps when it is closed in good order; where a
command was killed, up to the end of the log. A partition that nobody leads and nobody could lead is not read at all.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.replication import eligible_leaders, why_not_led
from kafkapy.errors import KafkaError
from kafkapy.formats import clean_shutdown, offset_checkpoint
from kafkapy.log.checkpoints import Offsets, read_checkpoint
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.replica_diff import ReplicaDiff


class DirectoryReader(LogDirsCluster):
    """The log dirs of the brokers that run; of all, where none does."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.cluster_file = read_cluster_file(directory)
        self.brokers = self.cluster_file.states
        alive = [broker for broker in self.cluster_file.brokers if broker.id in self.brokers.alive]
        shown = alive or self.cluster_file.brokers
        self._owners = {
            os.path.join(directory, path): broker.id for broker in self.cluster_file.brokers for path in broker.log_dirs
        }
        paths = (os.path.join(directory, log_dir) for broker in shown for log_dir in broker.log_dirs)
        super().__init__(*paths, owners=self._owners)
        self._high_watermarks: dict[str, tuple[int, Offsets]] = {}

    @property
    def now(self) -> int:
        """The time, in ms, as coordinators ask for it; simulated time may be ahead of the clock."""
        return super().now + self.cluster_file.clock_offset_ms

    @property
    def where(self) -> str:
        """What to call the place where the logs are looked for."""
        return "the log dirs of the brokers that run"

    @property
    def _unfenced(self) -> frozenset[int]:
        return self.brokers.alive

    @property
    def every_log_dir(self) -> tuple[str, ...]:
        """The log dirs of all brokers, also of those that do not run."""
        return tuple(self._owners)

    def everywhere(self) -> LogDirsCluster:
        """The same with the log dirs of all brokers."""
        return self._everywhere

    @cached_property
    def _everywhere(self) -> LogDirsCluster:
        return LogDirsCluster(*self._owners, owners=self._owners)

    def replica_diff(self) -> ReplicaDiff:
        """Who compares the copies of all brokers, also of those that do not run."""
        from kafkapy.backends.file_replica_diff import FileReplicaDiff

        idle: dict[int | None, str] = {
            each.id: each.state.state for each in self.cluster_file.brokers if each.id not in self.brokers.fetching
        }
        return FileReplicaDiff(self.everywhere(), idle)

    def high_watermark(self, partition: TopicPartition, reader: PartitionReader) -> int:
        """The leader's."""
        registration = self._registration(partition)
        kept = None
        if registration is not None and registration.leader != NO_LEADER:
            kept = (self._kept(os.path.dirname(reader.directory)) or {}).get(partition)
        return reader.log_end_offset if kept is None else max(reader.log_start_offset, min(kept, reader.log_end_offset))

    def _kept(self, log_dir: str) -> Offsets | None:
        """The high watermarks of a log dir that was closed in good order, as they are now: others may write, too."""
        if not os.path.exists(os.path.join(log_dir, clean_shutdown.FILE_NAME)):
            return None
        try:
            written = os.stat(os.path.join(log_dir, offset_checkpoint.HIGH_WATERMARK_FILE)).st_mtime_ns
        except FileNotFoundError:
            return None
        if self._high_watermarks.get(log_dir, (None,))[0] != written:
            self._high_watermarks[log_dir] = written, read_checkpoint(log_dir, offset_checkpoint.HIGH_WATERMARK_FILE)
        return self._high_watermarks[log_dir][1]

    def _required(self, partition: TopicPartition) -> PartitionReader:
        registration = self._registration(partition)
        if registration is not None and not self._has_leader(registration):
            error = KafkaError(
                "LeaderNotAvailableException",
                "There is no leader for this topic-partition as we are in the middle of a leadership election.",
            )
            error.hint = why_not_led(registration, self.brokers)
            raise error
        return super()._required(partition)

    def _has_leader(self, registration: PartitionRegistration) -> bool:
        if registration.leader != NO_LEADER:
            return registration.leader in self.brokers.alive
        return not self.brokers.alive.isdisjoint(eligible_leaders(registration, self.brokers.known))
