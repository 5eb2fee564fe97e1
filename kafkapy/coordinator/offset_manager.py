"""Committed offsets: committing them, deleting them, and forgetting those that nobody will ask for again.

What a call wrote is one batch of ``__consumer_offsets``, on disk when it returns; killed before, all or nothing of it
is there. Only ``expire`` writes many: what it had not come to is found again by the next.

A request about several partitions does what it can and then says what it could not, as a broker does.

Who may commit offsets for a group.

    member id and generation   a member, of the generation or with the member epoch that the group has
    neither                    a consumer that is in no group, or an admin: only while the group is empty

While the leader of a classic group divides the partitions nobody may commit: what was read belongs to the generation
before. A transaction may, and it may come without a member, as old clients do. A member of a consumer group may still
commit with an old epoch what it has had since then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from kafkapy.coordinator.broker_config import broker_config
from kafkapy.coordinator.classic_group_state import ClassicGroupState
from kafkapy.coordinator.classic_groups import ClassicGroups
from kafkapy.coordinator.coordinator_cluster import CoordinatorCluster
from kafkapy.coordinator.group import ClassicGroup, GroupState, GroupType, ModernGroup, ModernMember
from kafkapy.coordinator.group_errors import refusal
from kafkapy.coordinator.group_metadata_records import group_tombstones, offset_commit_record, offset_tombstone
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.offset_expiration import expired_offsets, is_subscribed
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.message import Value
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.log.topic_partition import TopicPartition

NO_GENERATION = -1
RECORDS_IN_A_BATCH = 1000
_MS_IN_A_MINUTE = 60_000

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
OfGroup = tuple[str, CoordinatorRecord]


class Expired(NamedTuple):
    """What was forgotten: offsets by group, and groups that had nothing else."""

    offsets: list[tuple[str, TopicPartition]]
    groups: list[str]


class Committer(NamedTuple):
    """Who commits. ``generation`` is the member epoch in a group that is not a classic one."""

    member_id: str = ""
    generation: int = NO_GENERATION
    is_transactional: bool = False

    @property
    def is_anonymous(self) -> bool:
        """Whether it claims to be no member."""
        return not self.member_id and self.generation < 0


class OffsetManager:
    """The offsets of every group of a cluster. ``classic`` knows which groups are rebalancing."""

    def __init__(self, cluster: CoordinatorCluster, store: GroupStore, classic: ClassicGroups) -> None:
        self._cluster = cluster
        self._store = store
        self._classic = classic

    def commit(self, group_id: str, offsets: Offsets, member_id: str = "", generation: int = NO_GENERATION) -> None:
        """Commit for a member, or for an empty group, which is made if need be. The time of commit is now."""
        self._commit(group_id, offsets, Committer(member_id, generation))

    def commit_transactional(
        self,
        group_id: str,
        producer: ProducerIdAndEpoch,
        offsets: Offsets,
        member_id: str = "",
        generation: int = NO_GENERATION,
    ) -> None:
        """Commit if and when the transaction of ``producer`` does."""
        self._commit(group_id, offsets, Committer(member_id, generation, is_transactional=True), producer)

    def delete(self, group_id: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, KafkaError | None]:
        """Forget offsets; why not, for each that stays. One that was never there is forgotten, too."""
        group = self._existing(group_id)
        if group is None or _type(group) is GroupType.SHARE:
            raise refusal("GroupIdNotFoundException")
        if isinstance(group, ClassicGroupState) and group.members and not group.is_consumer_group:
            raise refusal("GroupNotEmptyException")
        answers: dict[TopicPartition, KafkaError | None] = {}
        for partition in partitions:
            if not self._is_there(partition):
                answers[partition] = refusal("UnknownTopicOrPartitionException")
            else:
                subscribed = is_subscribed(group, partition.topic)
                answers[partition] = refusal("GroupSubscribedToTopicException") if subscribed else None
        known = {*self._store.offsets(group_id), *self._pending(group_id)}
        self._forget(group_id, [each for each, error in answers.items() if error is None and each in known])
        return answers

    def delete_group(self, group_id: str) -> None:
        """Forget an empty group and all its offsets."""
        group = self._store.group(group_id)
        if group is None:
            raise refusal("GroupIdNotFoundException")
        if group.members or self._classic.state(group_id) not in (GroupState.EMPTY, GroupState.DEAD):
            raise refusal("GroupNotEmptyException")
        partitions = dict.fromkeys((*self._store.offsets(group_id), *self._pending(group_id)))
        tombstones = [offset_tombstone(group_id, partition) for partition in partitions]
        self._store.append(group_id, [*tombstones, *group_tombstones(group)])

    def expired(self, now: int, retention_ms: int | None = None) -> Expired:
        """What ``expire`` would forget."""
        return self._find_expired(now, retention_ms)[0]

    def expire(self, now: int | None = None, retention_ms: int | None = None) -> Expired:
        """Forget offsets that are older than ``retention_ms``, by default offsets.retention.minutes, and groups that
        are empty and have none left."""
        found, records = self._find_expired(self._cluster.now if now is None else now, retention_ms)
        for each in records.values():
            self._append_in_batches(each)
        return found

    def delete_topics(self, topics: Mapping[str, str]) -> list[tuple[str, TopicPartition]]:
        """Forget the offsets of topics that were deleted, ids by name. Those of a new topic of the same name stay."""
        found: list[tuple[str, TopicPartition]] = []
        for group_id in self._store.groups():
            pending = self._store.pending_offsets(group_id).values()
            gone = dict.fromkeys(
                partition
                for offsets in (self._store.offsets(group_id), *pending)
                for partition, offset in offsets.items()
                if offset.topic_id in (ZERO_UUID, topics.get(partition.topic)) and partition.topic in topics
            )
            self._forget(group_id, gone)
            found += [(group_id, partition) for partition in gone]
        return found

    def _commit(
        self, group_id: str, offsets: Offsets, by: Committer, producer: ProducerIdAndEpoch | None = None
    ) -> None:
        topics = self._cluster.image().topics
        there = {partition: offset for partition, offset in offsets.items() if self._is_there(partition)}
        max_bytes = broker_config(self._cluster.image(), "offset.metadata.max.bytes")
        fitting = {each: offset for each, offset in there.items() if _utf16_length(offset.metadata) <= max_bytes}
        if there:
            ids = [(topics[partition.topic].id, partition.partition) for partition in fitting]
            validate_commit(self._existing(group_id), by, ids)
        records = []
        for partition, offset in fitting.items():
            # Kafka's transactional commits do not say which topic they mean
            topic_id = ZERO_UUID if by.is_transactional else topics[partition.topic].id
            stamped = offset._replace(commit_timestamp=self._cluster.now, topic_id=topic_id)
            records.append(offset_commit_record(group_id, partition, stamped))
        if records:
            self._store.append(group_id, records, producer)
        if len(there) < len(offsets):
            raise refusal("UnknownTopicOrPartitionException")
        if len(fitting) < len(there):
            raise refusal("OffsetMetadataTooLarge")

    def _find_expired(self, now: int, retention_ms: int | None) -> tuple[Expired, dict[TopicPartition, list[OfGroup]]]:
        if retention_ms is None:
            retention_ms = broker_config(self._cluster.image(), "offsets.retention.minutes") * _MS_IN_A_MINUTE
        found = Expired([], [])
        records: dict[TopicPartition, list[OfGroup]] = {}
        for group_id in self._store.groups():
            tombstones = self._expire_group(group_id, (now, retention_ms), found)
            if tombstones:
                into = records.setdefault(self._store.partition(group_id), [])
                into += [(group_id, each) for each in tombstones]
        return found, records

    def _expire_group(self, group_id: str, older_than: tuple[int, int], found: Expired) -> list[CoordinatorRecord]:
        group = self._existing(group_id)
        if group is None or _type(group) is GroupType.SHARE:
            return []
        offsets, pending = self._store.offsets(group_id), self._pending(group_id)
        gone = expired_offsets(group, offsets, pending, older_than)
        found.offsets.extend((group_id, partition) for partition in gone)
        records = [offset_tombstone(group_id, partition) for partition in gone]
        if len(gone) == len(offsets) and not pending and _is_empty(group):
            logged = self._store.group(group_id)
            assert logged is not None
            found.groups.append(group_id)
            records += group_tombstones(logged)
        return records

    def _append_in_batches(self, records: Iterable[OfGroup]) -> None:
        """Records of groups that share a partition."""
        left = iter(records)
        while batch := list(islice(left, RECORDS_IN_A_BATCH)):
            self._store.append(batch[0][0], [record for _, record in batch])

    def _forget(self, group_id: str, partitions: Collection[TopicPartition]) -> None:
        if partitions:
            self._store.append(group_id, [offset_tombstone(group_id, partition) for partition in partitions])

    def _existing(self, group_id: str) -> ClassicGroupState | ModernGroup | None:
        group = self._store.group(group_id)
        return self._classic.find(group_id) if isinstance(group, ClassicGroup) else group

    def _pending(self, group_id: str) -> dict[TopicPartition, None]:
        pending = self._store.pending_offsets(group_id).values()
        return dict.fromkeys(partition for offsets in pending for partition in offsets)

    def _is_there(self, partition: TopicPartition) -> bool:
        topic = self._cluster.image().topics.get(partition.topic)
        return topic is not None and partition.partition in topic.partitions


def _type(group: ClassicGroupState | ModernGroup) -> GroupType:
    return GroupType.CLASSIC if isinstance(group, ClassicGroupState) else group.type


def _is_empty(group: ClassicGroupState | ModernGroup) -> bool:
    return group.state is GroupState.EMPTY if isinstance(group, ClassicGroupState) else not group.members


def _utf16_length(text: str) -> int:
    """What Java counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def validate_commit(
    group: ClassicGroupState | ModernGroup | None, by: Committer, partitions: Iterable[tuple[str, int]]
) -> None:
    """Refuse whom Kafka refuses; ``partitions`` are topic ids and numbers. None is a group that is to be made."""
    if isinstance(group, ClassicGroupState):
        _validate_classic(group, by)
    elif group is not None:
        try:
            _validate_modern(group, by, partitions)
        except KafkaError as error:
            if by.is_transactional and error.name == "StaleMemberEpochException":
                raise refusal("IllegalGenerationException") from None
            raise
    elif by.generation >= 0:
        raise refusal("IllegalGenerationException" if by.is_transactional else "GroupIdNotFoundException")


def _validate_classic(group: ClassicGroupState, by: Committer) -> None:
    is_empty = group.state is GroupState.EMPTY
    if by.generation < 0 and is_empty:
        return
    if not by.is_anonymous:
        group.member(by.member_id)
        if by.generation != group.generation:
            raise refusal("IllegalGenerationException")
    elif not by.is_transactional:
        raise refusal("UnknownMemberIdException")
    if not by.is_transactional and group.state is GroupState.COMPLETING_REBALANCE:
        raise refusal("RebalanceInProgressException")


def _validate_modern(group: ModernGroup, by: Committer, partitions: Iterable[tuple[str, int]]) -> None:
    if group.type is GroupType.SHARE:
        raise refusal("GroupIdNotFoundException")
    if by.generation < 0 and not group.members:
        return
    if by.is_transactional and by.is_anonymous:
        return
    member = group.members.get(by.member_id)
    if member is None:
        raise refusal("UnknownMemberIdException")
    current = member.current or {"memberEpoch": 0}
    if by.generation == current["memberEpoch"]:
        return
    held = {} if by.generation > current["memberEpoch"] else _assignment_epochs(current)
    if not all(partition in held and held[partition] <= by.generation for partition in partitions):
        raise refusal("IllegalGenerationException" if _is_classic(member) else "StaleMemberEpochException")


def _assignment_epochs(current: Value) -> dict[tuple[str, int], int]:
    """Since which epoch a member of a consumer group has each of its partitions."""
    found: dict[tuple[str, int], int] = {}
    for topic in (*current.get("partitionsPendingRevocation", ()), *current.get("assignedPartitions", ())):
        numbers, epochs = topic["partitions"], topic["assignmentEpochs"]
        if epochs is None or len(epochs) != len(numbers):
            epochs = [max(current["memberEpoch"], 0)] * len(numbers)
        found.update(((topic["topicId"], number), epoch) for number, epoch in zip(numbers, epochs, strict=True))
    return found


def _is_classic(member: ModernMember) -> bool:
    return member.metadata is not None and member.metadata.get("classicMemberMetadata") is not None
