"""Who holds a group in a cluster directory, for changes that a group with members refuses.

Members that no living process holds are removed before the change, and each is told. Where a process lives, it keeps
its members, and the refusal is followed by a line that names it. In directories of real brokers nobody can tell.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection


def evict_left_behind(chosen: "Selection", cluster: "Cluster", groups: Iterable[str]) -> None:
    """Remove what processes left behind in these groups."""
    if not _is_directory(chosen):
        return
    from kafkapy.backends import group_eviction
    from kafkapy.backends.groups import group_coordinator

    coordinator = group_coordinator(cluster.groups())
    for group in groups:
        for member_id in group_eviction.evict_left_behind(coordinator, chosen.directory, group):
            warn(f"kafkapy: removed member {member_id} of group {group}: its process ended without leaving")


def tell_left_behind(chosen: "Selection", cluster: "Cluster", groups: Iterable[str]) -> None:
    """Say of a change that is only tried what making it would remove first."""
    if not _is_directory(chosen):
        return
    from kafkapy.backends.group_eviction import left_behind
    from kafkapy.backends.groups import group_coordinator

    coordinator = group_coordinator(cluster.groups())
    for group in groups:
        if members := left_behind(coordinator, chosen.directory, group):
            warn(
                f"kafkapy: no process is in group {group} any more: with --execute, the members that one left behind "
                f"are removed first ({', '.join(members)})"
            )


def tell_holders(chosen: "Selection", groups: Iterable[str]) -> None:
    """Name the processes that hold groups."""
    if not _is_directory(chosen):
        return
    from kafkapy.backends.group_lock import holder

    for group in groups:
        if (found := holder(chosen.directory, group)) is not None:
            warn(f"kafkapy: group {group} is consumed by {found}: stop it first")


def _is_directory(chosen: "Selection") -> bool:
    return not (chosen.log_dirs or chosen.is_live)
