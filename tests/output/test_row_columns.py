"""The columns that completions offer are those that rows have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafkapy.backends.group_lag import LogRange
from kafkapy.backends.offset_targets import Reset
from kafkapy.command_tree import command_tree, walk
from kafkapy.coordinator.group import GroupState, GroupType
from kafkapy.coordinator.group_description import GroupDescription, MemberDescription
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.share_group_description import SharePartitionOffset
from kafkapy.coordinator.streams_group_description import (
    StreamsGroupDescription,
    StreamsMember,
    StreamsPartitionOffset,
    TaskAssignment,
)
from kafkapy.lag.batch_flow import Flow
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output import group_rows, lag_rows, share_group_lines, streams_group_lines, throughput_rows
from kafkapy.output.row_columns import COLUMNS, columns_of, commands
from kafkapy.scan.rows import columns_by_type
from kafkapy.scan.summary import Summary
from tests import group_cluster
from tests.commands.running import run
from tests.output import row_world

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cluster directories and the files that commands take."""
    world = tmp_path_factory.mktemp("columns")
    row_world.made(world / "rows")
    group_cluster.made(world / "groups")
    moved = {"topic": "orders", "partition": 0, "replicas": [3, 2]}
    (world / "plan.json").write_text(json.dumps({"version": 1, "partitions": [moved]}))
    (world / "topics.json").write_text(json.dumps({"version": 1, "topics": [{"topic": "orders"}]}))
    (world / "topics.yaml").write_text("orders:\n  partitions: 4\n")
    return world


def test_every_command_with_rows_has_columns() -> None:
    with_rows = {
        " ".join(node.path[1:])
        for node in walk(command_tree())
        if any("--sort-by" in each.names for each in node.options)
    }
    assert with_rows == commands()


def test_the_options_that_choose_rows_are_options() -> None:
    options = {" ".join(node.path[1:]): {name for each in node.options for name in each.names} for node in
               walk(command_tree())}  # fmt: skip
    for key in COLUMNS:
        command, *given = key.split(" --")
        assert {f"--{name}" for name in given} <= options[command], key


@pytest.mark.parametrize(
    "line",
    [
        "topics --cluster {rows} --list",
        "topics --cluster {rows} --describe --topics-with-overrides",
        "topics --cluster {rows} --from-file {files}/topics.yaml --plan",
        "consumer-groups --cluster {groups} --list",
        "consumer-groups --cluster {groups} --describe --all-groups",
        "consumer-groups --cluster {groups} --describe --all-groups --members",
        "consumer-groups --cluster {groups} --describe --all-groups --state",
        "consumer-groups --cluster {groups} --describe --all-groups --totals",
        "consumer-groups --cluster {groups} --reset-offsets --group simple --all-topics --to-earliest --dry-run",
        "consumer-groups --cluster {groups} --delete --group elsewhere",
        "consumer-groups --cluster {groups} --delete-offsets --group simple --topic elsewhere",
        "consumer-groups --cluster {groups} --validate-regex a.*",
        "consumer-offsets --cluster {rows} --which-partition billing",
        "metadata-quorum describe --cluster {rows} --status",
        "throughput --cluster {rows} --forecast",
        "reassign-partitions --cluster {rows} --verify --reassignment-json-file {files}/plan.json",
    ],
)
def test_the_rows_of_an_action(capfd: Capture, world: Path, line: str) -> None:
    words = line.format(rows=world / "rows", groups=world / "groups", files=world).split()
    rows = run(capfd, *words, "--output", "jsonl").rows
    command = " ".join(word for word in words[:2] if not word.startswith("-"))
    found = list(dict.fromkeys(column for row in rows for column in row))
    columns = columns_of(command, lambda option: f"--{option}" in words)
    assert found == columns[: len(found)] != [], "with --verify there may be rows of log dirs, too"
    assert found == columns or "--verify" in words


@pytest.mark.parametrize("action", ["--generate --topics-to-move-json-file {files}/topics.json --broker-list 1,2,3",
                                    "--simulate --reassignment-json-file {files}/plan.json"])  # fmt: skip
def test_rows_of_several_kinds(capfd: Capture, world: Path, action: str) -> None:
    words = action.format(files=world).split()
    rows = run(capfd, "reassign-partitions", "--cluster", world / "rows", *words, "--output", "jsonl").rows
    found = {column for row in rows for column in row}
    assert found <= set(columns_of("reassign-partitions", lambda option: f"--{option}" in words))
    assert len(found) > 20


def test_rows_that_are_made_elsewhere() -> None:
    """Of share and streams groups, of what no test cluster has, and of dumps."""
    nobody = GroupDescription(
        "", GroupType.SHARE, GroupState.DEAD, "", "", -1, (MemberDescription("", None, "", "", ()),)
    )
    for command in ("share-groups", "consumer-groups"):
        assert COLUMNS[f"{command} --describe --state"].split() == list(group_rows.group_row(nobody, None))
        assert COLUMNS[f"{command} --describe --members"].split() == list(next(group_rows.member_rows(nobody)))
    assert COLUMNS["streams-groups --describe --state"].split() == list(group_rows.group_row(nobody, None))
    reset = Reset(TopicPartition("orders", 0), None, OffsetAndMetadata(0), LogRange(None, None))
    for command in ("share-groups", "streams-groups"):
        assert COLUMNS[f"{command} --reset-offsets"].split() == list(next(group_rows.reset_rows("", [reset], False)))
        assert COLUMNS[f"{command} --delete"].split() == list(group_rows.deleted_group_row("", None))
    partition = TopicPartition("orders", 0)
    (row,) = share_group_lines.offset_rows("", [SharePartitionOffset(partition)])
    assert COLUMNS["share-groups --describe"].split() == list(row)
    (row,) = streams_group_lines.offset_rows("", [StreamsPartitionOffset(partition, None, None, None, None)])
    assert COLUMNS["streams-groups --describe"].split() == list(row)
    member = StreamsMember("", "", "", "", 0, TaskAssignment({}, {}, {}), TaskAssignment({}, {}, {}))
    (row,) = streams_group_lines.member_rows(StreamsGroupDescription(nobody, 0, (member,)))
    assert COLUMNS["streams-groups --describe --members"].split() == list(row)
    assert COLUMNS["streams-groups --delete-offsets"].split() == list(
        group_rows.deleted_offset_row("", partition, None)
    )
    assert COLUMNS["share-groups --delete-offsets"].split() == list(group_rows.deleted_topic_row("", "", None))
    assert COLUMNS["lag"].split()[: len(lag_rows.LAG_COLUMNS)] == list(lag_rows.LAG_COLUMNS)
    nothing = Flow(None, None, None, None, None, 0, 0, 0, None, None, (), 0, 0, 0)
    assert COLUMNS["throughput"].split() == list(throughput_rows.flow_row(nothing))
    assert set(COLUMNS["dump-log"].split()) == {name for names in columns_by_type().values() for name in names}
    assert COLUMNS["dump-log --summary"].split() == list(Summary("").row())


def test_the_action_on_the_line_chooses() -> None:
    assert columns_of("topics", {"list"}.__contains__) == ["type", "topic"]
    assert "lag" not in columns_of("consumer-groups", {"describe", "members"}.__contains__)
    everything = columns_of("consumer-groups", lambda _: False)
    assert {"lag", "regex", "new_offset"} <= set(everything)
    assert columns_of("sql", lambda _: False) == [], "only the statement knows them"
    assert columns_of("", lambda _: False) == []
