"""Tables of groups, to the byte. Widths follow the widest cell, as Java counts it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.group_lag import LagTotal, LogRange, MemberOffsets, OffsetState
from kafkapy.backends.offset_reset import Reset
from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_description import GroupDescription, GroupListing, MemberDescription
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.group_change_lines import deletion_lines, offset_deletion_lines, reset_lines
from kafkapy.output.group_lines import list_lines, member_lines, note, offset_lines, state_lines, total_lines
from kafkapy.output.printf_table import java_length, pad

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
WIDE = "\U0001f600" * 8


def group(
    *members: MemberDescription, state: GroupState = GroupState.STABLE, epoch: int | None = None
) -> GroupDescription:
    return GroupDescription("g", GroupType.CLASSIC, state, "consumer", "range", 1, members, epoch, epoch)


def test_offsets() -> None:
    member = MemberDescription("app-1", None, "app", "/10.0.0.1", (T0,))
    states = [
        OffsetState(T0, OffsetAndMetadata(5, 3), LogRange(0, 9), 4),
        OffsetState(T1, None, LogRange(None, None), None),
    ]
    offsets = [MemberOffsets(member, states[:1]), MemberOffsets(None, states[1:])]
    assert list(offset_lines("g", offsets, False)) == [
        "",
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     "
        "HOST            CLIENT-ID",
        "g               t               0          5               9               4               app-1           "
        "/10.0.0.1       app",
        "g               t               1          -               -               -               -               "
        "-               -",
    ]
    assert [line[43:75] for line in offset_lines("g", offsets, True)] == [
        "",
        "LEADER-EPOCH    CURRENT-OFFSET  ",
        "3               5               ",
        "-               -               ",
    ]
    assert list(offset_lines("g", [], False)) == []


@given(st.text(st.characters(codec="utf-8")), st.text(), st.text("ab._-", min_size=1))
def test_any_name_fits_its_column(group_id: str, member_id: str, topic: str) -> None:
    """The columns stand at the same place in every row, whatever is in the names."""
    member = MemberDescription(member_id, None, "client", "host", ())
    state = OffsetState(TopicPartition(topic, 0), OffsetAndMetadata(1), LogRange(0, 3), 2)
    _, header, row = offset_lines(group_id, [MemberOffsets(member, [state])], False)
    start = java_length(pad(group_id, max(15, java_length(group_id)))) + 1
    assert header.index("TOPIC") == start
    assert row.startswith(
        f"{pad(group_id, 15)} {topic:<15} 0          1               3               2               "
    )
    assert java_length(header.removesuffix("CLIENT-ID")) == java_length(row.removesuffix("client"))


def test_java_counts_utf_16_units() -> None:
    assert pad(WIDE, 17) == WIDE + " "
    listing = GroupListing(WIDE, GroupType.CLASSIC, "", GroupState.EMPTY)
    assert list(list_lines([listing], False, True)) == [
        f"{'GROUP':<26} STATE               ",
        f"{WIDE}{'':<10} {'Empty':<20}",
    ]


def test_lists() -> None:
    listing = GroupListing("g", GroupType.CONSUMER, "consumer", GroupState.STABLE)
    assert list(list_lines([listing], False, False)) == ["g"]
    assert list(list_lines([], True, True)) == [f"{'GROUP':<25} {'TYPE':<20} {'STATE':<20}"]
    assert list(list_lines([listing], True, True))[1] == f"{'g':<25} {'Consumer':<20} {'Stable':<20}"


def test_members() -> None:
    plain = MemberDescription("m", None, "c", "h", (T1, T0, TopicPartition("s", 10), TopicPartition("s", 9)))
    assert list(member_lines(group(plain), False)) == [
        "",
        f"{'GROUP':<15} {'CONSUMER-ID':<15} {'HOST':<15} {'CLIENT-ID':<15} {'#PARTITIONS':<15} ",
        f"{'g':<15} {'m':<15} {'h':<15} {'c':<15} {'4':<15} ",
    ]
    (_, _, row) = member_lines(group(plain), True)
    assert row.endswith(f" {'4':<15} {'-':<15} {'s:9,10;t:0,1':<20} {'-':<15} {'-':<20}")
    assert len(list(member_lines(group(), True))) == 2, "the header stands alone"


def test_members_with_instances_and_of_both_protocols() -> None:
    old = MemberDescription("old", "box", "c", "h", (T0,), (T0, T1), 4, False)
    new = MemberDescription("new", None, "c", "h", (T1,), (), 5, True)
    _, header, *rows = member_lines(group(old, new, epoch=6), True)
    assert header[32:50] == "GROUP-INSTANCE-ID "
    assert [row[32:50] for row in rows] == [f"{'box':<18}", f"{'':<18}"]
    assert [line.split()[-1] for line in (header, *rows)] == ["UPGRADED", "false", "true"]
    assert rows[0].split()[-5:-1] == ["4", "t:0", "6", "t:0,1"]
    assert rows[1].split()[-5:-1] == ["5", "t:1", "6", "-"]


def test_states() -> None:
    described = group(state=GroupState.EMPTY, epoch=3)._replace(partition_assignor="")
    assert list(state_lines(described, "localhost:9092", False))[2] == (
        f"{'g':<15} {'localhost:9092  (1)':<25} {'-':<20} {'Empty':<20} 0"
    )
    assert list(state_lines(described._replace(coordinator=-1), None, True)) == [
        "",
        f"{'GROUP':<15} {'COORDINATOR (ID)':<25} {'ASSIGNMENT-STRATEGY':<20} {'STATE':<20} {'GROUP-EPOCH':<15} "
        f"{'TARGET-ASSIGNMENT-EPOCH':<25} #MEMBERS",
        f"{'g':<15} {'-':<25} {'-':<20} {'Empty':<20} {'3':<15} {'3':<25} 0",
    ]
    wide = described._replace(partition_assignor="an-assignor-with-a-long-name")
    header, row = list(state_lines(wide, None, False))[1:]
    assert header.index("STATE", 50) < row.index("Empty"), "this column does not grow in Kafka"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (GroupState.EMPTY, "Consumer group 'g' has no active members."),
        (GroupState.RECONCILING, "Warning: Consumer group 'g' is rebalancing."),
        (GroupState.STABLE, None),
    ],
)
def test_notes(state: GroupState, expected: str | None) -> None:
    assert note(group(state=state)) == expected


def test_totals() -> None:
    assert list(total_lines("g", [LagTotal("t", 2, 1, 7), LagTotal("u", 1, 1, None), LagTotal(None, 3, 2, 7)]))[1:] == [
        "GROUP           TOPIC           PARTITIONS UNKNOWN-LAG     LAG",
        "g               t               2          1               7",
        "g               u               1          1               -",
        "g               *               3          2               7",
    ]
    assert list(total_lines("g", [])) == []


def test_resets() -> None:
    reset = Reset(T1, None, OffsetAndMetadata(3), LogRange(0, 9))
    assert list(reset_lines({"g": [reset], "a-group-without-any": []})) == [
        "",
        "GROUP               TOPIC           PARTITION  NEW-OFFSET",
        "g                   t               1          3",
    ]
    assert list(reset_lines({})) == [""]


def test_deletions() -> None:
    refused = KafkaError("GroupNotEmptyException", "The group is not empty.")
    assert list(deletion_lines({"a": None, "b": None})) == [
        "Deletion of requested consumer groups ('a', 'b') was successful."
    ]
    assert list(deletion_lines({"a": refused, "b": None})) == [
        "",
        "Error: Deletion of some consumer groups failed:",
        "* Group 'a' could not be deleted due to: org.apache.kafka.common.errors.GroupNotEmptyException: "
        "The group is not empty.",
        "",
        "These consumer groups were deleted successfully: 'b'",
    ]


def test_deleted_offsets() -> None:
    unknown = KafkaError("UnknownTopicOrPartitionException", "Not here.")
    ten = TopicPartition("t", 10)
    lines = list(offset_deletion_lines("g", {TopicPartition("u", -1): unknown, T1: None, ten: None}, None))
    assert lines[:3] == [
        "Request succeeded for deleting offsets from group g.",
        "",
        f"{'TOPIC':<15} {'PARTITION':<10} {'STATUS':<15}",
    ]
    assert [line.split()[:3] for line in lines[3:]] == [
        ["t", "1", "Successful"],
        ["t", "10", "Successful"],
        ["u", "-", "Error:"],
    ]
    assert list(offset_deletion_lines("g", {}, unknown))[1].endswith(
        "partition-level error, see the follow-up details."
    )
    missing = KafkaError("GroupIdNotFoundException", "The group id does not exist.")
    assert list(offset_deletion_lines("g", {}, missing))[1] == "Error: The group id does not exist."
