"""Classic groups: what a coordinator writes and answers, and how it goes on from the log.

The scratch cluster, its clock and its members are those of the tests of offsets, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.classic_group_state import ClassicGroupState, GroupMember
from kafkapy.coordinator.classic_groups import ClassicGroups, JoinRequest
from kafkapy.coordinator.consumer_protocol import (
    Subscription,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from kafkapy.coordinator.group import ClassicGroup, GroupState
from kafkapy.coordinator.group_metadata_records import group_metadata_record
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.offset_manager import OffsetManager
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode, encode_record
from kafkapy.log.files import Files
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic

NOW = 1_794_800_000_000
ORDERS = "orders"
P0, P1, P2 = (TopicPartition(ORDERS, number) for number in range(3))
PLAIN = TopicPartition("plain", 0)


class Clocked(DirectoryCluster):
    """A cluster whose time stands still until it is set."""

    time = NOW

    def _time(self) -> int:
        return self.time


class Coordinator:
    """The parts of a group coordinator, as one process has them."""

    def __init__(self, cluster: Clocked) -> None:
        self.cluster = cluster
        self.store = GroupStore(cluster)
        self.classic = ClassicGroups(cluster, self.store)
        self.offsets = OffsetManager(cluster, self.store, self.classic)

    def rebalance(self, group_id: str, assigned: dict[str, tuple[TopicPartition, ...]]) -> int:
        """A whole generation, of those members that have joined; its number."""
        joined = self.classic.complete_join(group_id)
        generation = max(answer.generation for answer in joined.values())
        assignments = {member_id: encode_assignment(partitions) for member_id, partitions in assigned.items()}
        self.classic.sync(group_id, generation, assignments)
        return generation

    def member(self, group_id: str, *partitions: TopicPartition, request: JoinRequest | None = None) -> tuple[str, int]:
        """A member of its own generation, which has these partitions."""
        member_id = self.classic.join(group_id, request or joining())
        return member_id, self.rebalance(group_id, {member_id: partitions})

    def reopened(self) -> Coordinator:
        """As another process finds it."""
        return Coordinator(self.cluster)


def made(directory: Path, brokers: int = 1, offsets_partitions: int = 2) -> str:
    """A cluster directory with two topics, and few partitions for the groups, because that is faster."""
    make_cluster(str(directory), brokers, files=Files(sync=False))
    cluster = opened(str(directory))
    topics = ((ORDERS, 3), (PLAIN.topic, 1), (CONSUMER_OFFSETS, offsets_partitions))
    cluster.apply(*(CreateTopic(name, partitions, brokers) for name, partitions in topics))
    cluster.close()
    return str(directory)


def opened(directory: str) -> Clocked:
    return Clocked(directory, Files(sync=False), seed=7)


def joining(
    member_id: str = "",
    instance: str | None = None,
    topics: tuple[str, ...] = (ORDERS,),
    assignors: tuple[str, ...] = ("range",),
) -> JoinRequest:
    """What a consumer asks for."""
    data = encode_subscription(Subscription(topics))
    return JoinRequest(
        member_id, instance, "app", "/127.0.0.1", 45_000, 300_000, protocols=tuple((name, data) for name in assignors)
    )


def records(cluster: DirectoryCluster, group_id: str) -> Iterator[CoordinatorRecord]:
    """Every record of a group, as they were written."""
    for number in cluster.image().topics[CONSUMER_OFFSETS].partitions:
        for batch in cluster.read(TopicPartition(CONSUMER_OFFSETS, number), 0):
            for record in () if batch.header.is_control else batch.records():
                assert record.key is not None
                found = decode(GROUP, record.key, record.value)
                if group_id in (found.key.get("group"), found.key.get("groupId")):
                    yield found


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Coordinator]:
    cluster = opened(made(tmp_path / "cluster"))
    yield Coordinator(cluster)
    cluster.close()


def refused(name: str) -> pytest.RaisesExc[KafkaError]:
    return pytest.RaisesExc(KafkaError, check=lambda error: error.name == name)


def history(groups: Coordinator, group_id: str = "g") -> list[tuple[int, str | None, list[str]]]:
    """Generation, protocol and members of every state that the log has."""
    values = [record.value for record in records(groups.cluster, group_id) if record.name == "GroupMetadata"]
    return [
        (value["generation"], value["protocol"], [member["memberId"] for member in value["members"]])
        for value in values
        if value is not None
    ]


def test_a_member_that_joins_and_leaves(groups: Coordinator) -> None:
    member_id = groups.classic.join("g", joining(assignors=("range", "cooperative-sticky")))
    assert member_id.startswith("app-")
    assert groups.classic.state("g") is GroupState.PREPARING_REBALANCE
    told = groups.classic.complete_join("g")[member_id]
    assert (told.generation, told.protocol, told.leader, list(told.members)) == (1, "range", member_id, [member_id])
    assert groups.classic.state("g") is GroupState.COMPLETING_REBALANCE
    with refused("RebalanceInProgressException"):
        groups.classic.assignment("g", member_id, 1)
    groups.classic.sync("g", 1, {member_id: b"mine"})
    assert groups.classic.state("g") is GroupState.STABLE
    assert groups.classic.assignment("g", member_id, 1) == b"mine"
    assert groups.classic.heartbeat("g", member_id, 1) is False
    groups.classic.leave("g", member_id)
    assert groups.classic.state("g") is GroupState.EMPTY
    assert history(groups) == [(0, None, []), (1, "range", [member_id]), (2, None, [])]


def test_a_second_member_makes_the_first_join_again(groups: Coordinator) -> None:
    first, _ = groups.member("g", P0, P1, P2)
    second = groups.classic.join("g", joining())
    assert groups.classic.heartbeat("g", first, 1) is True
    assert groups.classic.join("g", joining(first)) == first
    told = groups.classic.complete_join("g")
    assert {answer.generation for answer in told.values()} == {2}
    assert told[second].leader == first
    assert told[second].members == {}
    assert list(told[first].members) == [first, second]
    groups.classic.sync("g", 2, {first: b"a"})
    assert groups.classic.assignment("g", second, 2) == b"", "nothing, where the leader gave nothing"
    groups.classic.leave("g", first)
    assert groups.classic.state("g") is GroupState.PREPARING_REBALANCE
    groups.classic.join("g", joining(second))
    assert groups.classic.complete_join("g")[second].leader == second
    groups.classic.sync("g", 3, {second: b"all"})
    assert [row[0] for row in history(groups)] == [0, 1, 2, 3]


def test_who_does_not_join_again_is_out(groups: Coordinator) -> None:
    first, _ = groups.member("g", P0)
    second = groups.classic.join("g", joining())
    assert list(groups.classic.complete_join("g")) == [second]
    with refused("UnknownMemberIdException"):
        groups.classic.heartbeat("g", first, 2)
    with refused("UnknownMemberIdException"):
        groups.classic.join("g", joining(first))


def test_a_rebalance_that_nobody_joins_leaves_static_members_waiting(groups: Coordinator) -> None:
    static, _ = groups.member("g", P0, request=joining(instance="box"))
    dynamic = groups.classic.join("g", joining())
    groups.classic.leave("g", dynamic)
    assert groups.classic.complete_join("g") == {}
    assert groups.classic.state("g") is GroupState.PREPARING_REBALANCE
    assert groups.classic.join("g", joining(static, "box")) == static
    assert groups.classic.complete_join("g")[static].generation == 2


def test_the_log_is_what_another_process_goes_on_from(groups: Coordinator) -> None:
    first, _ = groups.member("g", P0, P1)
    groups.classic.join("g", joining())  # a rebalance that died with its process
    other = groups.reopened()
    assert other.classic.state("g") is GroupState.STABLE
    assert decode_assignment(other.classic.assignment("g", first, 1)) == (P0, P1)
    assert other.classic.evict("g", [first]) == []
    mine = other.classic.join("g", joining())
    assert other.classic.evict("g", [mine]) == [first]
    told = other.classic.complete_join("g")[mine]
    assert (told.generation, told.leader) == (2, mine)


def test_evicting_all_members_leaves_an_empty_group(groups: Coordinator) -> None:
    first, _ = groups.member("g", P0)
    other = groups.reopened()
    assert other.classic.evict("g", []) == [first]
    assert other.classic.state("g") is GroupState.EMPTY
    assert history(groups)[-1] == (2, None, [])
    assert other.classic.evict("g", []) == []
    assert len(history(groups)) == 3, "nothing is written where nobody was evicted"


def test_a_static_member_comes_back_without_a_rebalance(groups: Coordinator) -> None:
    old, _ = groups.member("g", P0, P1, request=joining(instance="box-7"))
    assert old.startswith("box-7-")
    groups.classic.leave("g", old)
    assert groups.classic.state("g") is GroupState.STABLE, "it may come back"

    other = groups.reopened()
    new = other.classic.join("g", joining(instance="box-7"))
    assert new != old
    assert other.classic.state("g") is GroupState.STABLE
    told = other.classic.complete_join("g")[new]
    assert (told.generation, told.leader, told.skip_assignment) == (1, new, True)
    assert decode_assignment(other.classic.assignment("g", new, 1)) == (P0, P1)
    assert history(groups)[-1] == (1, "range", [new])
    with refused("FencedInstanceIdException"):
        other.classic.join("g", joining(old, "box-7"))


def test_a_static_member_that_changes_the_assignor_makes_a_rebalance(groups: Coordinator) -> None:
    groups.member("g", P0, request=joining(instance="box", assignors=("range", "roundrobin")))
    new = groups.classic.join("g", joining(instance="box", assignors=("roundrobin", "range")))
    assert groups.classic.state("g") is GroupState.PREPARING_REBALANCE
    assert groups.classic.complete_join("g")[new].protocol == "roundrobin"


def test_a_member_that_joins_again_with_nothing_new_is_told_what_holds(groups: Coordinator) -> None:
    leader, follower = groups.classic.join("g", joining()), groups.classic.join("g", joining())
    groups.rebalance("g", {leader: (P0,), follower: (P1,)})
    groups.classic.join("g", joining(follower))
    assert groups.classic.state("g") is GroupState.STABLE
    assert groups.classic.complete_join("g")[follower].generation == 1
    groups.classic.join("g", joining(follower, topics=(ORDERS, "plain")))
    assert groups.classic.state("g") is GroupState.PREPARING_REBALANCE, "it reads other topics now"
    groups.classic.join("g", joining(leader))
    assert groups.classic.complete_join("g")[leader].generation == 2
    groups.classic.sync("g", 2, {})
    groups.classic.join("g", joining(leader))
    assert groups.classic.state("g") is GroupState.PREPARING_REBALANCE, "a leader may ask for a rebalance"


def test_a_rebalance_that_begins_before_the_last_has_ended(groups: Coordinator) -> None:
    first = groups.classic.join("g", joining())
    groups.classic.complete_join("g")
    second = groups.classic.join("g", joining())
    with refused("RebalanceInProgressException"):
        groups.classic.sync("g", 1, {first: b"late"})
    groups.classic.join("g", joining(first))
    assert set(groups.classic.complete_join("g")) == {first, second}
    with refused("IllegalGenerationException"):
        groups.classic.sync("g", 1, {first: b"late"})
    assert history(groups) == [(0, None, [])]


@pytest.mark.parametrize(
    ("group_id", "request_", "name"),
    [
        ("", joining(), "InvalidGroupIdException"),
        ("g", joining()._replace(session_timeout_ms=5_999), "InvalidSessionTimeoutException"),
        ("g", joining()._replace(session_timeout_ms=1_800_001), "InvalidSessionTimeoutException"),
        ("g", joining(assignors=()), "InconsistentGroupProtocolException"),
        ("g", joining(assignors=("sticky",)), "InconsistentGroupProtocolException"),
        ("g", joining()._replace(protocol_type="connect"), "InconsistentGroupProtocolException"),
        ("g", joining("who"), "UnknownMemberIdException"),
        ("none", joining("who"), "UnknownMemberIdException"),
        ("none", joining(assignors=()), "InconsistentGroupProtocolException"),
    ],
)
def test_joins_that_are_refused_change_nothing(
    groups: Coordinator, group_id: str, request_: JoinRequest, name: str
) -> None:
    member_id, _ = groups.member("g", P0)
    with refused(name):
        groups.classic.join(group_id, request_)
    assert groups.classic.state("g") is GroupState.STABLE
    assert groups.classic.state("none") is GroupState.DEAD
    assert history(groups) == [(0, None, []), (1, "range", [member_id])]


def test_strangers_are_refused(groups: Coordinator) -> None:
    member_id, generation = groups.member("g", P0)
    with refused("UnknownMemberIdException"):
        groups.classic.heartbeat("g", "who", generation)
    with refused("IllegalGenerationException"):
        groups.classic.heartbeat("g", member_id, generation + 1)
    with refused("UnknownMemberIdException"):
        groups.classic.heartbeat("none", member_id, generation)
    with refused("UnknownMemberIdException"):
        groups.classic.leave("g", "who", member_id)
    assert groups.classic.state("g") is GroupState.EMPTY, "the other one left"
    with refused("UnknownMemberIdException"):
        groups.classic.sync("g", 2, {})


def test_a_group_that_was_deleted_meanwhile_is_made_anew(groups: Coordinator) -> None:
    member_id, _ = groups.member("g", P0)
    groups.classic.leave("g", member_id)
    groups.offsets.delete_group("g")
    assert groups.classic.state("g") is GroupState.DEAD
    groups.member("g", P0)
    assert [row[0] for row in history(groups)] == [0, 1, 2, 0, 1]


def test_what_another_writer_put_into_the_log_holds(groups: Coordinator) -> None:
    member_id, _ = groups.member("g", P0)
    groups.store.append("g", [group_metadata_record(ClassicGroup("g", "consumer", 7))])
    assert groups.classic.state("g") is GroupState.EMPTY
    with refused("UnknownMemberIdException"):
        groups.classic.heartbeat("g", member_id, 1)
    assert groups.member("g", P0)[1] == 8


def test_an_empty_consumer_group_is_taken_over_and_one_with_members_is_not(groups: Coordinator) -> None:
    consumer = {"groupId": "g"}
    epoch = CoordinatorRecord("ConsumerGroupMetadata", consumer, 0, {"epoch": 3})
    member = CoordinatorRecord("ConsumerGroupCurrentMemberAssignment", {**consumer, "memberId": "m"}, 0, {})
    groups.store.append("g", [epoch, member])
    with refused("InconsistentGroupProtocolException"):
        groups.classic.join("g", joining())
    groups.store.append("g", [CoordinatorRecord(member.name, member.key)])
    groups.classic.join("g", joining())
    assert [record.name for record in records(groups.cluster, "g")][3:] == [
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupPartitionMetadata",
        "ConsumerGroupMetadata",
        "GroupMetadata",
    ]
    assert groups.reopened().classic.state("g") is GroupState.EMPTY


def test_a_simple_group_becomes_one_with_members(groups: Coordinator) -> None:
    groups.offsets.commit("g", {P0: OffsetAndMetadata(5)})
    groups.member("g", P0)
    assert [row[0] for row in history(groups)] == [1], "it was there, so no empty one is written"
    assert groups.store.offsets("g")[P0].offset == 5


def member_with(number: int, *protocols: str) -> GroupMember:
    return GroupMember(f"m{number}", None, "", "", 1, 1, tuple((name, b"") for name in protocols), awaiting_join=True)


@given(st.lists(st.permutations(["range", "roundrobin", "sticky", "cooperative-sticky"]), min_size=1, max_size=9))
def test_the_protocol_is_one_that_nobody_outvotes(ballots: list[list[str]]) -> None:
    group = ClassicGroupState(ClassicGroup("g"))
    for number, ballot in enumerate(ballots):
        group.put(member_with(number, *ballot), "consumer")
    first = [ballot[0] for ballot in ballots]
    assert first.count(group.select_protocol()) == max(first.count(name) for name in first)


def test_only_what_all_support_is_voted_for() -> None:
    group = ClassicGroupState(ClassicGroup("g"))
    for number, protocols in enumerate((("sticky", "range"), ("sticky", "range"), ("roundrobin", "range"))):
        group.put(member_with(number, *protocols), "consumer")
    assert group.select_protocol() == "range"


def real_records(golden: Path, group_id: str) -> list[CoordinatorRecord]:
    found = []
    for number in range(5):
        directory = golden / "clean" / "broker-1" / f"__consumer_offsets-{number}"
        for batch in PartitionReader(str(directory), TopicPartition("__consumer_offsets", number)).read(0):
            found += [decode(GROUP, record.key or b"", record.value) for record in batch.records()]
    return [record for record in found if record.key.get("group") == group_id]


def replay(groups: Coordinator, real: list[CoordinatorRecord]) -> str:
    """Do what led to ``real``; the member's id."""
    member_id, generation = "", -1
    for record in real:
        value, group_id = record.value, record.key["group"]
        if value is None:
            if record.name == "GroupMetadata":
                groups.offsets.delete_group(group_id)
        elif record.name == "OffsetCommit":
            groups.cluster.time = value["commitTimestamp"]
            offset = OffsetAndMetadata(value["offset"], value["leaderEpoch"], value["metadata"])
            partition = TopicPartition(record.key["topic"], record.key["partition"])
            groups.offsets.commit(group_id, {partition: offset}, member_id, generation)
        elif value["members"]:
            (member,) = value["members"]
            names = ("groupInstanceId", "clientId", "clientHost", "sessionTimeout", "rebalanceTimeout")
            protocols = ((value["protocol"], member["subscription"]),)
            request = JoinRequest("", *(member[name] for name in names), value["protocolType"], protocols)
            member_id, generation = groups.classic.join(group_id, request), value["generation"]
            groups.cluster.time = value["currentStateTimestamp"]
            groups.classic.complete_join(group_id)
            groups.classic.sync(group_id, generation, {member_id: member["assignment"]})
        else:
            groups.cluster.time = value["currentStateTimestamp"]
            if member_id:
                groups.classic.leave(group_id, member_id)
    return member_id


@pytest.mark.parametrize("group_id", ["audit", "gone", "active", "static", "billing", "console-consumer-26156"])
def test_the_same_requests_leave_the_same_bytes_as_real_brokers(
    groups: Coordinator, golden: Path, group_id: str
) -> None:
    real = real_records(golden, group_id)
    groups.cluster.time = real[0].value["currentStateTimestamp"] if real[0].value else NOW
    member_id = replay(groups, real)
    real_id = next(record.value["leader"] for record in real if record.value and record.value.get("leader"))
    image = groups.cluster.image()
    expected = []
    for record in real:
        if record.name == "OffsetCommit" and record.value is not None:
            record.value["topicId"] = image.topics[record.key["topic"]].id
        key, value = encode_record(GROUP, record)
        expected.append((key, value and value.replace(real_id.encode(), member_id.encode())))
    assert [encode_record(GROUP, record) for record in records(groups.cluster, group_id)] == expected
