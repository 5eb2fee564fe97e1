"""``kafkapy streams-groups``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import dirs, run
from tests.coordinator import typed_groups
from tests.coordinator.typed_groups import COUNTERS, STOPPED

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typed_groups.made(tmp_path_factory.mktemp("streams") / "cluster")


def test_lists(capfd: Capture, directory: Path, golden: Path) -> None:
    assert run(capfd, "streams-groups", "--cluster", directory, "--list").lines == ["counters", "split", "stopped"]
    assert run(capfd, "streams-groups", "--cluster", directory, "--list", "--state").lines == [
        "GROUP           STATE", "counters        Stable", "split           Assigning", "stopped         Empty",
    ]  # fmt: skip
    some = run(capfd, "streams-groups", "--cluster", directory, "--list", "--state", "assigning, Empty")
    assert [line.split()[0] for line in some.lines] == ["GROUP", "split", "stopped"]
    assert run(capfd, "streams-groups", "--log-dirs", dirs(golden), "--list") == (0, "", "")


def test_offsets(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "streams-groups", "--cluster", directory, "--describe", "--group", COUNTERS)
    assert done.lines == [
        "GROUP           TOPIC                     PARTITION  OFFSET-LAG",
        "counters        jobs                      0          10",
        "counters        jobs                      1          12",
        "counters        more-than-fifteen-letters 0          5",
    ]
    rows = run(
        capfd, "streams-groups", "--cluster", directory, "--describe", "--group", COUNTERS, "--output", "jsonl"
    ).rows
    assert rows[0] == {
        "type": "streams_group_offset", "group": COUNTERS, "topic": "jobs", "partition": 0, "current_offset": 20,
        "leader_epoch": 0, "log_end_offset": 30, "lag": 10,
    }  # fmt: skip
    assert rows[1]["current_offset"] is None


def test_members(capfd: Capture, directory: Path) -> None:
    args = ("--describe", "--group", COUNTERS, "--members")
    assert [line.split()[-1] for line in run(capfd, "streams-groups", "--cluster", directory, *args).lines] == [
        "ASSIGNMENTS", "1:[0];", "0:[0,1];",
    ]  # fmt: skip
    verbose = run(capfd, "streams-groups", "--cluster", directory, *args, "--verbose").lines
    # Kafka prints no space between these two
    assert "TOPOLOGY-EPOCH MEMBER                    MEMBER-PROTOCOL" in verbose[0]
    assert verbose[2].endswith("ACTIVE: 1:[0]; STANDBY: 0:[0,1]; TARGET-ACTIVE: 1:[0]; TARGET-STANDBY: 0:[0,1]; ")
    rows = run(capfd, "streams-groups", "--cluster", directory, *args, "--output", "jsonl").rows
    assert rows[0]["active_tasks"] == {"0": [0, 1]}
    assert rows[0]["target_warmup_tasks"] == {"1": [0]}


def test_a_group_without_members(capfd: Capture, directory: Path) -> None:
    args = ("--describe", "--group", STOPPED)
    assert run(capfd, "streams-groups", "--cluster", directory, *args) == (0, "", "")
    assert run(capfd, "streams-groups", "--cluster", directory, *args, "--members") == (0, "", "")
    done = run(capfd, "streams-groups", "--cluster", directory, *args, "--state", "--verbose")
    assert done.lines[:2] == ["", "Error: Streams group 'stopped' has no active members."]
    assert done.lines[3].split()[-4:] == ["Empty", "2", "1", "0"]
    assert done.code == 0


def test_groups_in_the_order_they_are_named(capfd: Capture, directory: Path) -> None:
    args = ("--describe", "--group", "split", "--group", COUNTERS, "--state")
    done = run(capfd, "streams-groups", "--cluster", directory, *args)
    assert [line.split()[0] for line in done.lines] == ["GROUP", "split", "GROUP", "counters"]


@pytest.mark.parametrize(
    ("group", "reason"), [("nope", "Group nope not found."), ("workers", "Group workers is not a streams group.")]
)
def test_what_is_no_streams_group(capfd: Capture, directory: Path, group: str, reason: str) -> None:
    done = run(capfd, "streams-groups", "--cluster", directory, "--describe", "--group", group)
    cause = f"org.apache.kafka.common.errors.GroupIdNotFoundException: {reason}"
    assert done == (1, f"\nError: Executing streams group command failed due to {cause}\n", "")


def test_what_kafkas_tool_has_to_do(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "streams-groups", "--cluster", directory, "--reset-offsets", "--group", COUNTERS)
    assert done.code == 1
    assert "kafka-streams-groups.sh" in done.err


def test_without_an_action_those_that_are_possible_are_named(capfd: Capture) -> None:
    done = run(capfd, "streams-groups")
    wanted = "Command must include exactly one action: --list, --describe"
    assert done == (2, "", f"kafkapy: {wanted}. Try 'kafkapy streams-groups --help'.\n")
