"""Plans of resets: where each scenario leads, and what is refused in Kafka's words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.offset_reset import OffsetReset, Scope
from kafkapy.backends.offset_targets import Target, named_partitions, parse_topic_partitions
from kafkapy.backends.selection import Selection, open_cluster
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError, UsageError
from kafkapy.log.topic_partition import TopicPartition
from tests.group_cluster import LONG, LONG_0, O0, O1, O2, ORDERS, T0, TRIMMED, TRIMMED_0, made

EVERYTHING = Scope(all_topics=True)
ALL_ORDERS = Scope((ORDERS,))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return open_cluster(Selection(made(tmp_path_factory.mktemp("groups") / "cluster")))


def planned(cluster: Cluster, group: str, scope: Scope, target: Target) -> dict[TopicPartition, int]:
    return {reset.partition: reset.new.offset for reset in OffsetReset(cluster, scope, target).plans([group])[group]}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Target("to-earliest"), {O0: 0, O1: 0, TRIMMED_0: 6}),
        (Target("to-latest"), {O0: 10, O1: 5, TRIMMED_0: 10}),
        (Target("to-current"), {O0: 4, O1: 5, TRIMMED_0: 2}),
        (Target("to-offset", 7), {O0: 7, O1: 5, TRIMMED_0: 7}),
        (Target("to-offset", -7), {O0: 0, O1: 0, TRIMMED_0: 6}),
        (Target("shift-by", 1), {O0: 5, O1: 5, TRIMMED_0: 6}),
        (Target("shift-by", -5), {O0: 0, O1: 0, TRIMMED_0: 6}),
        (Target("to-timestamp", T0 + 3001), {O0: 4, O1: 4, TRIMMED_0: 6}),
        (Target("to-timestamp", T0 + 5000), {O0: 5, O1: 5, TRIMMED_0: 6}),
        (Target("from-file", offsets={"simple": {O0: 99, LONG_0: 1}, "other": {}}), {O0: 10, LONG_0: 1}),
        (Target("to-group", group="readers"), {O0: 7}),
        (Target("to-group", group="ahead"), {O2: 7}),
    ],
)
def test_scenarios(cluster: Cluster, target: Target, expected: dict[TopicPartition, int]) -> None:
    assert planned(cluster, "simple", EVERYTHING, target) == expected


def test_without_a_commit_current_is_the_end(cluster: Cluster) -> None:
    assert planned(cluster, "readers", ALL_ORDERS, Target("to-current")) == {O0: 7, O1: 5, O2: 0}
    assert planned(cluster, "never seen", ALL_ORDERS, Target("to-current")) == {O0: 10, O1: 5, O2: 0}


def test_a_copy_has_all_that_the_other_group_committed(cluster: Cluster) -> None:
    (copied,) = OffsetReset(cluster, Scope(), Target("to-group", group="readers")).plans(["never seen"])["never seen"]
    assert copied.new._replace(commit_timestamp=0, topic_id="") == OffsetAndMetadata(7, 0, "here", 0, topic_id="")
    assert planned(cluster, "x", Scope((f"{ORDERS}:1", TRIMMED)), Target("to-group", group="simple")) == {
        O1: 5,
        TRIMMED_0: 2,
    }
    with pytest.raises(KafkaError, match=r"Group nobody not found\."):
        planned(cluster, "x", EVERYTHING, Target("to-group", group="nobody"))


def test_scopes(cluster: Cluster) -> None:
    scope = Scope((f"{ORDERS}:2,0", LONG, f"{ORDERS}:0"))
    assert planned(cluster, "readers", scope, Target("to-latest")) == {O0: 10, O2: 0, LONG_0: 2}
    assert planned(cluster, "never seen", EVERYTHING, Target("to-latest")) == {}
    assert named_partitions(cluster.image(), ("nope", ORDERS, "nope:1")) == (
        [TopicPartition("nope", 1), O0, O1, O2],
        ["nope"],
    )


@pytest.mark.parametrize("group", ["active", "modern"])
def test_groups_with_members_are_left_alone(cluster: Cluster, group: str) -> None:
    reset = OffsetReset(cluster, EVERYTHING, Target("to-latest"))
    assert reset.plans([group])[group] == []
    (error,) = reset.errors
    assert error == (
        f"Assignments can only be reset if the group '{group}' is inactive, but the current state is Stable."
    )


def test_a_file_without_the_group(cluster: Cluster) -> None:
    reset = OffsetReset(cluster, Scope(), Target("from-file", offsets={"other": {O0: 1}}))
    assert reset.plans(["simple"])["simple"] == []
    assert reset.errors == ["No reset plan for group simple found"]


def test_what_is_past_the_last_record_is_told(cluster: Cluster) -> None:
    reset = OffsetReset(cluster, Scope((f"{ORDERS}:1",)), Target("to-timestamp", T0 + 4001))
    assert [each.new.offset for each in reset.plans(["simple"])["simple"]] == [5]
    assert reset.warnings == [f"Partition 1 from topic {ORDERS} is empty. Falling back to latest known offset."]


@pytest.mark.parametrize(
    ("scope", "target", "message"),
    [
        (Scope(("nope",)), Target("to-latest"), r"^This server does not host this topic-partition\.$"),
        (Scope(("nope:0",)), Target("to-latest"), r"ExecutionException: .*: This server does not host"),
        (Scope((f"{ORDERS}:0,7,8",)), Target("to-latest"), f'The partitions "{ORDERS}-7,{ORDERS}-8" do not exist'),
        (Scope(), Target("from-file", offsets={"simple": {TopicPartition(ORDERS, 9): 1}}), "do not exist"),
    ],
)
def test_partitions_must_be_there(cluster: Cluster, scope: Scope, target: Target, message: str) -> None:
    with pytest.raises(KafkaError, match=message):
        planned(cluster, "simple", scope, target)


def test_nothing_to_shift(cluster: Cluster) -> None:
    with pytest.raises(UsageError, match=f"Cannot shift offset for partition {O1} since there is no current"):
        planned(cluster, "readers", ALL_ORDERS, Target("shift-by", 1))


def test_offsets_that_were_moved_are_told(cluster: Cluster) -> None:
    reset = OffsetReset(cluster, EVERYTHING, Target("to-offset", 7))
    reset.plans(["simple"])["simple"]
    assert reset.notes == [f"offset 7 of {O1} is past the log's end, 5: 5 is taken"]
    back = OffsetReset(cluster, EVERYTHING, Target("shift-by", -1))
    back.plans(["simple"])["simple"]
    assert back.notes == [f"offset 1 of {TRIMMED_0} is before the log's start, 6: 6 is taken"]
    file = Target("from-file", offsets={"simple": {O0: 99, O1: 5}}, places={O0: "f, line 1", O1: "f, line 2"})
    moved = OffsetReset(cluster, Scope(), file)
    moved.plans(["simple"])["simple"]
    assert moved.notes == [f"f, line 1: offset 99 of {O0} is past the log's end, 10: 10 is taken"]


def test_topics_that_are_not_there_are_named(cluster: Cluster) -> None:
    nope = TopicPartition("nope", 0)
    for scope, target, note in (
        (Scope((ORDERS, "nope")), Target("to-latest"), "there is no topic 'nope'"),
        (Scope(("nope:0,1",)), Target("to-latest"), "there is no topic 'nope'"),
        (
            Scope(),
            Target("from-file", offsets={"simple": {O0: 1, nope: 1}}, places={nope: "f, line 2"}),
            "f, line 2: there is no topic 'nope'",
        ),
    ):
        reset = OffsetReset(cluster, scope, target)
        with pytest.raises(KafkaError, match="does not host"):
            reset.plans(["simple"])["simple"]
        assert reset.notes == [note]


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["to-offset", "shift-by"]))
def test_new_offsets_lie_in_the_log(cluster: Cluster, number: int, scenario: str) -> None:
    for reset in OffsetReset(cluster, EVERYTHING, Target(scenario, number)).plans(["simple"])["simple"]:
        assert reset.log.start is not None
        assert reset.log.end is not None
        assert reset.log.start <= reset.new.offset <= reset.log.end


@given(st.text("abc.-_", min_size=1), st.lists(st.integers(0, 10**6), min_size=1, max_size=5))
def test_topics_with_partitions(topic: str, numbers: list[int]) -> None:
    text = f"{topic}:{','.join(map(str, numbers))}"
    assert parse_topic_partitions(text) == [TopicPartition(topic, number) for number in numbers]
    assert parse_topic_partitions(text + ",") == parse_topic_partitions(text), "Java's split"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t:", "Invalid topic arg 't:', expected topic name and partitions"),
        ("t:1:2", "Invalid topic arg 't:1:2', expected topic name and partitions"),
        ("t:1,x", "Invalid partition 'x' specified in topic arg 't:1,x''"),
        ("t:,1", "Invalid partition '' specified in topic arg 't:,1''"),
        ("t:9999999999", "Invalid partition '9999999999' specified in topic arg 't:9999999999''"),
    ],
)
def test_bad_topics(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_topic_partitions(text)
    assert str(raised.value) == message
