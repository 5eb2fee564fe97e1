"""Members of a group of a running cluster, by either protocol, and how they commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_member import GroupMember
from kafkapy.backends.group_membership import Offsets
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.group_channel import OVERTAKEN
from kafkapy.backends.live.live_classic_membership import LiveClassicMembership
from kafkapy.backends.live.live_consumer_membership import LiveConsumerMembership
from kafkapy.errors import KafkaError


class LiveMembership:
    """How the members of this process take part in a group that a broker coordinates."""

    def __init__(self, client: Client, options: GroupOptions) -> None:
        self._protocol: LiveClassicMembership | LiveConsumerMembership
        if options.protocol == "consumer":
            self._protocol = LiveConsumerMembership(client, options)
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
        return self._protocol.beat(members) or ("the group went on meanwhile" if self._is_overtaken else None)

    def keep_alive(self, members: Sequence[GroupMember]) -> None:
        """Tell that the members live."""
        self._protocol.keep_alive(members)
        self._client.pump()

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
