"""What a group consumes: the topics that were named, and the retry topics that belong to them."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.backends.consumed_partitions import partitions_of
from kafkapy.backends.retry_topics import Delay, RetryTopics
from kafkapy.metadata.image import MetadataImage


class Source(NamedTuple):
    """A topic that is consumed: for which topic, and with which delay if it is one of that topic's retry topics."""

    topic: str
    delay: Delay | None
    partitions: int


Sources = dict[str, Source]


class GroupSubscription:
    """One topic, or every topic whose name matches; ``retry`` where failures are retried."""

    def __init__(
        self,
        topic: str | None,
        include: str | None,
        exclude_internal: bool = True,
        retry: RetryTopics | None = None,
    ) -> None:
        self.include = include
        self._topic = topic
        self._exclude_internal = exclude_internal
        self._retry = retry

    def sources(self, image: MetadataImage) -> Sources:
        """The topics that are to be consumed as the cluster stands, in order."""
        found = partitions_of(image, self._topic, self.include, None, self._exclude_internal)
        named = sorted({partition.topic for partition in found})
        if self._retry is None:
            return {name: Source(name, None, len(image.topics[name].partitions)) for name in named}
        if self.include is not None:
            named = [name for name in named if not self._retry.is_named_by(name, image.topics)]
        sources = {name: Source(name, None, len(image.topics[name].partitions)) for name in named}
        for name in named:
            self._retry.check(name)
            for waiting, delay in self._retry.waiting(name, image.topics):
                sources[waiting] = Source(name, delay, len(image.topics[waiting].partitions))
        return dict(sorted(sources.items()))
