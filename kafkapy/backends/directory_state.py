"""The surroundings of a cluster directory while it is written: what cluster.yaml says, and what follows from it.

Which brokers there are, which of them run, where their log dirs are, and how far simulated time is ahead. Every change
is written before it holds, the whole file at once: killed in between, the file says what was or what is.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from kafkapy.backends.cluster_file import FILE_NAME, ClusterFile, encode, file_version, read_cluster_file
from kafkapy.backends.log_dir_identity import directory_id
from kafkapy.replication.broker_state import BrokerState, BrokerStates

if TYPE_CHECKING:
    from kafkapy.backends.write_guard import WriteGuard
    from kafkapy.log.files import Files


class DirectoryState:
    """``fixed_now`` stands for the clock, in ms."""

    def __init__(self, directory: str, files: Files, guard: WriteGuard, fixed_now: int | None = None) -> None:
        self._directory = directory
        self._files = files
        self._guard = guard
        self._fixed_now = fixed_now
        self._version, self.cluster_file = file_version(directory), read_cluster_file(directory)
        self.brokers: BrokerStates = self.cluster_file.states

    def look_again(self) -> None:
        """With the locks taken: who held them just before may have written the file."""
        if file_version(self._directory) != self._version:
            self.cluster_file = read_cluster_file(self._directory)
            self.brokers = self.cluster_file.states

    def now(self) -> int:
        """The time, in ms: that of the clock, unless one was given; simulated time may be ahead of it."""
        now = int(time.time() * 1000) if self._fixed_now is None else self._fixed_now
        return now + self.cluster_file.clock_offset_ms

    def log_dirs(self, broker_id: int) -> list[str]:
        """The log dirs of a broker."""
        broker = self.cluster_file.broker(broker_id)
        return [os.path.join(self._directory, path) for path in broker.log_dirs] if broker is not None else []

    def directory_ids(self) -> dict[str, str]:
        """The ids of all log dirs; an error where one is not what the file says."""
        return {
            path: directory_id(path, broker.id, self.cluster_file.cluster_id)
            for broker in self.cluster_file.brokers
            for path in self.log_dirs(broker.id)
        }

    @property
    def every_log_dir(self) -> tuple[str, ...]:
        """The log dirs of all brokers, also of those that do not run."""
        return tuple(path for broker in self.cluster_file.brokers for path in self.log_dirs(broker.id))

    @property
    def alive_log_dirs(self) -> tuple[str, ...]:
        """The log dirs of the brokers that run."""
        alive = [broker.id for broker in self.cluster_file.brokers if broker.id in self.brokers.alive]
        return tuple(path for broker_id in alive for path in self.log_dirs(broker_id))

    def set_state(self, broker_id: int, state: str) -> None:
        """What a broker does from now on."""
        now = self.now()
        self._write(self.cluster_file.with_state(broker_id, BrokerState(state, now)))
        self.brokers.set(broker_id, state, now)

    def advance_clock(self, ms: int) -> None:
        """Simulated time passes."""
        self._write(self.cluster_file._replace(clock_offset_ms=self.cluster_file.clock_offset_ms + ms))

    def _write(self, cluster_file: ClusterFile) -> None:
        with self._guard.short():
            self._files.write_atomic(os.path.join(self._directory, FILE_NAME), encode(cluster_file))
        self.cluster_file = cluster_file
