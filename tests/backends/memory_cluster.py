"""A cluster in memory: lists of batches, with the checks of a broker that a producer can run into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kafkapy.backends.cluster import EARLIEST, LATEST, Appended, LogDir
from kafkapy.backends.file_access import FileAccess
from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import BatchOptions, Record, decode_header, encode_batch, encode_header, is_valid
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import Change, CreateTopic
from kafkapy.metadata.image import EMPTY, MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage


class MemoryCluster(FileAccess):
    """Topics are made by ``apply``; ``max_batch`` is max.message.bytes."""

    has_metadata = True
    where = "memory"

    def __init__(self, max_batch: int = 1 << 30) -> None:
        self.max_batch = max_batch
        self.batches: dict[TopicPartition, list[Batch]] = defaultdict(list)
        self.starts: dict[TopicPartition, int] = defaultdict(int)
        self.damages: dict[TopicPartition, str] = {}
        self.flushed = 0
        self._topics: dict[str, TopicImage] = {}
        self._next_producer_id = 7

    def image(self) -> MetadataImage:
        return EMPTY._replace(topics=self._topics)

    def apply(self, *changes: Change) -> None:
        for change in changes:
            assert isinstance(change, CreateTopic)
            partitions = {n: PartitionRegistration((1,), ("d",), (1,)) for n in range(max(change.partitions, 1))}
            self._topics[change.name] = TopicImage(change.name, "id", partitions)

    def read(self, partition: TopicPartition, start: int, committed: bool = False) -> Iterator[Batch]:
        assert not committed
        return (batch for batch in list(self.batches[partition]) if batch.header.last_offset >= start)

    def damage(self, partition: TopicPartition) -> str | None:
        return self.damages.get(partition)

    def offset(self, partition: TopicPartition, spec: int) -> int | None:
        if spec == EARLIEST:
            return self.starts[partition]
        assert spec == LATEST
        batches = self.batches[partition]
        return batches[-1].header.last_offset + 1 if batches else 0

    def offsets(self, asked: Sequence[tuple[TopicPartition, int]]) -> list[int | None]:
        return [self.offset(partition, spec) for partition, spec in asked]

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        header = decode_header(batch)
        assert header.size == len(batch)
        assert is_valid(batch, header)
        if len(batch) > self.max_batch:
            raise KafkaError("RecordTooLargeException", "too large")
        if header.producer_id >= 0:
            self._check_sequence(partition, header.producer_id, header.base_sequence)
        base = self.offset(partition, LATEST) or 0
        placed = header._replace(base_offset=base)
        self.batches[partition].append(Batch(placed, 0, encode_header(placed) + batch[61:]))
        return Appended(base, placed.last_offset)

    def _check_sequence(self, partition: TopicPartition, producer_id: int, sequence: int) -> None:
        own = [batch.header for batch in self.batches[partition] if batch.header.producer_id == producer_id]
        assert sequence == (own[-1].last_sequence + 1 if own else 0)

    def put(self, partition: TopicPartition, records: list[Record], **options: object) -> None:
        """Append records as they stand."""
        data = encode_batch(records, BatchOptions(base_offset=records[0].offset, **options))  # type: ignore[arg-type]
        self.batches[partition].append(Batch(decode_header(data), 0, data))

    def records(self, partition: TopicPartition) -> list[Record]:
        return [record for batch in self.batches[partition] for record in batch.records()]

    def new_producer_id(self) -> int:
        self._next_producer_id += 1
        return self._next_producer_id

    def log_dirs(self) -> list[LogDir]:
        return []

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        self.starts[partition] = before
        return before

    def flush(self) -> None:
        self.flushed += 1

    def close(self) -> None:
        pass
