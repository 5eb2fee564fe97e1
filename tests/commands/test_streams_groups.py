"""``kafkapy streams-groups``."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.streams_reset import is_own_topic
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
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


@pytest.fixture
def copy(directory: Path, tmp_path: Path) -> Path:
    shutil.copytree(directory, tmp_path / "cluster")
    return tmp_path / "cluster"


def test_resets(capfd: Capture, copy: Path) -> None:
    of_group = ("streams-groups", "--cluster", copy, "--reset-offsets", "--group", STOPPED)
    named = run(capfd, *of_group, "--input-topic", "jobs:0", "--to-earliest", "--dry-run")
    assert named.lines[:2] == ["", "Error: One or more topics are not part of the group 'stopped'."]
    assert named.code == 1
    with closing(DirectoryCluster(str(copy), Files(sync=False))) as cluster:
        cluster.groups().alter_offsets(STOPPED, {TopicPartition("jobs", 0): OffsetAndMetadata(3)})
    done = run(capfd, *of_group, "--all-input-topics", "--shift-by", "2", "--execute")
    assert (done.code, done.lines[2].split()) == (0, [STOPPED, "jobs", "0", "5"])
    current = run(capfd, *of_group, "--all-input-topics", "--to-current", "--dry-run", "--export")
    assert current.out == "jobs,0,5\n\n"
    active = run(capfd, *of_group[:-1], COUNTERS, "--all-input-topics", "--to-latest", "--execute")
    assert "Assignments can only be reset if the group 'counters' is inactive" in active.out
    assert active.code == 1


def test_deletions(capfd: Capture, copy: Path) -> None:
    with closing(DirectoryCluster(str(copy), Files(sync=False))) as cluster:
        cluster.groups().alter_offsets(STOPPED, {TopicPartition("jobs", 0): OffsetAndMetadata(3)})
    offsets = ("streams-groups", "--cluster", copy, "--delete-offsets", "--group", STOPPED, "--all-input-topics")
    assert run(capfd, *offsets).lines[3].split() == ["jobs", "0", "Successful"]
    done = run(capfd, "streams-groups", "--cluster", copy, "--delete", "--group", STOPPED, "--group", COUNTERS)
    assert done.lines == [
        "",
        "Error: Deletion of some streams groups failed:",
        "* Group 'counters' could not be deleted due to: org.apache.kafka.common.errors.GroupNotEmptyException: "
        "Streams group 'counters' is not EMPTY.",
        "",
        "These streams groups were deleted successfully: 'stopped'.",
    ]
    assert run(capfd, "streams-groups", "--cluster", copy, "--list").lines == ["counters", "split"]


OWN, BETWEEN, FOREIGN = f"{STOPPED}-counts-changelog", f"{STOPPED}-by-word-repartition", "somebody-elses"


@pytest.fixture
def with_own_topics(copy: Path) -> Path:
    """The group that has stopped has topics of its own, of which one has the name of somebody else's."""
    own = [{"name": name, "partitions": 1, "replicationFactor": 1, "topicConfigs": []} for name in (OWN, FOREIGN)]
    between = [{"name": BETWEEN, "partitions": 1, "replicationFactor": 1, "topicConfigs": []}]
    part = {
        "subtopologyId": "0", "sourceTopics": ["jobs"], "sourceTopicRegex": [], "stateChangelogTopics": own,
        "repartitionSinkTopics": [BETWEEN], "repartitionSourceTopics": between, "copartitionGroups": [],
    }  # fmt: skip
    topology = CoordinatorRecord("StreamsGroupTopology", {"groupId": STOPPED}, 0, {"epoch": 1, "subtopologies": [part]})
    with closing(DirectoryCluster(str(copy), Files(sync=False))) as cluster:
        cluster.apply(*(CreateTopic(name, 1, 1) for name in (OWN, FOREIGN)))
        cluster.groups().store.append(STOPPED, [topology])
        cluster.groups().alter_offsets(STOPPED, {TopicPartition("jobs", 0): OffsetAndMetadata(3)})
    return copy


def topics(capfd: Capture, directory: Path) -> list[str]:
    return run(capfd, "topics", "--cluster", directory, "--list", "--exclude-internal").lines


def test_topics_of_a_groups_own_go_with_it(capfd: Capture, with_own_topics: Path) -> None:
    args = ("--delete", "--group", STOPPED, "--delete-all-internal-topics")
    done = run(capfd, "streams-groups", "--cluster", with_own_topics, *args)
    text = "is not inferred as internal and thus will not be deleted with the group"
    assert done.lines[:3] == [
        "",
        f"Error: The internal topic '{FOREIGN}' {text} '{STOPPED}'.",
        f"Failed to delete internal topic: {BETWEEN}",
    ]
    assert done.lines[4] == "Deletion of some associated internal topics failed:"
    assert done.code == 0, "a topic that is not there need not be deleted"
    assert OWN not in topics(capfd, with_own_topics)
    assert FOREIGN in topics(capfd, with_own_topics)


def test_topics_of_a_groups_own_go_with_a_reset(capfd: Capture, with_own_topics: Path) -> None:
    scope = ("--reset-offsets", "--group", STOPPED, "--all-input-topics", "--to-earliest", "--execute")
    args = ("streams-groups", "--cluster", with_own_topics, *scope)
    assert run(capfd, *args).code == 0
    assert OWN in topics(capfd, with_own_topics)
    done = run(capfd, *args, "--delete-internal-topic", OWN)
    assert (done.code, done.lines[2].split()) == (0, [STOPPED, "jobs", "0", "0"])
    assert OWN not in topics(capfd, with_own_topics)
    again = run(capfd, *args, "--delete-all-internal-topics")
    wanted = f"Error: Deleting internal topics for group '{STOPPED}' failed because the topics do not exist."
    assert (again.code, again.lines[3]) == (1, wanted)


@pytest.mark.parametrize(
    ("topic", "is_own"),
    [
        ("app-store-changelog", True),
        ("app-x-repartition", True),
        ("app-x-subscription-response-topic", True),
        ("app-x-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000012-topic", True),
        ("app-x-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-7-topic", True),
        ("app-x-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-x-topic", False),
        ("application-store-changelog", False),
        ("app-orders", False),
    ],
)
def test_names_of_topics_of_a_groups_own(topic: str, is_own: bool) -> None:
    assert is_own_topic(topic, "app") is is_own


def test_without_an_action_those_that_are_possible_are_named(capfd: Capture) -> None:
    done = run(capfd, "streams-groups")
    wanted = "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets"
    assert done == (2, "", f"kafkapy: {wanted}. Try 'kafkapy streams-groups --help'.\n")
