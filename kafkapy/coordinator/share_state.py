"""How far share groups are in each partition, folded from ``__share_group_state``.

    ShareSnapshot   the whole state of a group in a partition; a tombstone forgets it
    ShareUpdate     a change to the state before it: a start offset or leader epoch of -1 keeps the one there is

The state of a group in a partition lies in one partition of the topic, found by the hash of
``group:topic id:partition``; that is read when a state in it is first asked for. What cannot be read is a problem, told
and skipped (see ``log_copies``).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kafkapy.coordinator.internal_topics import partition_for
from kafkapy.coordinator.log_copies import Copies, Folded, Read, fold_copies
from kafkapy.errors import FormatError, SchemaError
from kafkapy.formats.coordinator_record import SHARE, decode
from kafkapy.formats.message import Value
from kafkapy.formats.record_batch import Record
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage

SHARE_GROUP_STATE = "__share_group_state"
UNINITIALIZED = -1


class ShareStateKey(NamedTuple):
    """A group in a partition."""

    group_id: str
    topic_id: str
    partition: int

    def __str__(self) -> str:
        return f"{self.group_id}:{self.topic_id}:{self.partition}"


class ShareState(NamedTuple):
    """``delivery_complete_count`` records from ``start_offset`` on need not be delivered again; each is -1 until the
    first records are fetched."""

    start_offset: int = UNINITIALIZED
    leader_epoch: int = 0
    delivery_complete_count: int = UNINITIALIZED

    def updated(self, value: Value) -> ShareState:
        """What a ShareUpdate makes of it."""
        start, epoch = value["startOffset"], value["leaderEpoch"]
        return ShareState(
            self.start_offset if start == -1 else start,
            self.leader_epoch if epoch == -1 else epoch,
            value["deliveryCompleteCount"],
        )


States = dict[ShareStateKey, ShareState]


class ReadCluster(Copies, Protocol):
    """What is needed of a cluster."""

    def image(self) -> MetadataImage:
        """The metadata."""
        ...


class ShareStates:
    """Finds states. ``problems`` tells what could not be read, as far as partitions were asked for."""

    def __init__(self, cluster: ReadCluster) -> None:
        self._cluster = cluster
        self._loaded: dict[int, States] = {}
        self.problems: list[str] = []

    def state(self, key: ShareStateKey) -> ShareState:
        """A state; one that was never written is uninitialized."""
        topic = self._cluster.image().topics.get(SHARE_GROUP_STATE)
        if topic is None:
            return ShareState()
        number = partition_for(str(key), max(topic.partitions) + 1)
        if number not in self._loaded:
            partition = TopicPartition(SHARE_GROUP_STATE, number)
            self._loaded[number], problems = fold_copies(self._cluster, partition, lambda read: _fold(partition, read))
            self.problems += problems
        return self._loaded[number].get(key, ShareState())


def _fold(partition: TopicPartition, read: Read) -> Folded[States]:
    states: States = {}
    problems: list[str] = []
    for batch in read():
        try:
            records = [] if batch.header.is_control else list(batch_records(batch))
        except FormatError as error:
            problems.append(f"{partition} at offset {batch.header.base_offset}: {error}")
            continue
        for record in records:
            try:
                _replay(record, states)
            except SchemaError as error:
                problems.append(f"{partition} at offset {record.offset}: {error}")
    return Folded(states, problems)


def _replay(record: Record, states: States) -> None:
    if record.key is None:
        raise SchemaError("a record without a key")
    decoded = decode(SHARE, record.key, record.value)
    key, value = ShareStateKey(*decoded.key.values()), decoded.value
    if value is None:
        states.pop(key, None)
    elif decoded.name == "ShareUpdate" and key in states:
        states[key] = states[key].updated(value)
    else:
        states[key] = ShareState(value["startOffset"], value["leaderEpoch"], value["deliveryCompleteCount"])
