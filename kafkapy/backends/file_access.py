"""How records are read from and written to a cluster whose files are here: partition by partition, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkapy.metadata.changes import CreateTopic

if TYPE_CHECKING:
    from kafkapy.backends.batch_sender import Failed, Sender
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.fetcher import Fetcher
    from kafkapy.backends.producer_identity import ProducerIdentity
    from kafkapy.backends.producer_options import ProducerOptions


class FileAccess:
    """A part of clusters that have ``read``, ``append`` and ``apply``."""

    def fetcher(self: Cluster, committed: bool, tell: Callable[[str], object], channel: str = "") -> Fetcher:
        """Who reads several partitions, one after the other."""
        from kafkapy.backends.fetcher import FileFetcher

        return FileFetcher(self, committed)

    def topic_to_write(self: Cluster, topic: str, tell: Callable[[str], object]) -> int:
        """How many partitions a topic has; one that does not exist is made with the brokers' defaults."""
        if topic not in self.image().topics:
            from kafkapy.backends.batch_sender import missing_topic_line

            tell(missing_topic_line(topic))
            self.apply(CreateTopic(topic))
        return len(self.image().topics[topic].partitions)

    def sender(
        self: Cluster, topic: str, options: ProducerOptions, failed: Failed, identity: ProducerIdentity
    ) -> Sender:
        """Who appends batches one by one."""
        from kafkapy.backends.batch_sender import BatchSender

        return BatchSender(self, topic, options, failed, identity)
