"""Batches to a cluster, with the numbers that make a producer idempotent.

Each partition counts its own sequence: a batch carries that of its first record, and only a batch that was taken moves
it on. A batch that the topic finds too large is halved until it fits or has one record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.producer_identity import ProducerIdentity
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.backends.producing import OpenBatch
from kafkapy.errors import KafkaError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.compression import compress
from kafkapy.formats.record_batch import (
    ATTRIBUTES_POSITION,
    HEADER_SIZE,
    LOG_OVERHEAD,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    BatchHeader,
    BatchOptions,
    Record,
    decode_header,
    decode_records,
    encode_batch,
    encode_header,
    increment_sequence,
)
from kafkapy.log.topic_partition import TopicPartition

TOO_LARGE = ("RecordTooLargeException", "RecordBatchTooLargeException")


class BatchSender:
    """Sends the batches of one producer to one topic; ``failed`` is told of those that were refused."""

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        options: ProducerOptions,
        failed: Callable[[int, KafkaError], object],
        identity: ProducerIdentity,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._options = options
        self._failed = failed
        self._identity = identity
        self._numbered_for = (identity.producer_id, identity.epoch)
        self._sequences: dict[int, int] = defaultdict(int)

    def send(self, partition: int, batch: OpenBatch) -> float:
        """Send a batch; how much smaller its codec made it."""
        packed = compress(self._options.codec, batch.body, self._options.level)
        self._append(partition, self._sealed(partition, batch, packed), batch.count)
        return len(packed) / batch.size

    def _append(self, partition: int, data: bytes, count: int) -> None:
        self._identity.joins(TopicPartition(self._topic, partition))
        try:
            self._cluster.append(TopicPartition(self._topic, partition), data, self._options.acks)
        except KafkaError as error:
            if error.name in TOO_LARGE and count > 1:
                self._append_halves(partition, data)
            else:
                self._failed(count, error)
            return
        self._sequences[partition] = increment_sequence(self._sequences[partition], count)

    def _append_halves(self, partition: int, data: bytes) -> None:
        records = list(decode_records(decode_header(data), data[HEADER_SIZE:]))
        middle = len(records) // 2
        for half in (records[:middle], records[middle:]):
            self._append(partition, self._encoded(partition, half), len(half))

    def _encoded(self, partition: int, records: list[Record]) -> bytes:
        numbered = [record._replace(offset=number) for number, record in enumerate(records)]
        producer_id, epoch, sequence = self._numbers(partition)
        return encode_batch(
            numbered,
            BatchOptions(
                codec=self._options.codec,
                level=self._options.level,
                producer_id=producer_id,
                producer_epoch=epoch,
                base_sequence=sequence,
                transactional=self._identity.transactional,
            ),
        )

    def _sealed(self, partition: int, batch: OpenBatch, packed: bytes) -> bytes:
        producer_id, epoch, sequence = self._numbers(partition)
        header = BatchHeader(
            base_offset=0,
            batch_length=HEADER_SIZE - LOG_OVERHEAD + len(packed),
            attributes=self._options.codec | (TRANSACTIONAL if self._identity.transactional else 0),
            last_offset_delta=batch.count - 1,
            base_timestamp=batch.base_timestamp,
            max_timestamp=batch.max_timestamp,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            record_count=batch.count,
        )
        crc = crc32c(packed, crc32c(encode_header(header)[ATTRIBUTES_POSITION:]))
        return encode_header(header._replace(crc=crc)) + packed

    def _numbers(self, partition: int) -> tuple[int, int, int]:
        """The producer id, epoch and sequence of the next batch; a new epoch counts from 0 again."""
        producer_id, epoch = self._identity.producer_id, self._identity.epoch
        if (producer_id, epoch) != self._numbered_for:
            self._numbered_for = (producer_id, epoch)
            self._sequences.clear()
        return producer_id, epoch, NO_SEQUENCE if producer_id == NO_PRODUCER_ID else self._sequences[partition]
