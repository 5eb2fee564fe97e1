"""The groups of a running cluster.

A list of groups is asked for from every broker, each of which knows those that it coordinates. All else goes to the
coordinators of the groups in question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.live.client import Call, Client
from kafkapy.backends.live.live_group_coordinators import GroupCoordinators
from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_description import GroupListing
from kafkapy.errors import KafkapyError, SchemaError
from kafkapy.formats.error_codes import raise_for
from kafkapy.formats.message import Value

if TYPE_CHECKING:
    from kafkapy.backends import groups
    from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
    from kafkapy.coordinator.share_group_description import EndOffset
    from kafkapy.log.topic_partition import TopicPartition


class LiveGroups:
    """Asks brokers. ``problems`` tells what they could not answer beside the rest."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._coordinators = GroupCoordinators(client)
        self.problems: groups.Problems = []

    def coordinator_address(self, coordinator: int) -> str | None:
        """Where a broker listens."""
        node = self._client.nodes().get(coordinator)
        return None if node is None else f"{node.host}:{node.port}"

    def list(self, states: Collection[GroupState] = (), types: Collection[GroupType] = ()) -> groups.Listings:
        """Every group that some broker coordinates."""
        filters = {"statesFilter": [*map(str, states)], "typesFilter": [*map(str, types)]}
        try:
            found = self._client.retrying(lambda: self._listed(filters))
        except SchemaError:  # a broker that cannot filter
            found = self._client.retrying(lambda: self._listed({}))
        wanted = [each for each in found if (not states or each.state in states) and (not types or each.type in types)]
        return sorted(wanted)

    def _listed(self, filters: Value) -> set[GroupListing]:
        found: set[GroupListing] = set()
        for response in self._client.call_all(Call("ListGroups", filters, node) for node in self._client.nodes()):
            if isinstance(response, KafkapyError):
                raise response
            raise_for(response["errorCode"])
            found.update(map(_listing, response["groups"]))
        return found

    def describe_consumer_groups(self, group_ids: Iterable[str]) -> groups.Descriptions:
        """Groups of consumers, by either protocol."""
        from kafkapy.backends.live.live_group_descriptions import describe_consumer_groups

        return describe_consumer_groups(self._coordinators, group_ids, self.problems)

    def describe_share_groups(self, group_ids: Iterable[str]) -> groups.Descriptions:
        """Share groups."""
        from kafkapy.backends.live.live_group_descriptions import describe_share_groups

        return describe_share_groups(self._coordinators, group_ids)

    def describe_streams_groups(self, group_ids: Iterable[str]) -> groups.StreamsDescriptions:
        """Streams groups."""
        from kafkapy.backends.live.live_streams_groups import describe_streams_groups

        return describe_streams_groups(self._coordinators, group_ids)

    def committed_offsets(self, group_ids: Iterable[str]) -> groups.GroupOffsets:
        """What groups have committed."""
        from kafkapy.backends.live.live_group_offsets import committed_offsets

        return committed_offsets(self._coordinators, group_ids, self.problems)

    def share_offsets(self, group_ids: Iterable[str], end_offset: EndOffset) -> groups.ShareOffsets:
        """Where share groups stand; the brokers know the lag."""
        from kafkapy.backends.live.live_share_groups import share_offsets

        return share_offsets(self._coordinators, group_ids, self.problems)

    def alter_offsets(self, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit for a group."""
        from kafkapy.backends.live.live_group_offsets import alter_offsets

        alter_offsets(self._coordinators, group_id, offsets)

    def alter_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Have a share group begin anew."""
        from kafkapy.backends.live.live_share_groups import alter_share_offsets

        alter_share_offsets(self._coordinators, group_id, offsets)

    def delete_offsets(self, group_id: str, partitions: Iterable[TopicPartition]) -> groups.OffsetDeletions:
        """Forget what a group committed."""
        from kafkapy.backends.live.live_group_offsets import delete_offsets

        return delete_offsets(self._coordinators, group_id, partitions)

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> groups.Deletions:
        """Forget where a share group stands."""
        from kafkapy.backends.live.live_share_groups import delete_share_offsets

        return delete_share_offsets(self._coordinators, group_id, topics)

    def delete_groups(self, group_ids: Iterable[str]) -> groups.Deletions:
        """Forget groups."""
        from kafkapy.backends.live.live_group_offsets import delete_groups

        return delete_groups(self._coordinators, group_ids)

    def delete_share_groups(self, group_ids: Iterable[str]) -> groups.Deletions:
        """Forget share groups: for a broker it is the same."""
        return self.delete_groups(group_ids)


def _listing(group: Value) -> GroupListing:
    group_type, state = GroupType.parse(group["groupType"]), GroupState.parse(group["groupState"])
    return GroupListing(group["groupId"], group_type, group["protocolType"], state)
