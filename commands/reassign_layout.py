"""The cluster as plans see it: who has what, who leads, and who could."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.metadata.reassignment.layout import Layout


def current_layout(cluster: "Cluster", as_planned: bool) -> "Layout":
    """The layout; ``as_planned`` leaves out replicas that a reassignment under way removes."""
    from kafkapy.backends.cluster_layout import cluster_layout
    from kafkapy.metadata.reassignment.layout import with_in_sync

    return with_in_sync(cluster_layout(cluster, as_planned), cluster.image())
