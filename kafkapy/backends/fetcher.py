"""Reading several partitions at once: what a consumer asks of a cluster, whatever kind it is.

Whoever reads has a position in each partition and hands all of them over with every call. What comes may come in any
order of the partitions, but each partition's batches come in theirs. An error is that of its partition, of no other. A
partition that is taken out of the positions meanwhile is read no further.

Of files, each partition is read to its end, one after the other; there is nothing to wait for but the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkapy.errors import KafkapyError
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster

Positions = Mapping[TopicPartition, int]
Sleep = Callable[[float], object]


class Polled(NamedTuple):
    """A batch of a partition, or why none can be read."""

    partition: TopicPartition
    batch: Batch | None
    error: KafkapyError | None = None


class Fetcher(Protocol):
    """Reads partitions from positions on."""

    def to_end(self, positions: Positions) -> Iterator[Polled]:
        """All that is there now."""
        ...

    def poll(self, positions: Positions) -> Iterator[Polled]:
        """What has come by now, without waiting for more."""
        ...

    def wait(self, seconds: float, sleep: Sleep) -> None:
        """Wait until something may have come, for so long at most; ``sleep`` is how to, where only time helps."""
        ...


class FileFetcher:
    """Reads from a cluster whose files are here."""

    def __init__(self, cluster: Cluster, committed: bool) -> None:
        self._cluster = cluster
        self._committed = committed

    def to_end(self, positions: Positions) -> Iterator[Polled]:
        """One partition after the other; one whose directory goes away meanwhile is an OSError."""
        for partition, position in dict(positions).items():
            try:
                for batch in self._cluster.read(partition, position, self._committed):
                    yield Polled(partition, batch)
                    if partition not in positions:
                        break
            except KafkapyError as error:
                yield Polled(partition, None, error)

    def poll(self, positions: Positions) -> Iterator[Polled]:
        """The same: all that has come is there."""
        return self.to_end(positions)

    def wait(self, seconds: float, sleep: Sleep) -> None:
        """Look again after so long."""
        sleep(seconds)
