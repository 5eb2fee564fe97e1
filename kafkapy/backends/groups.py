"""What commands ask of whoever keeps the groups of a cluster, and have changed by it.

    files   GroupCoordinator, over the records of ``__consumer_offsets``
    live    LiveGroups, which asks the brokers that coordinate the groups

Questions are about many groups at once: on a running cluster they become a request for each broker, not for each group.
What goes wrong with one group takes the place of its answer, and the others are answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_description import GroupDescription, GroupListing
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.share_group_description import EndOffset, SharePartitionOffset
from kafkapy.coordinator.streams_group_description import StreamsGroupDescription
from kafkapy.errors import KafkaError, Unsupported
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.coordinator.group_coordinator import GroupCoordinator

Problems = list[str]
Listings = list[GroupListing]
Descriptions = dict[str, GroupDescription | KafkaError]
StreamsDescriptions = dict[str, StreamsGroupDescription | KafkaError]
Offsets = dict[TopicPartition, OffsetAndMetadata]
GroupOffsets = dict[str, Offsets | KafkaError]
ShareOffsets = dict[str, list[SharePartitionOffset] | KafkaError]
Deletions = dict[str, KafkaError | None]
OffsetDeletions = dict[TopicPartition, KafkaError | None]


class Groups(Protocol):
    """The groups of a cluster. Groups are told in the order of their ids."""

    @property
    def problems(self) -> Problems:
        """What could not be read, as far as groups were asked for."""
        ...

    def coordinator_address(self, coordinator: int) -> str | None:
        """``HOST:PORT`` of a broker; None for one that is not known."""
        ...

    def list(self, states: Collection[GroupState] = (), types: Collection[GroupType] = ()) -> Listings:
        """Every group, of these states and types where some are given."""
        ...

    def describe_consumer_groups(self, group_ids: Iterable[str]) -> Descriptions:
        """Groups of consumers, by either protocol; an error for one that is not there, or none of these."""
        ...

    def describe_share_groups(self, group_ids: Iterable[str]) -> Descriptions:
        """Share groups."""
        ...

    def describe_streams_groups(self, group_ids: Iterable[str]) -> StreamsDescriptions:
        """Streams groups, with the tasks of their members."""
        ...

    def committed_offsets(self, group_ids: Iterable[str]) -> GroupOffsets:
        """What groups have committed, sorted by partition; nothing for a group that is not there."""
        ...

    def share_offsets(self, group_ids: Iterable[str], end_offset: EndOffset) -> ShareOffsets:
        """Where share groups stand, sorted by partition. ``end_offset`` is for whoever does not know the lag itself."""
        ...

    def alter_offsets(self, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit for a group without members, which is made where it is not there."""
        ...

    def alter_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Have a share group without members begin anew at these offsets."""
        ...

    def delete_offsets(self, group_id: str, partitions: Iterable[TopicPartition]) -> OffsetDeletions:
        """Forget what a group committed; why not, for each that stays."""
        ...

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> Deletions:
        """Forget where a share group stands in topics; why not, for each that stays."""
        ...

    def delete_groups(self, group_ids: Iterable[str]) -> Deletions:
        """Forget groups without members; why not, for each that stays."""
        ...

    def delete_share_groups(self, group_ids: Iterable[str]) -> Deletions:
        """The same, of share groups, whose state lies in a place of its own."""
        ...


def group_coordinator(groups: Groups) -> GroupCoordinator:
    """The coordinator itself, for what takes the part of members: only a cluster of files has it here."""
    from kafkapy.coordinator.group_coordinator import GroupCoordinator

    if not isinstance(groups, GroupCoordinator):
        raise Unsupported("taking a coordinator's part", "a running cluster", "its brokers coordinate the groups")
    return groups
