"""Offsets: who may commit them, who may delete them, and when they are forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.classic_group_state import ClassicGroupState
from kafkapy.coordinator.classic_groups import JoinRequest
from kafkapy.coordinator.group import ClassicGroup, ClassicMember, GroupType, ModernGroup, ModernMember
from kafkapy.coordinator.group_metadata_records import group_tombstones
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.offset_expiration import expired_offsets
from kafkapy.coordinator.offset_manager import Committer, validate_commit
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.log.topic_partition import TopicPartition
from tests.coordinator.test_classic_groups import (
    NOW,
    ORDERS,
    P0,
    P1,
    P2,
    PLAIN,
    Coordinator,
    joining,
    made,
    opened,
    records,
)

DAY = 24 * 60 * 60 * 1000
WEEK = 7 * DAY
NOWHERE = TopicPartition(ORDERS, 3)
PRODUCER = ProducerIdAndEpoch(4711, 0)


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Coordinator]:
    cluster = opened(made(tmp_path / "cluster"))
    yield Coordinator(cluster)
    cluster.close()


def refused(name: str) -> pytest.RaisesExc[KafkaError]:
    return pytest.RaisesExc(KafkaError, check=lambda error: error.name == name)


def at(offset: int, metadata: str = "") -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, metadata=metadata)


def committed(groups: Coordinator, group_id: str = "g") -> dict[TopicPartition, int]:
    """As another process reads it."""
    return {partition: found.offset for partition, found in groups.reopened().store.offsets(group_id).items()}


def versions(groups: Coordinator, group_id: str = "g") -> list[tuple[str, int | None]]:
    return [(record.name, record.version) for record in records(groups.cluster, group_id)]


def test_a_commit_says_when_and_for_which_topic(groups: Coordinator) -> None:
    groups.offsets.commit("g", {P1: OffsetAndMetadata(7, 3, "mine"), P0: at(5)})
    topic_id = groups.cluster.image().topics[ORDERS].id
    found = groups.reopened().store.offsets("g")
    assert found == {
        P0: OffsetAndMetadata(5, -1, "", NOW, -1, topic_id),
        P1: OffsetAndMetadata(7, 3, "mine", NOW, -1, topic_id),
    }
    assert versions(groups) == [("OffsetCommit", 4)] * 2, "a simple group has no record of its own"


def test_a_commit_that_expires_at_a_time_of_its_own_is_of_version_1(groups: Coordinator) -> None:
    groups.offsets.commit("g", {P0: OffsetAndMetadata(5, expire_timestamp=NOW + 10)})
    assert groups.reopened().store.offsets("g") == {P0: OffsetAndMetadata(5, -1, "", NOW, NOW + 10, ZERO_UUID)}
    assert versions(groups) == [("OffsetCommit", 1)]
    groups.cluster.time = NOW + 9
    assert groups.offsets.expire() == ([], [])
    groups.cluster.time = NOW + 10
    assert groups.offsets.expire() == ([("g", P0)], ["g"])


def test_what_cannot_be_committed_is_told_and_the_rest_is_committed(groups: Coordinator) -> None:
    with refused("UnknownTopicOrPartitionException"):
        groups.offsets.commit("g", {NOWHERE: at(1), P0: at(2), TopicPartition("none", 0): at(3)})
    with refused("OffsetMetadataTooLarge"):
        groups.offsets.commit("g", {P1: at(4, "x" * 4097), P2: at(5, "x" * 4096)})
    assert committed(groups) == {P0: 2, P2: 5}
    with refused("OffsetMetadataTooLarge"):
        groups.offsets.commit("g", {P1: at(4, "\U0001f600" * 2049)})  # two of Java's characters each
    with refused("UnknownTopicOrPartitionException"):
        groups.offsets.commit("none", {NOWHERE: at(1)})
    assert groups.store.group("none") is None


def test_members_commit_and_nobody_else_does(groups: Coordinator) -> None:
    member_id, generation = groups.member("g", P0)
    groups.offsets.commit("g", {P0: at(1)}, member_id, generation)
    for who, number, name in (
        ("", -1, "UnknownMemberIdException"),
        ("who", generation, "UnknownMemberIdException"),
        (member_id, generation + 1, "IllegalGenerationException"),
        (member_id, -1, "IllegalGenerationException"),
        ("", generation, "UnknownMemberIdException"),
    ):
        with refused(name):
            groups.offsets.commit("g", {P0: at(9)}, who, number)
    with refused("GroupIdNotFoundException"):
        groups.offsets.commit("none", {P0: at(9)}, member_id, generation)
    with refused("IllegalGenerationException"):
        groups.offsets.commit_transactional("none", PRODUCER, {P0: at(9)}, member_id, generation)
    groups.classic.leave("g", member_id)
    groups.offsets.commit("g", {P1: at(3)})
    with refused("UnknownMemberIdException"):
        groups.offsets.commit("g", {P0: at(9)}, member_id, generation)
    assert committed(groups) == {P0: 1, P1: 3}


def test_commits_during_a_rebalance(groups: Coordinator) -> None:
    member_id, generation = groups.member("g", P0)
    groups.classic.join("g", joining(member_id))
    groups.offsets.commit("g", {P0: at(1)}, member_id, generation)  # members commit before they join again
    groups.classic.complete_join("g")
    with refused("IllegalGenerationException"):
        groups.offsets.commit("g", {P0: at(2)}, member_id, generation)
    with refused("RebalanceInProgressException"):
        groups.offsets.commit("g", {P0: at(2)}, member_id, generation + 1)
    groups.offsets.commit_transactional("g", PRODUCER, {P0: at(3)}, member_id, generation + 1)
    groups.offsets.commit_transactional("g", PRODUCER, {P1: at(4)})
    assert committed(groups) == {P0: 1}


def test_a_transaction_commits_when_its_marker_says_so(groups: Coordinator) -> None:
    groups.offsets.commit("g", {P0: at(1), P2: at(1)})
    groups.offsets.commit_transactional("g", PRODUCER, {P0: at(2), P1: at(3)})
    assert committed(groups) == {P0: 1, P2: 1}
    pending = groups.reopened().store.pending_offsets("g")
    assert pending == {
        4711: {P0: OffsetAndMetadata(2, commit_timestamp=NOW), P1: OffsetAndMetadata(3, commit_timestamp=NOW)}
    }
    groups.store.end_transaction(groups.store.partition("g"), 4711, commit=True)
    assert {partition: found.offset for partition, found in groups.store.offsets("g").items()} == {P0: 2, P1: 3, P2: 1}


def current(epoch: int, *partitions: int, since: int) -> dict[str, object]:
    held = [{"topicId": "t", "partitions": list(partitions), "assignmentEpochs": [since] * len(partitions)}]
    return {"memberEpoch": epoch, "assignedPartitions": held, "partitionsPendingRevocation": []}


@pytest.mark.parametrize(
    ("by", "partition", "name"),
    [
        (Committer("m", 5), 0, None),
        (Committer("m", 3), 0, None),
        (Committer("m", 2), 0, "StaleMemberEpochException"),
        (Committer("m", 3), 9, "StaleMemberEpochException"),
        (Committer("m", 6), 0, "StaleMemberEpochException"),
        (Committer("m", 2, is_transactional=True), 0, "IllegalGenerationException"),
        (Committer("", -1), 0, "UnknownMemberIdException"),
        (Committer("", -1, is_transactional=True), 0, None),
        (Committer("who", 5), 0, "UnknownMemberIdException"),
    ],
)
def test_members_of_a_consumer_group_commit_what_they_have(by: Committer, partition: int, name: str | None) -> None:
    member = ModernMember("m", {"classicMemberMetadata": None}, None, current(5, 0, 1, since=3))
    group = ModernGroup("g", GroupType.CONSUMER, {"epoch": 5}, members={"m": member})
    if name is None:
        validate_commit(group, by, [("t", partition)])
    else:
        with refused(name):
            validate_commit(group, by, [("t", partition)])
    validate_commit(group._replace(members={}), Committer(), [("t", 0)])
    with refused("GroupIdNotFoundException"):
        validate_commit(group._replace(type=GroupType.SHARE), Committer(), [])


def test_offsets_of_what_nobody_reads_are_deleted(groups: Coordinator) -> None:
    member_id, generation = groups.member("g", P0)
    groups.offsets.commit("g", {P0: at(1), PLAIN: at(2)}, member_id, generation)
    answers = groups.offsets.delete("g", [P0, P1, PLAIN, NOWHERE])
    assert {partition: error and error.name for partition, error in answers.items()} == {
        P0: "GroupSubscribedToTopicException",
        P1: "GroupSubscribedToTopicException",
        PLAIN: None,
        NOWHERE: "UnknownTopicOrPartitionException",
    }
    assert committed(groups) == {P0: 1}
    groups.classic.leave("g", member_id)
    before = len(list(records(groups.cluster, "g")))
    assert groups.offsets.delete("g", [P0, P2]) == {P0: None, P2: None}
    assert len(list(records(groups.cluster, "g"))) == before + 1, "what was never there needs no tombstone"
    assert committed(groups) == {}
    with refused("GroupIdNotFoundException"):
        groups.offsets.delete("none", [P0])


def test_offsets_of_other_protocols_are_deleted_when_nobody_is_there(groups: Coordinator) -> None:
    request: JoinRequest = joining()._replace(protocol_type="connect", protocols=(("sessioned", b"x"),))
    groups.member("g", request=request)
    with refused("GroupNotEmptyException"):
        groups.offsets.delete("g", [P0])


def test_pending_offsets_are_deleted_too(groups: Coordinator) -> None:
    groups.offsets.commit_transactional("g", PRODUCER, {P0: at(2)})
    assert groups.offsets.delete("g", [P0]) == {P0: None}
    groups.store.end_transaction(groups.store.partition("g"), 4711, commit=True)
    assert groups.store.offsets("g") == {}


def test_a_group_is_deleted_when_it_is_empty(groups: Coordinator) -> None:
    member_id, generation = groups.member("g", P0)
    groups.offsets.commit("g", {P0: at(1), P1: at(1)}, member_id, generation)
    with refused("GroupNotEmptyException"):
        groups.offsets.delete_group("g")
    groups.classic.leave("g", member_id)
    groups.classic.join("g", joining())
    with refused("GroupNotEmptyException"):
        groups.offsets.delete_group("g")
    groups = groups.reopened()
    groups.offsets.commit_transactional("g", PRODUCER, {P1: at(2), P2: at(2)})
    written = len(versions(groups))
    groups.offsets.delete_group("g")
    assert versions(groups)[written:] == [("OffsetCommit", None)] * 3 + [("GroupMetadata", None)]
    assert groups.reopened().store.group("g") is None
    with refused("GroupIdNotFoundException"):
        groups.offsets.delete_group("g")


@pytest.mark.parametrize(
    ("group_type", "kinds"),
    [
        (GroupType.CONSUMER, [8, 7, 6, 5, 16, 4, 3]),
        (GroupType.SHARE, [14, 13, 12, 10, 15, 11]),
        (GroupType.STREAMS, [22, 21, 20, 19, 17, 23]),
    ],
)
def test_the_tombstones_of_a_group_are_in_kafkas_order(group_type: GroupType, kinds: list[int]) -> None:
    from kafkapy.formats.coordinator_record import GROUP, encode_record

    group = ModernGroup("g", group_type, members={"m": ModernMember("m")}, regular_expressions={"a.*": {}})
    written = [encode_record(GROUP, record) for record in group_tombstones(group)]
    assert [int.from_bytes(key[:2], "big") for key, _ in written] == kinds
    assert all(value is None for _, value in written)


def test_an_empty_group_keeps_its_offsets_for_a_week(groups: Coordinator) -> None:
    member_id, generation = groups.member("g", P0)
    groups.offsets.commit("g", {P0: at(1)}, member_id, generation)
    groups.offsets.commit("simple", {P0: at(1), P1: at(1)})
    groups.cluster.time = NOW + 3 * DAY
    groups.classic.leave("g", member_id)
    groups.offsets.commit("simple", {P1: at(2)})
    groups.cluster.time = NOW + WEEK - 1
    assert groups.reopened().offsets.expire() == ([], [])
    groups.cluster.time = NOW + WEEK
    assert groups.reopened().offsets.expire() == ([("simple", P0)], [])
    groups.cluster.time = NOW + 3 * DAY + WEEK
    assert groups.reopened().offsets.expire() == ([("g", P0), ("simple", P1)], ["g", "simple"])
    assert groups.reopened().store.groups() == {}


def test_a_group_without_offsets_goes_at_once(groups: Coordinator) -> None:
    member_id, _ = groups.member("g", P0)
    assert groups.offsets.expire() == ([], [])
    groups.classic.leave("g", member_id)
    groups.offsets.commit_transactional("open", PRODUCER, {P0: at(1)})
    assert groups.offsets.expire() == ([], ["g"])
    assert list(groups.reopened().store.groups()) == ["open"]


def test_a_retention_may_be_given(groups: Coordinator) -> None:
    groups.offsets.commit("g", {P0: at(1)})
    groups.cluster.time = NOW + 5
    assert groups.offsets.expire(retention_ms=6) == ([], [])
    assert groups.offsets.expire(retention_ms=5) == ([("g", P0)], ["g"])


def test_many_offsets_expire_in_more_than_one_batch(groups: Coordinator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkapy.coordinator.offset_manager.RECORDS_IN_A_BATCH", 4)
    names = [f"g{number}" for number in range(7)]
    for name in names:
        groups.offsets.commit(name, {P0: at(1), P1: at(2)})
    groups.cluster.time = NOW + WEEK
    assert groups.offsets.expire().groups == names
    assert groups.reopened().store.groups() == {}


def test_offsets_of_deleted_topics_go(groups: Coordinator) -> None:
    groups.offsets.commit("g", {P0: at(1), PLAIN: at(2)})
    groups.offsets.commit_transactional("h", PRODUCER, {P1: at(3)})
    topic_id = groups.cluster.image().topics[ORDERS].id
    assert groups.offsets.delete_topics({ORDERS: ZERO_UUID[:-1] + "Q"}) == [("h", P1)], "another topic of that name"
    assert groups.offsets.delete_topics({ORDERS: topic_id}) == [("g", P0)]
    assert committed(groups) == {PLAIN: 2}


def classic(state_timestamp: int, protocol_type: str = "consumer", reads: bytes | None = None) -> ClassicGroupState:
    members = {} if reads is None else {"m": ClassicMember("m", None, "", "", 1, 1, reads, b"")}
    return ClassicGroupState(
        ClassicGroup("g", protocol_type, 1, "range" if members else None, None, state_timestamp, members)
    )


READS_ORDERS = joining().protocols[0][1]


@pytest.mark.parametrize(
    ("group", "gone"),
    [
        (classic(-1, ""), {P0}),
        (classic(-1), {P0}),
        (classic(90), set()),
        (classic(50), {P0, PLAIN}),
        (classic(0, reads=READS_ORDERS), set()),
        (classic(0, reads=b"garbage"), set()),
        (classic(0, "connect", reads=READS_ORDERS), set()),
        (ModernGroup("g", GroupType.CONSUMER), {P0}),
        (ModernGroup("g", GroupType.STREAMS), {P0}),
        (ModernGroup("g", GroupType.SHARE), set()),
    ],
)
def test_what_each_kind_of_group_forgets(group: ClassicGroupState | ModernGroup, gone: set[TopicPartition]) -> None:
    """At 100, with a retention of 50; the first offset was committed at 40, the second at 60."""
    offsets = {P0: OffsetAndMetadata(1, commit_timestamp=40), PLAIN: OffsetAndMetadata(1, commit_timestamp=60)}
    assert set(expired_offsets(group, offsets, (), (100, 50))) == gone
    assert P0 not in expired_offsets(group, offsets, {P0}, (100, 50)), "a transaction is about to commit it"


def test_what_members_read_is_kept() -> None:
    offsets = {P0: OffsetAndMetadata(1, commit_timestamp=0), PLAIN: OffsetAndMetadata(1, commit_timestamp=0)}
    asked = {"subscribedTopicNames": [], "subscribedTopicRegex": "pl.*"}
    resolved = {"pl.*": {"topics": ["plain"]}, "old.*": {"topics": [ORDERS]}}
    group = ModernGroup("g", GroupType.CONSUMER, members={"m": ModernMember("m", asked)}, regular_expressions=resolved)
    assert expired_offsets(group, offsets, (), (100, 50)) == [P0]
    topology = {"subtopologies": [{"sourceTopics": [ORDERS], "repartitionSourceTopics": [{"name": "r"}]}]}
    streams = ModernGroup("g", GroupType.STREAMS, members={"m": ModernMember("m")}, topology=topology)
    assert expired_offsets(streams, offsets, (), (100, 50)) == [PLAIN]
    assert expired_offsets(streams._replace(members={}), offsets, (), (100, 50)) == [P0, PLAIN]
    assert expired_offsets(classic(0, reads=READS_ORDERS), offsets, (), (100, 50)) == [PLAIN]


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_an_offset_expires_once_and_for_all(committed_at: int, now: int, retention: int) -> None:
    offsets = {P0: OffsetAndMetadata(1, commit_timestamp=committed_at)}
    is_gone = bool(expired_offsets(classic(-1, ""), offsets, (), (now, retention)))
    assert is_gone == (now >= committed_at + retention)


def test_an_empty_consumer_group_goes_with_its_offsets(groups: Coordinator) -> None:
    groups.store.append("g", [CoordinatorRecord("ConsumerGroupMetadata", {"groupId": "g"}, 0, {"epoch": 1})])
    groups.offsets.commit("g", {P0: at(1)})
    groups.cluster.time = NOW + WEEK
    assert groups.reopened().offsets.expire() == ([("g", P0)], ["g"])
