"""What a consumer is given: the records of one batch from its position on.

Not handed out: control records, and in the batch where a position lies, the records before it. A batch that fails its
checksum is an error, in Kafka's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.errors import CorruptRecordError, FormatError, KafkaError, KafkapyError
from kafkapy.formats.checksum import crc32c
from kafkapy.formats.record_batch import ATTRIBUTES_POSITION, Record
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition


class Fetched(NamedTuple):
    """Records of one batch; ``timestamp_type`` is None where the format had no timestamps (magic 0). ``next_offset`` is
    where one goes on after the batch; what a group commits with it is the batch's leader epoch."""

    partition: TopicPartition
    timestamp_type: str | None
    records: list[Record]
    next_offset: int = -1
    leader_epoch: int = -1


def fetch(cluster: Cluster, partition: TopicPartition, position: int, committed: bool = False) -> Iterator[Fetched]:
    """Batch by batch what is there now from ``position`` on; a control batch comes without records."""
    for batch in cluster.read(partition, position, committed):
        yield fetched_of(partition, batch, position)


def fetched_of(partition: TopicPartition, batch: Batch, position: int) -> Fetched:
    """The records of a batch from ``position`` on; of a control batch none."""
    header = batch.header
    records = [] if header.is_control else _records(partition, batch, position)
    return Fetched(partition, _timestamp_type(batch), records, header.last_offset + 1, header.partition_leader_epoch)


def is_out_of_range(error: KafkapyError) -> bool:
    """Whether a log does not have the offset that it was asked for."""
    return isinstance(error, KafkaError) and error.name == "OffsetOutOfRangeException"


def _records(partition: TopicPartition, batch: Batch, position: int) -> list[Record]:
    try:
        _ensure_valid(batch)
        records = list(batch_records(batch))
    except FormatError as error:
        base = batch.header.base_offset
        raise CorruptRecordError(
            f"Record batch for partition {partition} at offset {base} is invalid, cause: {error}"
        ) from None
    if records and records[0].offset < position:
        records = [record for record in records if record.offset >= position]
    return records


def _timestamp_type(batch: Batch) -> str | None:
    return None if batch.header.magic == 0 else batch.header.timestamp_type


def _ensure_valid(batch: Batch) -> None:
    """Check a batch's checksum; that of an old message is checked where it is read."""
    if batch.header.magic < 2:
        return
    computed = crc32c(memoryview(batch.data)[ATTRIBUTES_POSITION:])
    if computed != batch.header.crc:
        raise CorruptRecordError(f"Record is corrupt (stored crc = {batch.header.crc}, computed crc = {computed})")
