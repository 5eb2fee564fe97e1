"""A consumer that reads, works and commits when it is told to, and forgets what it did not commit when it crashes.

It begins at its committed offset, or at the log's start (auto.offset.reset=earliest), and reads up to the high
watermark. Work that is done stays done, whatever happens to the consumer: an order that was shipped is not in its
memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkapy.formats.record_batch import HEADER_SIZE, Record, decode_header, decode_records
from kafkapy.lab.committed_offsets import CommittedOffsets
from kafkapy.lab.view import ConsumerView
from kafkapy.replication.fetch import CONSUMER, FetchRequest
from kafkapy.replication.simulated_partition import SimulatedPartition


class Consumer:
    """The one member of the group that is named like it."""

    def __init__(self, name: str, partition: SimulatedPartition, offsets: CommittedOffsets) -> None:
        self.name = name
        self._partition = partition
        self._offsets = offsets
        self._position: int | None = None
        self._in_hand: list[str] = []
        self._done: list[str] = []

    @property
    def topic(self) -> str:
        return self._partition.topic_partition.topic

    @property
    def committed(self) -> int | None:
        """Its committed offset."""
        return self._offsets.committed(self.name, self._partition.topic_partition)

    @property
    def position(self) -> int:
        """Where it reads next: where it is, else where it committed, else the beginning."""
        if self._position is not None:
            return self._position
        return self.committed or 0

    def consume(self, most: int | None = None) -> list[str]:
        """Read up to ``most`` records; a new leader may not have the position any more, which raises."""
        leader = self._partition.partition.led()
        position = self.position
        answer = leader.fetch(FetchRequest(CONSUMER, position, leader.epoch), self._partition.now)
        found = [
            (record.offset, (record.value or b"").decode())
            for record in _records(answer.data)
            if record.offset >= position
        ][:most]
        self._position = found[-1][0] + 1 if found else position
        self._in_hand += [value for _, value in found]
        return [value for _, value in found]

    def work(self, most: int | None = None) -> list[str]:
        """Do the work for records in hand."""
        worked = self._in_hand[:most]
        del self._in_hand[: len(worked)]
        self._done += worked
        return worked

    def commit(self) -> int:
        """Commit the position, whether the work is done or not."""
        leader, position = self._partition.partition.led(), self.position
        self._offsets.commit(self.name, self._partition.topic_partition, position, leader.epoch)
        return position

    def crash(self) -> list[str]:
        """Forget everything that is not committed; what was in hand."""
        forgotten, self._in_hand, self._position = self._in_hand, [], None
        return forgotten

    def view(self) -> ConsumerView:
        return ConsumerView(
            self.name, self.topic, self._position, self.committed, tuple(self._in_hand), tuple(self._done)
        )


def _records(data: bytes) -> Iterator[Record]:
    """The records of an answer's batches."""
    position = 0
    while position < len(data):
        header = decode_header(data, position)
        yield from decode_records(header, data[position + HEADER_SIZE : position + header.size])
        position += header.size
