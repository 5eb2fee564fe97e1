"""Members of a group of a running cluster, by either protocol, and how they commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_member import GroupMember
from kafkapy.backends.group_membership import Offsets
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.group_channel import OVERTAKEN
from kafkapy.backends.live.live_classic_membership import LiveClassicMembership
from kafkapy.backends.live.live_consumer_membership import LiveConsumerMembership
from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.errors import KafkaError


class LiveMembership:
    """How the members of this process take part in a group that a broker coordinates."""

    def __init__(self, client: Client, options: GroupOptions, forget_metadata: Callable[[], object]) -> None:
        """``forget_metadata`` has the next look at the cluster's metadata ask for it anew."""
        self._protocol: LiveClassicMembership | LiveConsumerMembership
        if options.protocol == "consumer":
            self._protocol = LiveConsumerMembership(client, options, forget_metadata)
        else:
            self._protocol = LiveClassicMembership(client, options)
        self._client = client
        self._is_overtaken = False

    def evict(self, cluster: Cluster, instance_ids: Sequence[str]) -> list[str]:
        """A broker does that itself, when it has not heard of a member for long enough."""
        return []

    def leave(self, cluster: Cluster, members: Sequence[GroupMember]) -> None:
        """Take members out of the group."""
        self._protocol.leave(members)

    def rebalance(
        self, cluster: Cluster, members: Sequence[GroupMember], topics: Mapping[str, int]
    ) -> Iterator[tuple[str, str]]:
        """Join, and take what one gets."""
        self._is_overtaken = False
        return self._protocol.rebalance(cluster, members, topics)

    def beat(self, members: Sequence[GroupMember]) -> str | None:
        """Tell that the members live."""
        return self._protocol.beat(members) or (
            "the group has moved on in the meantime" if self._is_overtaken else None
        )

    def keep_alive(self, members: Sequence[GroupMember]) -> None:
        """Tell that the members live."""
        self._protocol.keep_alive(members)
        self._client.pump()

    def is_settled(self, cluster: Cluster, members: Sequence[GroupMember]) -> bool:
        """Whether the coordinator means to give the members nothing more, and they have heard of all it gave."""
        group_id = self._protocol.channel.group_id
        found = cluster.groups().describe_consumer_groups([group_id])[group_id]
        if isinstance(found, KafkaError):
            raise found
        meant = {each.member_id: each.target_assignment for each in found.members}
        if any(member.member_id not in meant for member in members):
            return False
        if found.type is GroupType.CLASSIC:
            return found.state is GroupState.STABLE
        return all(set(meant[member.member_id] or ()) == set(member.assigned) for member in members)

    def offsets(self, cluster: Cluster) -> Offsets:
        """What the group has committed."""
        return self._protocol.channel.offsets()

    def commit(self, cluster: Cluster, member: GroupMember, offsets: Offsets) -> bool:
        """Commit for a member; where the group has gone on without it, it has to join again."""
        try:
            self._protocol.channel.commit(member, offsets)
        except KafkaError as error:
            if error.name not in OVERTAKEN:
                raise
            self._is_overtaken = True
            return False
        return True
