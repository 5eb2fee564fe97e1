"""A cluster directory that is read all the time, and opened for the moments of writing.

Only one process at a time may write to a cluster directory. A process that mostly reads, such as a consumer that
follows, must not keep others from it for as long as it runs: it opens the directory for each moment in which it has
something to write, and closes it again. Where another process writes just then, it waits for up to a minute
(waiting.py); what can wait for the next time is not waited for at all.

A cluster that is opened for reading keeps the metadata it found. ``metadata_mark`` changes when there is more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Protocol

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_lock import GroupLock
from kafkapy.backends.group_membership import FileMembership, Membership
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.selection import Selection, open_cluster, open_cluster_for_writing
from kafkapy.backends.waiting import Tell, Time, waited
from kafkapy.errors import Unsupported
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME

TIMEOUT_S = 60.0


class Shared(Protocol):
    """A cluster that members of a group read, and write to now and then."""

    time: Time

    def read(self) -> Cluster:
        """The cluster as it is now, to be read."""
        ...

    def metadata_mark(self) -> object:
        """What changes when there may be more metadata."""
        ...

    def write(self, wait: bool = True) -> AbstractContextManager[Cluster]:
        """The cluster, to be changed until the end of the block; LogDirHeldError where it is not free (in time)."""
        ...

    def locked(self, group_id: str) -> AbstractContextManager[None]:
        """Have a group to oneself, as far as that is needed, and let go of everything at the end."""
        ...

    def membership(self, options: GroupOptions) -> Membership:
        """How members take part in a group."""
        ...


def shared_cluster(selection: Selection, tell: Tell, time: Time) -> Shared:
    """The cluster that is selected."""
    if not selection.is_live:
        return SharedCluster(selection, tell, time)
    from kafkapy.backends.live.opening import open_live
    from kafkapy.backends.live.shared_live import SharedLiveCluster

    return SharedLiveCluster(open_live(selection), time)


class SharedCluster:
    """One cluster directory; ``opener`` opens it for writing."""

    def __init__(
        self, selection: Selection, tell: Tell, time: Time, opener: Callable[[], Cluster] | None = None
    ) -> None:
        if selection.log_dirs:
            raise Unsupported(
                "consuming as a member of a group",
                "--log-dirs",
                "a member writes into the cluster; leave --group out to read, or use --cluster for one to write",
            )
        self.directory = selection.directory
        self.time = time
        self._tell = tell
        self._selection = selection
        self._opener = opener or (lambda: open_cluster_for_writing(selection, wait_s=0))

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
        cluster = waited(self._opener, TIMEOUT_S if wait else 0, self._tell, self.time)
        try:
            yield cluster
        finally:
            cluster.close()

    @contextmanager
    def locked(self, group_id: str) -> Iterator[None]:
        """Only one process at a time has members of a group."""
        self.read()  # a directory that is not there is told about as such
        lock = GroupLock(self.directory, group_id, self.time.now_ms())
        try:
            yield
        finally:
            lock.release()

    def membership(self, options: GroupOptions) -> Membership:
        """Members whose coordinator is this process."""
        return FileMembership(options)
