"""Members that a process left behind in a group: the log has them, and nobody speaks for them.

A process that consumes in a cluster directory holds the lock of its group. A broker that serves one holds the locks of
its log dirs, so whoever may write to a cluster directory knows that no broker speaks for members either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.group_lock import holder
from kafkapy.backends.group_options import GroupOptions
from kafkapy.coordinator.group import ClassicGroup, Group, GroupType

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator


def evict(coordinator: GroupCoordinator, options: GroupOptions, instance_ids: Sequence[str]) -> list[str]:
    """Remove them, but for static ones that are about to come back with the same protocol; the member ids."""
    group = coordinator.store.group(options.group_id)
    if isinstance(group, ClassicGroup):
        coming = instance_ids if options.protocol == "classic" else ()
        keep = [each.member_id for each in group.members.values() if each.group_instance_id in coming]
        return coordinator.classic.evict(options.group_id, keep)
    if group is None or group.type is not GroupType.CONSUMER:
        return []
    coming = instance_ids if options.protocol == "consumer" else ()
    known = {member_id: member.metadata or {} for member_id, member in group.members.items()}
    keep = [member_id for member_id, metadata in known.items() if metadata.get("instanceId") in coming]
    return coordinator.consumer.evict(options.group_id, keep)


def left_behind(coordinator: GroupCoordinator, directory: str, group_id: str) -> list[str]:
    """The ids of the members of a group in a cluster directory, if no living process holds the group."""
    group = coordinator.store.group(group_id)
    if group is None or not _is_ours(group) or not group.members or holder(directory, group_id) is not None:
        return []
    return sorted(group.members)


def evict_left_behind(coordinator: GroupCoordinator, directory: str, group_id: str) -> list[str]:
    """Remove them; the member ids."""
    if not left_behind(coordinator, directory, group_id):
        return []
    if isinstance(coordinator.store.group(group_id), ClassicGroup):
        return coordinator.classic.evict(group_id, ())
    return coordinator.consumer.evict(group_id, ())


def _is_ours(group: Group) -> bool:
    return isinstance(group, ClassicGroup) or group.type is GroupType.CONSUMER
