"""The group coordinator: groups and offsets as a broker's writes them, in a cluster without brokers.

What it knows is in ``store``. Who changes it does so through one of three parts: ``offset_manager`` for offsets of any
group, ``classic`` and ``consumer`` for members that come and go.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kafkapy.coordinator.group_store import GroupStore
from kafkapy.errors import KafkaError
from kafkapy.metadata.topics_image import NO_LEADER

if TYPE_CHECKING:
    from kafkapy.coordinator.classic_groups import ClassicGroups
    from kafkapy.coordinator.consumer_groups import ConsumerGroups
    from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
    from kafkapy.coordinator.group_description import GroupDescription, GroupListing
    from kafkapy.coordinator.group_log import Offsets
    from kafkapy.coordinator.offset_manager import OffsetManager


class GroupCoordinator:
    """The coordinator of every group of a cluster."""

    def __init__(self, cluster: CoordinatorCluster) -> None:
        self._cluster = cluster
        self.store = GroupStore(cluster)

    @cached_property
    def offset_manager(self) -> OffsetManager:
        """Commits and removes offsets."""
        from kafkapy.coordinator.offset_manager import OffsetManager

        return OffsetManager(self._cluster, self.store, self.classic)

    @cached_property
    def classic(self) -> ClassicGroups:
        """The groups whose members divide the partitions."""
        from kafkapy.coordinator.classic_groups import ClassicGroups

        return ClassicGroups(self._cluster, self.store)

    @cached_property
    def consumer(self) -> ConsumerGroups:
        """The groups whose coordinator divides the partitions."""
        from kafkapy.coordinator.consumer_groups import ConsumerGroups

        return ConsumerGroups(self._cluster, self.store)

    def list(self) -> list[GroupListing]:
        """Every group, of any type, sorted by id."""
        from kafkapy.coordinator.group_describer import listing

        return [listing(group) for group in self.store.groups().values()]

    def describe(self, group_id: str) -> GroupDescription:
        """A group and its members."""
        from kafkapy.coordinator.group_describer import describe

        group = self.store.group(group_id)
        if group is None:
            raise KafkaError("GroupIdNotFoundException", f"Group {group_id} not found.")
        return describe(group, self._cluster.image(), self._coordinator_of(group_id), self.store.problems)

    def offsets(self, group_id: str) -> Offsets:
        """What a group has committed, sorted by partition."""
        return self.store.offsets(group_id)

    def _coordinator_of(self, group_id: str) -> int:
        topic, number = self.store.partition(group_id)
        registration = self._cluster.image().topics[topic].partitions.get(number)
        return NO_LEADER if registration is None else registration.leader
