"""The names that a running cluster tells."""

from __future__ import annotations

from kafkapy.backends.selection import Selection, open_cluster


class LiveNames:
    """Names that brokers tell. The process ends after the one question that it asks, and the connections with it."""

    def __init__(self, selection: Selection) -> None:
        self._cluster = open_cluster(selection)

    def topics(self, prefix: str) -> set[str]:
        """Every topic: brokers tell all at once, whatever the prefix."""
        return set(self._cluster.image().topics)

    def partitions(self, topic: str) -> set[int]:
        """The partitions of a topic."""
        return set(self._cluster.image().topics[topic].partitions)

    def brokers(self) -> set[int]:
        """The ids of the brokers."""
        return set(self._cluster.image().brokers)

    def groups(self) -> set[str]:
        """The groups of all types."""
        return {listing.group_id for listing in self._cluster.groups().list()}

    def transactional_ids(self) -> set[str]:
        """The transactional ids."""
        return {each.metadata.transactional_id for each in self._cluster.transactions().list_transactions()}
