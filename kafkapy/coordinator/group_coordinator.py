"""The group coordinator: groups and offsets as a broker's writes them, in a cluster without brokers.

What it knows is in ``store``. Who changes it does so through one of three parts: ``offset_manager`` for offsets of any
group, ``classic`` and ``consumer`` for members that come and go. What administrators ask and change is here, in the
form that running clusters have, too (backends/groups.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.errors import KafkaError, Unsupported
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER

if TYPE_CHECKING:
    from kafkapy.coordinator.classic_groups import ClassicGroups
    from kafkapy.coordinator.consumer_groups import ConsumerGroups
    from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
    from kafkapy.coordinator.group_description import GroupDescription, GroupListing
    from kafkapy.coordinator.group_log import Offsets
    from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
    from kafkapy.coordinator.offset_manager import OffsetManager
    from kafkapy.coordinator.share_group_description import EndOffset, SharePartitionOffset
    from kafkapy.coordinator.share_state import ShareStates
    from kafkapy.coordinator.streams_group_description import StreamsGroupDescription

    Problems = list[str]
    Listings = list[GroupListing]
    ShareOffsets = dict[str, list[SharePartitionOffset] | KafkaError]

T = TypeVar("T")
RUNNING_ONLY = "run it on the running cluster, with --bootstrap-server"


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

    @cached_property
    def _share_states(self) -> ShareStates:
        from kafkapy.coordinator.share_state import ShareStates

        return ShareStates(self._cluster)

    @property
    def problems(self) -> Problems:
        """What could not be read, as far as groups were asked for."""
        return [*self.store.problems, *(self._share_states.problems if "_share_states" in self.__dict__ else ())]

    def coordinator_address(self, coordinator: int) -> str | None:
        """``HOST:PORT`` of a broker; None for one that is not registered."""
        from kafkapy.metadata.broker_address import broker_address

        return broker_address(self._cluster.image(), coordinator)

    def list(self, states: Collection[GroupState] = (), types: Collection[GroupType] = ()) -> Listings:
        """Every group, sorted by id; of these states and types where some are given."""
        from kafkapy.coordinator.group_describer import listing

        found = (listing(group) for group in self.store.groups().values())
        return [each for each in found if (not states or each.state in states) and (not types or each.type in types)]

    def describe(self, group_id: str) -> GroupDescription:
        """A group of any type and its members."""
        from kafkapy.coordinator.group_describer import describe

        group = self.store.group(group_id)
        if group is None:
            raise KafkaError("GroupIdNotFoundException", f"Group {group_id} not found.")
        return describe(group, self._cluster.image(), self._coordinator_of(group_id), self.store.problems)

    def describe_consumer_groups(self, group_ids: Iterable[str]) -> dict[str, GroupDescription | KafkaError]:
        """Groups of consumers, by either protocol; an error for one that is not there, or none of these."""
        from kafkapy.coordinator.typed_groups import check_of_consumers

        def described(group_id: str) -> GroupDescription:
            found = self.describe(group_id)
            check_of_consumers(found)
            return found

        return _each(group_ids, described)

    def describe_share_groups(self, group_ids: Iterable[str]) -> dict[str, GroupDescription | KafkaError]:
        """Share groups."""
        from kafkapy.coordinator.typed_groups import typed_group

        return _each(group_ids, lambda each: self.describe(typed_group(self.store, GroupType.SHARE, each).group_id))

    def describe_streams_groups(self, group_ids: Iterable[str]) -> dict[str, StreamsGroupDescription | KafkaError]:
        """Streams groups, with the tasks of their members."""
        from kafkapy.coordinator.streams_group_description import describe_streams_group
        from kafkapy.coordinator.typed_groups import typed_group

        def described(group_id: str) -> StreamsGroupDescription:
            return describe_streams_group(typed_group(self.store, GroupType.STREAMS, group_id), self.describe(group_id))

        return _each(group_ids, described)

    def offsets(self, group_id: str) -> Offsets:
        """What a group has committed, sorted by partition."""
        return self.store.offsets(group_id)

    def committed_offsets(self, group_ids: Iterable[str]) -> dict[str, Offsets | KafkaError]:
        """What groups have committed."""
        return _each(group_ids, self.offsets)

    def share_offsets(self, group_ids: Iterable[str], end_offset: EndOffset) -> ShareOffsets:
        """Where share groups stand, sorted by partition."""
        from kafkapy.coordinator.share_group_description import share_group_offsets
        from kafkapy.coordinator.typed_groups import typed_group

        image = self._cluster.image()
        return _each(
            group_ids,
            lambda each: share_group_offsets(
                typed_group(self.store, GroupType.SHARE, each), image, self._share_states, end_offset
            ),
        )

    def alter_offsets(self, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit for a group without members."""
        self.offset_manager.commit(group_id, offsets)

    def alter_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Never: the state of share groups is only read."""
        raise Unsupported("resetting share groups", "a cluster of files", RUNNING_ONLY)

    def delete_offsets(
        self, group_id: str, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, KafkaError | None]:
        """Forget what a group committed; why not, for each that stays."""
        return self.offset_manager.delete(group_id, partitions)

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> dict[str, KafkaError | None]:
        """Never: the state of share groups is only read."""
        raise Unsupported("deleting offsets of share groups", "a cluster of files", RUNNING_ONLY)

    def delete_groups(self, group_ids: Iterable[str]) -> dict[str, KafkaError | None]:
        """Forget groups without members; why not, for each that stays."""
        return _each(group_ids, self.offset_manager.delete_group)

    def delete_share_groups(self, group_ids: Iterable[str]) -> dict[str, KafkaError | None]:
        """Never: the state of share groups is only read."""
        raise Unsupported("deleting share groups", "a cluster of files", RUNNING_ONLY)

    def _coordinator_of(self, group_id: str) -> int:
        topic, number = self.store.partition(group_id)
        registration = self._cluster.image().topics[topic].partitions.get(number)
        return NO_LEADER if registration is None else registration.leader


def _each(group_ids: Iterable[str], answer: Callable[[str], T]) -> dict[str, T | KafkaError]:
    """An answer for each group, or its error, in the order of their ids."""
    found: dict[str, T | KafkaError] = {}
    for group_id in sorted(set(group_ids)):
        try:
            found[group_id] = answer(group_id)
        except KafkaError as error:
            found[group_id] = error
    return found
