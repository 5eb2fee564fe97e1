"""Histories of ``__consumer_offsets`` for the tests of groups: steps, the batches they are written as, and a replay of
them that is as plain as can be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from kafkapy.coordinator.commit_batch import FEW
from kafkapy.coordinator.group import ClassicGroup, GroupType, ModernGroup
from kafkapy.coordinator.group_log import GroupLog
from kafkapy.formats.compression import Codec
from kafkapy.formats.control_record import ControlRecordType, EndTransactionMarker, encode_key, encode_marker
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import NO_PRODUCER_ID, BatchOptions, Record, decode_header, encode_batch
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition

GROUPS = ("g1", "g2", "grüppe")
TOPICS = ("t", "topic-ü")
PRODUCERS = (NO_PRODUCER_ID, NO_PRODUCER_ID, 7, 8)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Commit(NamedTuple):
    """``form`` is how the key is written: as Kafka does, as Kafka 0.8 did, or with bytes behind it."""

    group: str
    partition: TopicPartition
    offset: int
    version: int = 4
    metadata: str = ""
    form: str = "usual"


class Tombstone(NamedTuple):
    group: str
    partition: TopicPartition


class GroupRecord(NamedTuple):
    """A GroupMetadata or ConsumerGroupMetadata record; ``epoch`` None is its tombstone."""

    name: str
    group: str
    epoch: int | None


class Garbage(NamedTuple):
    """A record that cannot be read; of a commit the value is cut off."""

    kind: str
    group: str = "g1"
    partition: TopicPartition = T0


Step = Commit | Tombstone | GroupRecord | Garbage


class Steps(NamedTuple):
    """A batch."""

    producer_id: int
    steps: tuple[Step, ...]
    codec: Codec = Codec.NONE


class Marker(NamedTuple):
    producer_id: int
    commit: bool


@dataclass
class Replay:
    """What a coordinator does when it loads a partition, a record at a time."""

    groups: dict[str, tuple[str, int]] = field(default_factory=dict)
    committed: dict[tuple[str, TopicPartition], tuple[int, int]] = field(default_factory=dict)
    pending: dict[int, dict[tuple[str, TopicPartition], tuple[int, int]]] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)

    def take(self, number: int, producer_id: int, step: Step) -> None:
        if isinstance(step, Commit):
            self.groups.setdefault(step.group, ("simple", 0))
            table = self.committed if producer_id == NO_PRODUCER_ID else self.pending.setdefault(producer_id, {})
            table[step.group, step.partition] = step.offset, number
        elif isinstance(step, Tombstone):
            for each in (self.committed, *self.pending.values()):
                each.pop((step.group, step.partition), None)
        elif isinstance(step, GroupRecord):
            self._take_group(number, step)
        else:
            self.damaged.append(number)

    def _take_group(self, number: int, step: GroupRecord) -> None:
        found, name = self.groups.get(step.group), step.name
        if name == "GroupMetadata":
            self.groups.pop(step.group, None)
        elif found is None and step.epoch is None:
            return
        elif found is not None and found[0] == "GroupMetadata":
            self.damaged.append(number)
            return
        elif step.epoch is None:
            del self.groups[step.group]
        if step.epoch is not None:
            self.groups[step.group] = name, step.epoch

    def mark(self, marker: Marker) -> None:
        for key, (offset, number) in self.pending.pop(marker.producer_id, {}).items():
            if marker.commit and (key not in self.committed or self.committed[key][1] < number):
                self.committed[key] = offset, number


def commit_record(commit: Commit) -> CoordinatorRecord:
    key = {"group": commit.group, "topic": commit.partition.topic, "partition": commit.partition.partition}
    value = {"offset": commit.offset, "metadata": commit.metadata, "commitTimestamp": 5}
    return CoordinatorRecord("OffsetCommit", key, commit.version, value)


def pair(step: Step) -> tuple[bytes | None, bytes | None]:
    """Key and value."""
    if isinstance(step, Commit):
        if step.form == "old":
            old = CoordinatorRecord("LegacyOffsetCommit", commit_record(step).key, 0, commit_record(step).value)
            return encode_record(GROUP, old)
        usual = encode_record(GROUP, commit_record(step))
        return (usual[0] + b"!", usual[1]) if step.form == "longer" else usual
    if isinstance(step, Tombstone):
        return pair(Commit(step.group, step.partition, 0))[0], None
    if isinstance(step, GroupRecord):
        return encode_record(GROUP, group_record(step))
    key, value = encode_record(GROUP, commit_record(Commit(step.group, step.partition, 9)))
    assert value is not None
    return {
        "value": (key, value[:-2]),
        "version": (key, b"\0\x63" + value[2:]),
        "type": (b"\0\x63" + key[2:], value),
        "key": (key[:5], value),
        "no key": (None, value),
    }[step.kind]


def group_record(step: GroupRecord) -> CoordinatorRecord:
    key_field = "group" if step.name == "GroupMetadata" else "groupId"
    if step.epoch is None:
        return CoordinatorRecord(step.name, {key_field: step.group})
    if step.name == "GroupMetadata":
        return CoordinatorRecord(step.name, {"group": step.group}, 3, classic_value(step.epoch))
    return CoordinatorRecord(step.name, {"groupId": step.group}, 0, {"epoch": step.epoch})


def classic_value(generation: int, protocol: str | None = None, members: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "protocolType": "consumer",
        "generation": generation,
        "protocol": protocol,
        "leader": members[0] if members else None,
        "currentStateTimestamp": 5,
        "members": [
            {
                "memberId": member, "groupInstanceId": None, "clientId": "c", "clientHost": "/h",
                "rebalanceTimeout": -1, "sessionTimeout": 30, "subscription": b"s", "assignment": b"a",
            }
            for member in members
        ],
    }  # fmt: skip


def batches(written: list[Steps | Marker]) -> list[Batch]:
    found, offset = [], 0
    for each in written:
        if isinstance(each, Marker):
            kind = ControlRecordType.COMMIT if each.commit else ControlRecordType.ABORT
            records = [Record(offset, 1, encode_key(kind), encode_marker(EndTransactionMarker(kind, 0)))]
            options = BatchOptions(offset, transactional=True, control=True, producer_id=each.producer_id)
        else:
            records = [Record(offset + number, 1, *pair(step)) for number, step in enumerate(each.steps)]
            options = BatchOptions(offset, each.codec, base_sequence=0, producer_id=each.producer_id)
        data = encode_batch(records, options)
        found.append(Batch(decode_header(data), 0, data))
        offset += len(records)
    return found


def replayed(written: list[Steps | Marker]) -> Replay:
    replay, offset = Replay(), 0
    for each in written:
        if isinstance(each, Marker):
            replay.mark(each)
            offset += 1
        else:
            for step in each.steps:
                replay.take(offset, each.producer_id, step)
                offset += 1
    return replay


def require_same(log: GroupLog, replay: Replay) -> None:
    groups = {group_id: log.groups.get(group_id) for group_id in log.groups.ids()}
    assert {group_id: short(group) for group_id, group in groups.items()} == replay.groups
    for group_id in GROUPS:
        found = {partition: offset.offset for partition, offset in log.offsets(group_id).items()}
        assert found == {key[1]: offset for key, (offset, _) in replay.committed.items() if key[0] == group_id}
        assert list(found) == sorted(found)
        pending = {
            producer_id: {partition: offset.offset for partition, offset in offsets.items()}
            for producer_id, offsets in log.pending_offsets(group_id).items()
        }
        wanted = {
            producer_id: {key[1]: offset for key, (offset, _) in table.items() if key[0] == group_id}
            for producer_id, table in replay.pending.items()
        }
        assert pending == {producer_id: table for producer_id, table in wanted.items() if table}


def short(group: ClassicGroup | ModernGroup | None) -> tuple[str, int]:
    if isinstance(group, ModernGroup):
        assert group.type is GroupType.CONSUMER
        return "ConsumerGroupMetadata", group.epoch
    assert group is not None
    return ("GroupMetadata", group.generation) if group.protocol_type else ("simple", group.generation)


group_ids = st.sampled_from(GROUPS)
partitions = st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 3))
commits = st.builds(
    Commit, group_ids, partitions, st.integers(0, 1 << 40), st.sampled_from((4, 4, 3, 2, 0)), st.sampled_from(("", "m"))
)
old_commits = st.builds(Commit, group_ids, partitions, st.integers(0, 99), st.just(0), st.just(""), st.just("old"))
longer_commits = commits.map(lambda commit: commit._replace(form="longer"))
group_records = st.builds(
    GroupRecord,
    st.sampled_from(("GroupMetadata", "ConsumerGroupMetadata")),
    group_ids,
    st.none() | st.integers(1, 9),
)
sound = st.one_of(
    commits, commits, st.builds(Tombstone, group_ids, partitions), group_records, old_commits, longer_commits
)
garbage = st.builds(Garbage, st.sampled_from(("value", "version", "type", "key", "no key")), group_ids, partitions)
codecs = st.sampled_from((Codec.NONE, Codec.NONE, Codec.GZIP))


def histories(step: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Steps | Marker]]:
    """Batches of commits alone, of anything, and markers."""
    committed = st.lists(commits, min_size=1, max_size=3 * FEW).map(tuple)
    mixed = st.lists(step, min_size=1, max_size=6).map(tuple)
    batch = st.builds(Steps, st.sampled_from(PRODUCERS), committed | mixed, codecs)
    return st.lists(batch | st.builds(Marker, st.sampled_from((7, 8)), st.booleans()), max_size=12)
