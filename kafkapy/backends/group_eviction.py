"""Members that a process left behind in a group: the log has them, and nobody speaks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.group_options import GroupOptions
from kafkapy.coordinator.group import ClassicGroup, GroupType

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
