"""A cluster directory that is read all the time, and opened for the moments of writing.

Only one process at a time may write to a cluster directory. A process that mostly reads, such as a consumer that
follows, must not keep others from it for as long as it runs: it opens the directory for each moment in which it has
something to write, and closes it again. Where another process writes just then, it waits, says so after a second, and
gives up after a minute; what can wait for the next time is not waited for at all.

A cluster that is opened for reading keeps the metadata it found. ``metadata_mark`` changes when there is more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.log_dir_lock import LogDirHeldError
from kafkapy.backends.selection import Selection, open_cluster, open_cluster_for_writing
from kafkapy.errors import Unsupported
from kafkapy.metadata.metadata_log import DIRECTORY_NAME

PATIENCE_S = 1.0
TIMEOUT_S = 60.0
PAUSE_S = 0.05

Tell = Callable[[str], object]


class Time:
    """A clock and a way to wait; tests have their own."""

    def __init__(self) -> None:
        import time

        self.monotonic: Callable[[], float] = time.monotonic
        self.sleep: Callable[[float], object] = time.sleep
        self._now = time.time

    def now_ms(self) -> int:
        """The time, in ms."""
        return int(self._now() * 1000)


class SharedCluster:
    """One cluster directory; ``opener`` opens it for writing."""

    def __init__(
        self, selection: Selection, tell: Tell, time: Time, opener: Callable[[], Cluster] | None = None
    ) -> None:
        if selection.log_dirs or selection.bootstrap_server:
            raise Unsupported(
                "consuming as a member of a group",
                "--log-dirs" if selection.log_dirs else "--bootstrap-server in this version",
                "a member writes into the cluster; leave --group out to read, or use --cluster for one to write",
            )
        self.directory = selection.directory
        self.time = time
        self._tell = tell
        self._selection = selection
        self._opener = opener or (lambda: open_cluster_for_writing(selection))

    def read(self) -> Cluster:
        """The cluster as it is now, to be read."""
        return open_cluster(self._selection)

    def metadata_mark(self) -> tuple[tuple[str, int], ...]:
        """The files of one broker's metadata log and their sizes: every change makes one longer."""
        with os.scandir(self._metadata) as entries:
            return tuple(sorted((entry.name, entry.stat().st_size) for entry in entries))

    @cached_property
    def _metadata(self) -> str:
        from kafkapy.backends.cluster_file import read_cluster_file

        first = read_cluster_file(self.directory).brokers[0].log_dirs[0]
        return os.path.join(self.directory, first, DIRECTORY_NAME)

    @contextmanager
    def write(self, wait: bool = True) -> Iterator[Cluster]:
        """The cluster, to be changed until the end of the block; LogDirHeldError where it is not free (in time)."""
        cluster = self._waited() if wait else self._opener()
        try:
            yield cluster
        finally:
            cluster.close()

    def _waited(self) -> Cluster:
        begun, told = self.time.monotonic(), False
        while True:
            try:
                return self._opener()
            except LogDirHeldError as busy:
                waited = self.time.monotonic() - begun
                if waited >= TIMEOUT_S:
                    raise LogDirHeldError(f"{busy} (waited for {TIMEOUT_S:.0f} s)") from None
                if waited >= PATIENCE_S and not told:
                    self._tell(f"kafkapy: waiting: {busy}")
                    told = True
                self.time.sleep(PAUSE_S)
