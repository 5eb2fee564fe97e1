"""Topics from a file: what would change, what cannot, and that nothing else does."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.topics_file import Step, WantedTopic, make_plan, parse_topics
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.log.files import Files
from kafkapy.metadata.changes import AlterConfigs, CreatePartitions, CreateTopic
from kafkapy.metadata.image import TOPIC
from tests.backends.contract import opened


@pytest.fixture
def cluster(tmp_path: Path) -> DirectoryCluster:
    """One topic of three partitions on two brokers each, with a config."""
    make_cluster(str(tmp_path / "c"), 3, files=Files(sync=False))
    made = opened(tmp_path / "c", files=Files(sync=False))
    made.apply(CreateTopic("orders", assignments=((1, 2), (2, 3), (3, 1)), configs={"retention.ms": "1000"}))
    return made


def test_both_forms() -> None:
    by_name = b"a: {partitions: 3, replication_factor: 2, configs: {x: 1}, prune_configs: true}\nb:\n"
    listed = b"[{name: a, partitions: 3, replication_factor: 2, configs: {x: 1}, prune_configs: true}, {name: b}]"
    expected = [WantedTopic("a", 3, 2, (), {"x": "1"}, True), WantedTopic("b")]
    assert parse_topics(by_name, "f") == parse_topics(listed, "f") == expected
    assert parse_topics(b"a: {assignment: [[1, 2], [2, 3]]}", "f")[0].assignment == ((1, 2), (2, 3))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1000", "1000"), ("true", "true"), ("0.5", "0.5"), ("'007'", "007"), ("[compact, delete]", "compact,delete"),
     ("''", "")],
)  # fmt: skip
def test_config_values_are_as_kafka_reads_them(text: str, value: str) -> None:
    assert parse_topics(f"t: {{configs: {{c: {text}}}}}".encode(), "f")[0].configs == {"c": value}


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("a: [", "not YAML"),
        ("just text", "expected topics by name, or a list"),
        ("[{partitions: 1}]", "expected topics by name, or a list"),
        ("7: {}", "topic 7: a name must be text"),
        ("a: 7", "topic a: expected fields with values"),
        ("a: {partition: 1}", "topic a: unknown field partition; the fields are partitions, replication_factor"),
        ("a: {partitions: 0}", "topic a: partitions must be a whole number of at least 1, not 0"),
        ("a: {partitions: '3'}", "topic a: partitions must be a whole number of at least 1, not 3"),
        ("a: {replication_factor: true}", "replication_factor must be a whole number of at least 1"),
        ("a: {assignment: [1, 2]}", "assignment must be a list of broker ids"),
        ("a: {assignment: []}", "assignment must be a list of broker ids"),
        ("a: {assignment: [[1]], partitions: 1}", "assignment already says"),
        ("a: {configs: [x]}", "configs must be names with values"),
        ("a: {configs: {x: }}", "config x: its value is not one that a config can have"),
        ("a: {prune_configs: 1}", "prune_configs must be true or false"),
        ("[{name: a}, {name: a}]", "topic a is listed twice"),
    ],
)
def test_what_is_no_topics_file(data: str, error: str) -> None:
    with pytest.raises(FormatError, match=error) as refused:
        parse_topics(data.encode(), "dir/topics.yaml")
    assert str(refused.value).startswith("dir/topics.yaml: ")


@given(st.binary(max_size=80))
def test_any_bytes_are_topics_or_a_format_error(data: bytes) -> None:
    with suppress(FormatError):
        assert isinstance(parse_topics(data, "f"), list)


def test_what_is_missing_is_created(cluster: DirectoryCluster) -> None:
    plan = make_plan(cluster.image(), [WantedTopic("new", 2, 3, configs={"retention.ms": "5"}), WantedTopic("bare")])
    assert plan.changes == (CreateTopic("new", 2, 3, (), {"retention.ms": "5"}), CreateTopic("bare"))
    assert [step.line for step in plan.steps] == [
        "+ new: create with partitions=2, replication_factor=3, retention.ms=5",
        "+ bare: create with partitions=1, replication_factor=1",
    ]


def test_partitions_and_configs_are_added(cluster: DirectoryCluster) -> None:
    wanted = WantedTopic("orders", 5, 2, configs={"retention.ms": "7", "cleanup.policy": "compact"})
    plan = make_plan(cluster.image(), [wanted])
    assert plan.changes == (
        CreatePartitions("orders", 5),
        AlterConfigs(TOPIC, "orders", {"retention.ms": "7", "cleanup.policy": "compact"}),
    )
    assert plan.steps == (
        Step("orders", "add_partitions", None, 3, 5),
        Step("orders", "set_config", "cleanup.policy", None, "compact"),
        Step("orders", "set_config", "retention.ms", "1000", "7"),
    )
    assert [step.line for step in plan.steps] == [
        "~ orders: partitions 3 -> 5",
        "~ orders: set cleanup.policy=compact (was not set)",
        "~ orders: set retention.ms=7 (was 1000)",
    ]


def test_configs_go_only_when_asked(cluster: DirectoryCluster) -> None:
    kept = WantedTopic("orders", configs={"cleanup.policy": "delete"})
    assert [step.action for step in make_plan(cluster.image(), [kept]).steps] == ["set_config"]
    plan = make_plan(cluster.image(), [kept._replace(prune_configs=True)])
    assert plan.changes == (AlterConfigs(TOPIC, "orders", {"cleanup.policy": "delete"}, ("retention.ms",)),)
    assert plan.steps[1].line == "~ orders: remove retention.ms (was 1000)"


def test_an_assignment_is_for_the_new_partitions(cluster: DirectoryCluster) -> None:
    wanted = WantedTopic("orders", assignment=((1, 2), (2, 3), (3, 1), (2, 1)))
    assert make_plan(cluster.image(), [wanted]).changes == (CreatePartitions("orders", 4, ((2, 1),)),)


def test_what_is_as_wanted_needs_no_change(cluster: DirectoryCluster) -> None:
    wanted = [WantedTopic("orders", 3, 2, configs={"retention.ms": "1000"}, prune_configs=True), WantedTopic("orders")]
    for topic in wanted:
        assert make_plan(cluster.image(), [topic]) == ((), ())


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (WantedTopic("orders", 2), "orders has 3 partitions, and cannot have fewer: the file says 2"),
        (WantedTopic("orders", None, 3), "orders has replication factor 2, and the file says 3"),
        (WantedTopic("orders", assignment=((1, 2), (2, 3))), "cannot have fewer"),
        (WantedTopic("orders", assignment=((1, 2), (2, 1), (3, 1))), "orders-1 is on brokers .2, 3., and the file"),
        (WantedTopic("orders", configs={"nosuch": "1"}), "orders: Unknown topic config name: nosuch"),
        (WantedTopic("orders", configs={"retention.ms": "x"}), "orders: Invalid value x for configuration"),
        (WantedTopic("a b"), "a b: Topic name is invalid"),
        (WantedTopic("new", 1, 9), "new: Unable to replicate the partition 9 time"),
        (WantedTopic("new", assignment=((8,),)), "no such broker is registered"),
    ],
)
def test_what_cannot_be_done_is_refused_with_everything_else(
    cluster: DirectoryCluster, wanted: WantedTopic, error: str
) -> None:
    with pytest.raises(KafkapyError, match=f"nothing was changed: .*{error}"):
        make_plan(cluster.image(), [WantedTopic("fine"), wanted])


def test_all_problems_are_named(cluster: DirectoryCluster) -> None:
    with pytest.raises(KafkapyError, match=r"fewer.*; orders has replication factor.*; a b: Topic name"):
        make_plan(cluster.image(), [WantedTopic("orders", 1, 1), WantedTopic("a b")])


def test_two_names_of_the_file_may_collide(cluster: DirectoryCluster) -> None:
    with pytest.raises(KafkapyError, match=r"a_b: Topic 'a_b' collides with existing topic: a\.b"):
        make_plan(cluster.image(), [WantedTopic("a.b"), WantedTopic("a_b")])


def test_once_applied_there_is_nothing_to_do(cluster: DirectoryCluster) -> None:
    wanted = [
        WantedTopic("orders", 6, configs={"cleanup.policy": "compact"}, prune_configs=True),
        WantedTopic("new", 4, 3, configs={"retention.bytes": "10"}),
        WantedTopic("placed", assignment=((3, 1), (1, 2))),
    ]
    plan = make_plan(cluster.image(), wanted)
    cluster.apply(*plan.changes)
    image = cluster.image()
    assert make_plan(image, wanted) == ((), ())
    assert len(image.topics["orders"].partitions) == 6
    assert image.config(TOPIC, "orders") == {"cleanup.policy": "compact"}
    assert image.topics["placed"].partitions[1].replicas == (1, 2)
