"""A running cluster for a group's members: it is there all the time, for reading and for writing.

Topics that appear, go or grow are looked for every ``metadata.max.age.ms``, as Kafka's consumers do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_membership import Membership
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.live.live_cluster import LiveCluster
from kafkapy.backends.waiting import Time

METADATA_MAX_AGE_S = 300.0


class SharedLiveCluster:
    """One connection to the cluster; brokers see to it that writers do not get into each other's way."""

    def __init__(self, cluster: LiveCluster, time: Time) -> None:
        self.time = time
        self._cluster = cluster

    def read(self) -> Cluster:
        """The cluster as it is now."""
        self._cluster.forget_metadata()
        return self._cluster

    def metadata_mark(self) -> object:
        """What changes when the metadata should be looked at again."""
        return self.time.monotonic() // METADATA_MAX_AGE_S

    @contextmanager
    def write(self, wait: bool = True) -> Iterator[Cluster]:
        """The same cluster."""
        yield self._cluster

    @contextmanager
    def locked(self, group_id: str) -> Iterator[None]:
        """Other processes may have members of the group, too."""
        try:
            yield
        finally:
            self._cluster.close()

    def membership(self, options: GroupOptions) -> Membership:
        """Members that a broker coordinates."""
        from kafkapy.backends.live.live_membership import LiveMembership

        return LiveMembership(self._cluster.client, options, self._cluster.forget_metadata)
