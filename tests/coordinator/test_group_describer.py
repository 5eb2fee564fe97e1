"""States, assignors and members of groups as their records tell them."""

from __future__ import annotations

from typing import Any

import pytest

from kafkapy.coordinator.consumer_protocol import encode_assignment
from kafkapy.coordinator.group import ClassicGroup, ClassicMember, Group, GroupState, GroupType, ModernGroup
from kafkapy.coordinator.group_describer import describe, listing, state_of
from kafkapy.coordinator.group_description import GroupListing
from kafkapy.coordinator.group_table import GroupTable
from kafkapy.errors import SchemaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode, encode_record
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import EMPTY
from kafkapy.metadata.topics_image import TopicImage

KEPT, GONE = random_uuid(), random_uuid()
IMAGE = EMPTY._replace(topics={"kept": TopicImage("kept", KEPT, {})})
K0, K1, K2 = (TopicPartition("kept", number) for number in range(3))

MEMBER = {"clientId": "client", "clientHost": "/host"}
CONSUMER: dict[str, Any] = {
    **MEMBER,
    "instanceId": "i",
    "rackId": None,
    "subscribedTopicNames": ["kept"],
    "serverAssignor": None,
    "classicMemberMetadata": None,  # left out, it is one with all defaults
}
STREAMS: dict[str, Any] = {
    **MEMBER,
    "instanceId": None,
    "rackId": None,
    "topologyEpoch": 0,
    "processId": "p",
    "clientTags": [],
}
TOPOLOGY = {
    "epoch": 3,
    "subtopologies": [
        {
            "subtopologyId": "0",
            "sourceTopics": ["kept"],
            "sourceTopicRegex": [],
            "stateChangelogTopics": [],
            "repartitionSinkTopics": [],
            "repartitionSourceTopics": [
                {"name": "again", "partitions": 1, "replicationFactor": 1, "topicConfigs": []},
            ],
            "copartitionGroups": [],
        }
    ],
}


def record(name: str, value: dict[str, Any] | None, member: str | None = None) -> CoordinatorRecord:
    """A record that went through its bytes, so that it has all fields."""
    key = {"groupId": "g"} if member is None else {"groupId": "g", "memberId": member}
    written = CoordinatorRecord(name, key, None if value is None else 0, value)
    return decode(GROUP, *encode_record(GROUP, written))


def replayed(*records: CoordinatorRecord) -> Group | None:
    table = GroupTable()
    for each in records:
        table.replay(each)
    return table.get("g")


def group(*records: CoordinatorRecord) -> ModernGroup:
    found = replayed(*records)
    assert isinstance(found, ModernGroup)
    return found


def current(member: str, epoch: int, state: int = 0, held: tuple[int, ...] = (), revoked: tuple[int, ...] = ()) -> Any:
    value = {
        "memberEpoch": epoch, "previousMemberEpoch": epoch - 1, "state": state,
        "assignedPartitions": [{"topicId": KEPT, "partitions": list(held)}, {"topicId": GONE, "partitions": [5]}],
        "partitionsPendingRevocation": [{"topicId": KEPT, "partitions": list(revoked)}],
    }  # fmt: skip
    return record("ConsumerGroupCurrentMemberAssignment", value, member)


def consumer(epoch: int, target_epoch: int, *members: CoordinatorRecord) -> ModernGroup:
    return group(
        record("ConsumerGroupMetadata", {"epoch": epoch}),
        record("ConsumerGroupTargetAssignmentMetadata", {"assignmentEpoch": target_epoch}),
        *members,
    )


M1 = record("ConsumerGroupMemberMetadata", CONSUMER, "m1")
M2 = record("ConsumerGroupMemberMetadata", CONSUMER, "m2")


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (consumer(3, 3), GroupState.EMPTY),
        (consumer(4, 3), GroupState.EMPTY),
        (consumer(4, 3, M1, current("m1", 3)), GroupState.ASSIGNING),
        (consumer(3, 3, M1, current("m1", 3)), GroupState.STABLE),
        (consumer(3, 3, M1, current("m1", 3), M2, current("m2", 2)), GroupState.RECONCILING),
        (consumer(3, 3, M1, current("m1", 3, state=1)), GroupState.RECONCILING),
        (consumer(3, 3, M1), GroupState.RECONCILING),
    ],
)
def test_states_of_consumer_groups(found: ModernGroup, state: GroupState) -> None:
    assert state_of(found) is state
    assert listing(found) == GroupListing("g", GroupType.CONSUMER, "consumer", state)


@pytest.mark.parametrize(
    ("validated", "target_epoch", "member_state", "state"),
    [
        (2, 3, 1, GroupState.NOT_READY),
        (3, 2, 1, GroupState.ASSIGNING),
        (3, 3, 2, GroupState.RECONCILING),
        (3, 3, 1, GroupState.STABLE),
    ],
)
def test_states_of_streams_groups(validated: int, target_epoch: int, member_state: int, state: GroupState) -> None:
    tasks = [{"subtopologyId": "0", "partitions": [1, 0]}, {"subtopologyId": "9", "partitions": [4]}]
    kinds = ("activeTasks", "standbyTasks", "warmupTasks")
    empty: dict[str, Any] = {name: [] for kind in kinds for name in (kind, f"{kind}PendingRevocation")}
    held = empty | {"memberEpoch": 3, "previousMemberEpoch": 3, "state": member_state, "activeTasks": tasks}
    metadata = {"epoch": 3, "metadataHash": 0, "validatedTopologyEpoch": validated}
    found = group(
        record("StreamsGroupMetadata", metadata),
        record("StreamsGroupTopology", TOPOLOGY),
        record("StreamsGroupMemberMetadata", STREAMS, "m1"),
        record("StreamsGroupTargetAssignmentMetadata", {"assignmentEpoch": target_epoch}),
        record("StreamsGroupCurrentMemberAssignment", held, "m1"),
    )
    assert state_of(found) is state
    described = describe(found, IMAGE, 1)
    assert (described.protocol, described.partition_assignor, described.group_epoch) == ("streams", "", 3)
    again = [TopicPartition("again", number) for number in (0, 1)]
    assert described.members[0].assignment == (*again, K0, K1)


def test_share_groups_are_empty_or_stable() -> None:
    metadata = record("ShareGroupMetadata", {"epoch": 4, "metadataHash": 0})
    assert state_of(group(metadata)) is GroupState.EMPTY
    member = record("ShareGroupMemberMetadata", {**MEMBER, "rackId": None, "subscribedTopicNames": ["kept"]}, "m1")
    held = {"memberEpoch": 2, "previousMemberEpoch": 1, "state": 0, "assignedPartitions": [
        {"topicId": KEPT, "partitions": [1]}, {"topicId": GONE, "partitions": [0]},
    ]}  # fmt: skip
    found = group(metadata, member, record("ShareGroupCurrentMemberAssignment", held, "m1"))
    described = describe(found, IMAGE, 2)
    assert (described.state, described.protocol, described.partition_assignor) == ("Stable", "share", "simple")
    assert (described.members[0].assignment, described.members[0].is_upgraded) == ((K1,), None)


def test_a_member_holds_what_it_still_has_to_give_up() -> None:
    target = record(
        "ConsumerGroupTargetAssignmentMember",
        {"topicPartitions": [{"topicId": KEPT, "partitions": [2]}, {"topicId": GONE, "partitions": [0]}]},
        "m1",
    )
    classic = {"sessionTimeoutMs": 5, "supportedProtocols": []}
    other = record("ConsumerGroupMemberMetadata", {**CONSUMER, "classicMemberMetadata": classic}, "m0")
    found = consumer(3, 3, M1, target, current("m1", 2, 1, held=(2,), revoked=(0,)), other)
    described = describe(found, IMAGE, 5)
    first, second = described.members
    assert (described.coordinator, described.group_epoch, described.target_assignment_epoch) == (5, 3, 3)
    assert first == ("m0", "i", "client", "/host", (), (), 0, False)
    assert second == ("m1", "i", "client", "/host", (K0, K2), (K2,), 2, True)


def test_the_assignor_is_the_one_that_most_members_want() -> None:
    wanted = ("range", "uniform", "range", None)
    members = [
        record("ConsumerGroupMemberMetadata", {**CONSUMER, "serverAssignor": name}, f"m{number}")
        for number, name in enumerate(wanted)
    ]
    assert describe(consumer(1, 1, *members), IMAGE, 1).partition_assignor == "range"
    assert describe(consumer(1, 1, M1), IMAGE, 1).partition_assignor == "uniform"


def test_classic_groups() -> None:
    member = ClassicMember("m", None, "client", "/host", 1, 1, b"", encode_assignment([K1, K0]))
    stable = ClassicGroup("g", "consumer", 3, "range", "m", 5, {"m": member})
    described = describe(stable, IMAGE, 1)
    assert (described.state, described.partition_assignor, described.group_epoch) == ("Stable", "range", None)
    assert described.members[0] == ("m", None, "client", "/host", (K0, K1), None, None, None)
    connect = stable._replace(protocol_type="connect", members={"m": member._replace(assignment=b"?")})
    assert describe(connect, IMAGE, 1).members[0].assignment == ()
    emptied = describe(ClassicGroup("g", "consumer", 3, "range"), IMAGE, 1)
    assert (emptied.state, emptied.partition_assignor) == ("Empty", "")
    assert listing(ClassicGroup("g")).is_simple
    assert not listing(stable).is_simple


def test_an_assignment_that_cannot_be_read_is_told() -> None:
    problems: list[str] = []
    member = ClassicMember("m", None, "client", "/host", 1, 1, b"", b"\0")
    described = describe(ClassicGroup("g", "consumer", members={"m": member}), IMAGE, 1, problems)
    assert described.members[0].assignment == ()
    assert problems == [
        "group g: the assignment of member m: Buffer underflow while parsing consumer protocol's header"
    ]


def test_a_member_goes_with_its_last_record() -> None:
    gone = [
        record(f"ConsumerGroup{name}", None, "m1")
        for name in ("CurrentMemberAssignment", "TargetAssignmentMember", "MemberMetadata")
    ]
    left = consumer(3, 3, M1, current("m1", 3), *gone)
    assert left.members == {}
    assert replayed(M1, *gone, record("ConsumerGroupMetadata", None)) is None
    assert replayed(*gone) is None


def test_parts_of_a_group_are_kept() -> None:
    expression = CoordinatorRecord(
        "ConsumerGroupRegularExpression",
        {"groupId": "g", "regularExpression": "k.*"},
        0,
        {"topics": ["kept"], "version": 1, "timestamp": 2},
    )
    found = consumer(3, 2, expression)
    assert (found.epoch, found.assignment_epoch) == (3, 2)
    assert found.regular_expressions["k.*"]["topics"] == ["kept"]
    tombstone = CoordinatorRecord(expression.name, expression.key)
    assert consumer(3, 2, expression, tombstone).regular_expressions == {}
    topics: dict[str, Any] = {"initializingTopics": [], "initializedTopics": [], "deletingTopics": []}
    shared = group(record("ShareGroupStatePartitionMetadata", topics))
    assert (shared.type, shared.state_partitions) == (GroupType.SHARE, topics)


def test_only_a_group_without_members_changes_its_type() -> None:
    table = GroupTable()
    table.add_simple("g")
    table.replay(record("StreamsGroupMetadata", {"epoch": 1, "metadataHash": 0}))
    with pytest.raises(SchemaError, match="Group g is not a consumer group"):
        table.replay(record("ConsumerGroupMetadata", {"epoch": 1}))
    table.add_simple("g")
    found = table.get("g")
    assert found is not None
    assert found.type is GroupType.STREAMS
    simple = GroupTable()
    simple.add_simple("g")
    with pytest.raises(SchemaError, match="Group g is not a share group"):
        simple.replay(record("ShareGroupMetadata", {"epoch": 1, "metadataHash": 0}))
