"""The group coordinator: groups and offsets as a broker's writes them, in a cluster without brokers."""

from __future__ import annotations

from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster


class GroupCoordinator:
    """The coordinator of every group of a cluster."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster = cluster
