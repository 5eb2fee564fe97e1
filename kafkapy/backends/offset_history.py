"""The history in an internal topic: every record that its files still hold, as they lie, not only the newest of a key.

Records come partition by partition in the order of their offsets, with those of transactions that were aborted or are
open: this is what is in the log, not what counts. Control records are left out.

A batch that fails its checksum or does not decode is a problem, and so is a log that ends before its file does, and a
partition of which no copy is here: it is told and stepped over. The leader's copy is read, unless its end is damaged
and another is whole. A filter looks at keys only, and once at each; a key that it cannot read passes, so that whoever
prints the record finds the damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE, partition_for
from kafkapy.errors import FormatError, KafkaError, SchemaError
from kafkapy.formats import coordinator_record
from kafkapy.formats.record_batch import Record
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition

Tell = Callable[[str], object]

AREAS = {CONSUMER_OFFSETS: coordinator_record.GROUP, TRANSACTION_STATE: coordinator_record.TRANSACTION}


class HistoryFilter(NamedTuple):
    """What is wanted; all that is not empty must hold, and a record that has no such field is left out."""

    groups: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    partitions: frozenset[int] = frozenset()
    from_time: int | None = None
    to_time: int | None = None
    transactional_ids: frozenset[str] = frozenset()

    @property
    def looks_at_keys(self) -> bool:
        """Whether keys have to be read for it."""
        return bool(self.looks_at_groups or self.transactional_ids)

    @property
    def looks_at_groups(self) -> bool:
        """Whether only records of groups can fit."""
        return bool(self.groups or self.topics or self.partitions)


class HistoryBatch(NamedTuple):
    """The wanted records of one batch."""

    partition: TopicPartition
    records: list[Record]


def history(cluster: Cluster, topic: str, wanted: HistoryFilter, tell: Tell) -> Iterator[HistoryBatch]:
    """The records of an internal topic, batch by batch; ``tell`` hears of each problem."""
    keeper = _Keeper(AREAS[topic], wanted)
    for number in _partitions(cluster, topic, wanted):
        partition = TopicPartition(topic, number)
        try:
            for batch in cluster.salvage(partition, tell):
                records = _records(partition, batch, keeper, tell)
                if records:
                    yield HistoryBatch(partition, records)
        except KafkaError as error:
            tell(f"{partition}: {error}")


def _partitions(cluster: Cluster, topic: str, wanted: HistoryFilter) -> list[int]:
    """Those that may hold what is wanted: a group or a transactional id is in one. Without a metadata log, nobody knows
    how many there are, and so which one it is."""
    found = cluster.image().topics.get(topic)
    is_groups = topic == CONSUMER_OFFSETS
    if found is None or (wanted.transactional_ids if is_groups else wanted.looks_at_groups):
        return []
    ids = wanted.groups if is_groups else wanted.transactional_ids
    if not ids or not cluster.has_metadata:
        return sorted(found.partitions)
    return sorted({partition_for(each, len(found.partitions)) for each in ids})


def _records(partition: TopicPartition, batch: Batch, keeper: _Keeper, tell: Tell) -> list[Record]:
    if not keeper.keeps_batch(batch):
        return []
    try:
        return keeper.kept(batch_records(batch))
    except FormatError as error:
        tell(f"{partition} at offset {batch.header.base_offset}: {error}")
        return []


class _Keeper:
    """A filter at work on the records of one topic."""

    def __init__(self, area: str, wanted: HistoryFilter) -> None:
        self._area = area
        self._wanted = wanted
        self._keys: dict[bytes, bool] = {}

    def keeps_batch(self, batch: Batch) -> bool:
        """Whether a batch may have a wanted record."""
        from_time = self._wanted.from_time
        is_late = from_time is None or batch.header.max_timestamp >= from_time
        return is_late and not batch.header.is_control

    def kept(self, records: Iterable[Record]) -> list[Record]:
        """Those that are wanted."""
        wanted = self._wanted
        if wanted.from_time is not None:
            records = [record for record in records if record.timestamp >= wanted.from_time]
        if wanted.to_time is not None:
            records = [record for record in records if record.timestamp <= wanted.to_time]
        return [record for record in records if not wanted.looks_at_keys or self._keeps(record.key)]

    def _keeps(self, key: bytes | None) -> bool:
        if key is None:
            return False
        if key not in self._keys:
            self._keys[key] = self._decide(key)
        return self._keys[key]

    def _decide(self, data: bytes) -> bool:
        try:
            key = coordinator_record.decode(self._area, data, None).key
        except SchemaError:
            return True
        group = key.get("group", key.get("groupId"))
        ids = self._wanted.transactional_ids
        return (
            (not self._wanted.groups or group in self._wanted.groups)
            and (not ids or key.get("transactionalId") in ids)
            and (not self._wanted.topics or key.get("topic") in self._wanted.topics)
            and (not self._wanted.partitions or key.get("partition") in self._wanted.partitions)
        )
