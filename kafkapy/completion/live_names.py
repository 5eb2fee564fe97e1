"""The names that a running cluster tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.backends.selection import Selection, open_cluster
from kafkapy.errors import KafkapyError

if TYPE_CHECKING:
    from kafkapy.metadata.image import MetadataImage

_OF_QUOTAS = {"CLIENT-ID": "client-id", "IP": "ip"}


class LiveNames:
    """Names that brokers tell. The process ends after the one question that it asks, and the connections with it."""

    def __init__(self, selection: Selection) -> None:
        self._cluster = open_cluster(selection)

    def topics(self, prefix: str) -> set[str]:
        """Every topic: brokers tell all at once, whatever the prefix."""
        return set(self._cluster.image().topics)

    def topic_ids(self) -> set[str]:
        """The ids of topics."""
        return set(self._cluster.image().topics_by_id)

    def partitions(self, topic: str) -> set[int]:
        """The partitions of a topic."""
        return set(self._cluster.image().topics[topic].partitions)

    def brokers(self) -> set[int]:
        """The ids of the brokers."""
        return set(self._cluster.image().brokers)

    def controllers(self) -> Mapping[int, str]:
        """The voters of the quorum, and the ids of their directories."""
        from kafkapy.formats.uuid import ZERO_UUID

        voters = self._cluster.administration().quorum().voters or ()
        return {voter.id: voter.directory_id.replace(ZERO_UUID, "") for voter in voters}

    def groups(self) -> set[str]:
        """The groups of all types."""
        return {listing.group_id for listing in self._cluster.groups().list()}

    def transactional_ids(self) -> set[str]:
        """The transactional ids."""
        return {each.metadata.transactional_id for each in self._cluster.transactions().list_transactions()}

    def producer_ids(self, topic: str, partition: int) -> set[int]:
        """The producers that the leader of a partition knows."""
        from kafkapy.log.topic_partition import TopicPartition

        asked = TopicPartition(topic, partition)
        found = self._cluster.producers([asked])[asked]
        return set() if isinstance(found, KafkapyError) else {each.producer_id for each in found.producers}

    def loggers(self, broker: str) -> set[str]:
        """The loggers of a broker."""
        from kafkapy.metadata.image import BROKER_LOGGER

        (found,) = self._cluster.config_entries(BROKER_LOGGER, [broker]).values()
        return set() if isinstance(found, KafkapyError) else {entry.name for entry in found}

    def entities(self, kind: str) -> set[str]:
        """What the metadata alone knows; a running cluster lists no tokens to others than their owners."""
        if kind == "CLIENT-METRICS":
            from kafkapy.metadata.image import CLIENT_METRICS

            return set(self._cluster.config_resources(CLIENT_METRICS))
        image = self._cluster.image()
        if kind in _OF_QUOTAS:
            return _of_quotas(image, _OF_QUOTAS[kind])
        from kafkapy.completion.metadata_names import users_and_principals

        users, principals = _of_quotas(image, "user"), set()
        with suppress(KafkapyError):
            users |= {user for _, user in image.scram}
        with suppress(KafkapyError):
            principals = {acl.principal for acl in image.acls.values()}
        return users_and_principals(users, principals).get(kind, set())

    def image(self, directory: Sequence[str]) -> MetadataImage:
        """All that brokers tell; they are asked for a section when it is looked at."""
        return self._cluster.image()


def _of_quotas(image: MetadataImage, entity_type: str) -> set[str]:
    names = (name for entity in image.client_quotas for kind, name in entity if kind == entity_type)
    return {name for name in names if name is not None}
