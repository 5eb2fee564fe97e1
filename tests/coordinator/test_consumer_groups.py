"""Consumer groups: what a coordinator writes, answers and refuses. tests/reference compares random walks with Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.consumer_groups import ConsumerGroups, Heartbeat, HeartbeatAnswer
from kafkapy.coordinator.group import ClassicGroup, ClassicMember, GroupType, ModernGroup
from kafkapy.coordinator.group_metadata_records import group_metadata_record, offset_commit_record
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode
from kafkapy.log.files import Files
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs, CreatePartitions, CreateTopic, DeleteTopic
from kafkapy.metadata.image import GROUP as GROUP_CONFIG
from tests.coordinator.transactions import NOW, opened

GROUP_ID = "next-gen"
CLIENT = {"client_id": "rdkafka", "client_host": "/127.0.0.1"}
OFFSETS = TopicPartition(CONSUMER_OFFSETS, 0)
FIRST, SECOND = "vearjWVIRUWqQAIXLjPX9A", "zzzzzzzzQAIXLjPX9Avear"


def partitions(*numbers: int, topic: str = "orders") -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, number) for number in numbers)


class Coordinator:
    """The groups of a cluster, as one process after another has them."""

    def __init__(self, cluster: DirectoryCluster) -> None:
        self.cluster = cluster
        self.fail_over()

    def fail_over(self) -> None:
        self.store = GroupStore(self.cluster)
        self.groups = ConsumerGroups(self.cluster, self.store)

    def join(self, member_id: str, *topics: str, **more: Any) -> HeartbeatAnswer:
        names = topics or (None if "subscribed_topic_regex" in more else ("orders",))
        beat = Heartbeat(
            member_id, 0, owned=(), rebalance_timeout_ms=300_000, subscribed_topic_names=names, **CLIENT, **more
        )
        return self.groups.heartbeat(GROUP_ID, beat)

    def beat(self, answer: HeartbeatAnswer, **more: Any) -> HeartbeatAnswer:
        return self.groups.heartbeat(GROUP_ID, Heartbeat(answer.member_id, answer.member_epoch, **CLIENT, **more))

    def leave(self, answer: HeartbeatAnswer, epoch: int = -1, instance_id: str | None = None) -> HeartbeatAnswer:
        return self.groups.heartbeat(GROUP_ID, Heartbeat(answer.member_id, epoch, instance_id, **CLIENT))

    def group(self) -> ModernGroup:
        found = self.store.group(GROUP_ID)
        assert isinstance(found, ModernGroup)
        return found

    def batches(self) -> list[list[CoordinatorRecord]]:
        return [
            [decode(GROUP, record.key or b"", record.value) for record in batch.records()]
            for batch in self.cluster.read(OFFSETS, 0)
        ]


@pytest.fixture
def coordinator(tmp_path: Path) -> Iterator[Coordinator]:
    make_cluster(str(tmp_path / "cluster"), 3, ("rack-b", "rack-a", "rack-b"), files=Files(sync=False))
    cluster = opened(str(tmp_path / "cluster"))
    cluster.apply(CreateTopic("orders", assignments=((2, 1), (3, 2), (2, 1))), CreateTopic(CONSUMER_OFFSETS, 1, 1))
    yield Coordinator(cluster)
    cluster.close()


def refused(name: str) -> Any:
    return pytest.raises(KafkaError, check=lambda error: error.name == name)


def test_the_records_that_a_broker_wrote(coordinator: Coordinator, golden: Path) -> None:
    """One member joins, commits and leaves. Only the topic's id is another, and the hash and the times with it."""
    answer = coordinator.join(FIRST)
    assert answer == HeartbeatAnswer(FIRST, 2, partitions(0, 1, 2))
    coordinator.leave(answer)
    log = PartitionReader(str(golden / "clean" / "broker-1" / "__consumer_offsets-0"), OFFSETS)
    theirs = [decode(GROUP, record.key or b"", record.value) for batch in log.read(0) for record in batch.records()]
    wanted = [str(each) for each in theirs if each.key.get("groupId") == GROUP_ID]
    ours = [str(record) for batch in coordinator.batches() for record in batch]
    replaced = {
        coordinator.cluster.image().topics["orders"].id: "62WlZ-83SfGc8fQtyZw7WQ",
        str(coordinator.batches()[0][1].value["metadataHash"]): "6732098397807513070",
        str(NOW): "1794799033376",
    }
    for old, new in replaced.items():
        ours = [record.replace(old, new) for record in ours]
    assert ours == wanted
    assert [len(batch) for batch in coordinator.batches()] == [5, 4]


def test_two_members_share_and_the_first_gives_back(coordinator: Coordinator) -> None:
    first = coordinator.join(FIRST)
    second = coordinator.join(SECOND)
    assert second == HeartbeatAnswer(SECOND, 3, ())
    revoking = coordinator.beat(first)
    assert (revoking.member_epoch, revoking.assignment) == (2, partitions(0, 1))
    assert coordinator.beat(second).assignment is None
    assert coordinator.beat(first, owned=partitions(0, 1)).member_epoch == 3
    assert coordinator.beat(second) == HeartbeatAnswer(SECOND, 3, partitions(2))
    assert coordinator.beat(second).assignment is None


def test_the_next_process_goes_on(coordinator: Coordinator) -> None:
    first = coordinator.join(FIRST)
    coordinator.fail_over()
    assert coordinator.beat(first) == HeartbeatAnswer(FIRST, 2)
    written = len(coordinator.batches())
    coordinator.fail_over()
    second = coordinator.join(SECOND)
    assert coordinator.groups.evict(GROUP_ID, [SECOND]) == [FIRST]
    assert coordinator.beat(second) == HeartbeatAnswer(SECOND, 4, partitions(0, 1, 2))
    assert len(coordinator.batches()) == written + 3
    with refused("UnknownMemberIdException"):
        coordinator.beat(first)
    assert coordinator.groups.evict(GROUP_ID, [SECOND]) == []
    assert coordinator.groups.evict("none", []) == []


def test_members_that_leave_together_leave_one_epoch(coordinator: Coordinator) -> None:
    for member_id in (FIRST, SECOND, "third"):
        coordinator.join(member_id)
    assert coordinator.groups.evict(GROUP_ID, []) == sorted((FIRST, SECOND, "third"))
    assert [record.name for record in coordinator.batches()[-1]].count("ConsumerGroupMetadata") == 1
    group = coordinator.group()
    assert (group.epoch, group.members) == (5, {})


def test_a_topic_that_grows_or_goes_makes_a_rebalance(coordinator: Coordinator) -> None:
    first = coordinator.join(FIRST, "orders", "later")
    coordinator.cluster.apply(CreatePartitions("orders", 4), CreateTopic("later", 1, 1))
    grown = coordinator.beat(first)
    assert grown.member_epoch == 3
    assert grown.assignment == (*partitions(0, topic="later"), *partitions(0, 1, 2, 3))
    coordinator.cluster.apply(DeleteTopic("orders"))
    # the partitions of what is gone have to be given back as any others
    assert coordinator.beat(grown) == HeartbeatAnswer(FIRST, 3, partitions(0, topic="later"))
    assert coordinator.beat(grown, owned=partitions(0, topic="later")).member_epoch == 4
    coordinator.cluster.apply(CreateTopic("unrelated", 1, 1))
    before = len(coordinator.batches())
    assert coordinator.beat(grown._replace(member_epoch=4)).assignment is None
    assert len(coordinator.batches()) == before


def test_a_static_member_comes_back_under_a_new_id(coordinator: Coordinator) -> None:
    first = coordinator.join(FIRST, instance_id="i")
    with refused("UnreleasedInstanceIdException"):
        coordinator.join(SECOND, instance_id="i")
    coordinator.leave(first, -2, "i")
    assert coordinator.group().epoch == 2
    assert coordinator.join(SECOND, instance_id="i") == HeartbeatAnswer(SECOND, 2, partitions(0, 1, 2))
    assert list(coordinator.group().members) == [SECOND]
    with refused("FencedInstanceIdException"):
        coordinator.leave(first, -1, "i")
    with refused("UnknownMemberIdException"):
        coordinator.leave(first, -1, "other")


def test_an_expression_is_resolved_after_the_heartbeat(coordinator: Coordinator) -> None:
    first = coordinator.join(FIRST, subscribed_topic_regex="ord[[:alpha:]]+|p.*")
    assert first == HeartbeatAnswer(FIRST, 1, ())
    names = [[record.name.removeprefix("ConsumerGroup") for record in batch] for batch in coordinator.batches()]
    assert names == [["MemberMetadata", "CurrentMemberAssignment"], ["RegularExpression", "Metadata"]]
    first = coordinator.beat(first)
    assert first == HeartbeatAnswer(FIRST, 2, partitions(0, 1, 2))
    coordinator.cluster.apply(CreateTopic("payments", 1, 1))
    assert coordinator.beat(first).assignment is None, "not within ten seconds"
    coordinator.leave(first)
    assert [record.name for record in coordinator.batches()[-1]][-2:] == [
        "ConsumerGroupRegularExpression",
        "ConsumerGroupMetadata",
    ]
    assert coordinator.group().regular_expressions == {}
    with refused("InvalidRegularExpression"):
        coordinator.join(SECOND, subscribed_topic_regex="(?!a)")


def test_an_empty_classic_group_makes_way(coordinator: Coordinator) -> None:
    offset = OffsetAndMetadata(7, commit_timestamp=NOW)
    coordinator.store.append(GROUP_ID, [offset_commit_record(GROUP_ID, partitions(0)[0], offset)])
    coordinator.join(FIRST)
    assert coordinator.batches()[-1][0] == CoordinatorRecord("GroupMetadata", {"group": GROUP_ID})
    assert coordinator.group().type is GroupType.CONSUMER
    assert coordinator.store.offsets(GROUP_ID)[partitions(0)[0]].offset == 7


def test_a_classic_group_with_members_does_not(coordinator: Coordinator) -> None:
    member = ClassicMember("c", None, "c", "/", 1, 1, b"", b"")
    group = ClassicGroup(GROUP_ID, "consumer", 1, "range", "c", NOW, {"c": member})
    coordinator.store.append(GROUP_ID, [group_metadata_record(group)])
    with refused("GroupIdNotFoundException"):
        coordinator.join(FIRST)
    with refused("GroupIdNotFoundException"):
        coordinator.leave(HeartbeatAnswer(FIRST, 1))
    assert coordinator.groups.evict(GROUP_ID, []) == []


def test_the_assignor_that_most_ask_for(coordinator: Coordinator) -> None:
    coordinator.cluster.apply(CreateTopic("even", 3, 1))
    coordinator.join(FIRST, "orders", "even", server_assignor="range")
    second = coordinator.join(SECOND, "orders", "even")
    shares = {
        member_id: {topic["topicId"]: topic["partitions"] for topic in member.target["topicPartitions"]}
        for member_id, member in coordinator.group().members.items()
        if member.target is not None
    }
    assert {tuple(found) for found in shares[FIRST].values()} == {(0, 1)}, "uniform would give 0 to 2 and 0"
    assert {tuple(found) for found in shares[SECOND].values()} == {(2,)}
    assert second.assignment == ()


def test_an_assignment_interval_is_kept_where_it_is_set(coordinator: Coordinator) -> None:
    interval = {"consumer.assignment.interval.ms": "1000"}
    coordinator.cluster.apply(AlterConfigs(GROUP_CONFIG, GROUP_ID, interval))
    coordinator.join(FIRST)
    second = coordinator.join(SECOND)
    assert second == HeartbeatAnswer(SECOND, 2, ())
    group = coordinator.group()
    assert (group.epoch, group.assignment_epoch) == (3, 2)


def test_epochs(coordinator: Coordinator) -> None:
    first = coordinator.join(FIRST)
    with refused("FencedMemberEpochException"):
        coordinator.beat(first._replace(member_epoch=3))
    with refused("FencedMemberEpochException"):
        coordinator.beat(first._replace(member_epoch=1))
    coordinator.join(SECOND)
    coordinator.beat(first)
    moved = coordinator.beat(first, owned=partitions(0, 1))
    assert moved.member_epoch == 3
    # the answer was lost, and the member asks again
    assert coordinator.beat(first, owned=partitions(0, 1)).member_epoch == 3
    with refused("FencedMemberEpochException"):
        coordinator.beat(first, owned=partitions(2))
    with refused("FencedMemberEpochException"):
        coordinator.beat(first)


def test_a_member_without_an_id_is_given_one(coordinator: Coordinator) -> None:
    answer = coordinator.join("")
    assert len(answer.member_id) == 22
    assert list(coordinator.group().members) == [answer.member_id]


@pytest.mark.parametrize(
    ("beat", "message"),
    [
        (Heartbeat("", 1), "MemberId can't be empty."),
        (Heartbeat("m", 1, " "), "InstanceId can't be empty."),
        (Heartbeat("m", 1, rack_id=""), "RackId can't be empty."),
        (Heartbeat("m", 0, owned=()), "RebalanceTimeoutMs must be provided in first request."),
        (Heartbeat("m", 0, rebalance_timeout_ms=1), "TopicPartitions must be empty when (re-)joining."),
        (
            Heartbeat("m", 0, rebalance_timeout_ms=1, owned=()),
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (Heartbeat("m", -2), "InstanceId can't be null."),
        (Heartbeat("m", -3), "MemberEpoch is invalid."),
        (
            Heartbeat("m", 1, server_assignor="sticky"),
            "ServerAssignor sticky is not supported. Supported assignors: uniform, range.",
        ),
        (Heartbeat("m", 1), "Consumer group next-gen not found."),
        (Heartbeat("m", -1), "Group next-gen not found."),
    ],
)
def test_what_is_refused(coordinator: Coordinator, beat: Heartbeat, message: str) -> None:
    with pytest.raises(KafkaError) as raised:
        coordinator.groups.heartbeat(GROUP_ID, beat)
    assert str(raised.value) == message
    assert coordinator.batches() == []
