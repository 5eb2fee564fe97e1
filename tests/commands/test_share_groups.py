"""``kafkapy share-groups``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.coordinator.internal_topics import partition_for
from kafkapy.coordinator.share_state import SHARE_GROUP_STATE, ShareState, ShareStateKey, ShareStates
from kafkapy.formats.coordinator_record import SHARE, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from tests.commands.running import dirs, run
from tests.coordinator import typed_groups
from tests.coordinator.typed_groups import IDLE, JOBS, WORKERS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typed_groups.made(tmp_path_factory.mktemp("share") / "cluster")


def test_lists(capfd: Capture, directory: Path) -> None:
    assert run(capfd, "share-groups", "--cluster", directory, "--list").lines == ["fresh", IDLE, WORKERS]
    assert run(capfd, "share-groups", "--cluster", directory, "--list", "--state").lines == [
        "GROUP                           STATE",
        "fresh                           Empty",
        "idle-share-group-of-a-long-name Empty",
        "workers                         Stable",
    ]
    stable = run(capfd, "share-groups", "--cluster", directory, "--list", "--state", "STABLE,Dead")
    assert stable.lines == ["GROUP           STATE", "workers         Stable"]


def test_offsets(capfd: Capture, directory: Path) -> None:
    """A start offset that an update keeps, a partition never fetched from, one whose done records nobody counted."""
    done = run(capfd, "share-groups", "--cluster", directory, "--describe", "--group", WORKERS, "--verbose")
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "",
        "GROUP           TOPIC                     PARTITION  LEADER-EPOCH  START-OFFSET  LAG",
        "workers         jobs                      0          2             10            14",
        "workers         jobs                      1          0             2             -",
        "workers         more-than-fifteen-letters 0          -             -             -",
    ]


def test_all_groups_in_order(capfd: Capture, directory: Path) -> None:
    done = run(capfd, "share-groups", "--cluster", directory, "--describe", "--all-groups")
    assert done.lines[:3] == ["", "Share group 'fresh' has no offset information.", ""]
    assert [line.split()[0] for line in done.lines if line.startswith(("idle", "workers"))] == [IDLE] * 2 + [
        WORKERS
    ] * 3


def test_members(capfd: Capture, directory: Path) -> None:
    done = run(
        capfd, "share-groups", "--cluster", directory, "--describe", "--group", WORKERS, "--members", "--verbose"
    )
    assert done.lines[2:] == [
        "workers         m-a-with-a-long-id /127.0.0.1      client-m-a-with-a-long-id 2            3             "
        "jobs:0;more-than-fifteen-letters:0",
        "workers         m-b                /127.0.0.1      client-m-b                1            3             "
        "jobs:1",
        "workers         m-c                /127.0.0.1      client-m-c                0            3             ",
    ]
    empty = run(capfd, "share-groups", "--cluster", directory, "--describe", "--group", "fresh", "--members")
    assert empty == (0, "", "\nShare group 'fresh' has no active members.\n")


def test_states(capfd: Capture, golden: Path) -> None:
    args = ("--describe", "--group", "sharers", "--state", "--verbose")
    done = run(capfd, "share-groups", "--log-dirs", dirs(golden), *args)
    assert done.lines[1:] == [
        "GROUP           COORDINATOR (ID)          STATE           GROUP-EPOCH  ASSIGNMENT-EPOCH  #MEMBERS",
        "sharers         -                         Empty           4            3                 0",
    ]
    assert done.err == "\nShare group 'sharers' has no active members.\n"


def test_the_golden_group_has_read_all(capfd: Capture, golden: Path) -> None:
    done = run(
        capfd, "share-groups", "--log-dirs", dirs(golden), "--describe", "--group", "sharers", "--output", "jsonl"
    )
    assert done.rows == [
        {
            "type": "share_group_offset", "group": "sharers", "topic": "plain", "partition": 0, "leader_epoch": 0,
            "start_offset": 0, "lag": 0,
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("group", "reason"), [("nope", "Group nope not found."), ("simple", "Group simple is not a share group.")]
)
def test_what_is_no_share_group(capfd: Capture, directory: Path, group: str, reason: str) -> None:
    done = run(capfd, "share-groups", "--cluster", directory, "--describe", "--group", group)
    cause = f"org.apache.kafka.common.errors.GroupIdNotFoundException: {reason}"
    line = f"\nError: Executing share group command failed due to {cause}\n"
    assert done == (1, line, "")
    rows = run(capfd, "share-groups", "--cluster", directory, "--describe", "--group", group, "--output", "jsonl")
    assert rows == (1, "", line)


@pytest.mark.parametrize(
    "action",
    [
        ("--delete",),
        ("--reset-offsets", "--all-topics", "--to-earliest", "--execute"),
        ("--delete-offsets", "--topic", JOBS),
    ],
)
def test_what_only_a_running_cluster_does(capfd: Capture, directory: Path, action: tuple[str, ...]) -> None:
    done = run(capfd, "share-groups", "--cluster", directory, *action, "--group", IDLE)
    assert (done.code, done.out) == (1, "")
    assert "is not supported by a cluster of files: run it on the running cluster, with --bootstrap-server" in done.err


def test_a_reset_can_be_tried(capfd: Capture, directory: Path) -> None:
    args = ("--reset-offsets", "--group", IDLE, "--all-topics", "--to-latest", "--dry-run")
    done = run(capfd, "share-groups", "--cluster", directory, *args)
    assert done.lines == [
        "",
        "GROUP                           TOPIC           PARTITION  NEW-OFFSET",
        f"{IDLE} jobs            0          30",
        f"{IDLE} jobs            1          12",
    ]
    done = run(capfd, "share-groups", "--cluster", directory, *args[:2], WORKERS, *args[3:])
    assert done == (1, "", f"Share group '{WORKERS}' is not empty.\n")


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--list", "--describe", "--all-groups"),
        ("--describe",),
        ("--describe", "--group", "g", "--all-groups"),
        ("--describe", "--all-groups", "--members", "--state"),
        ("--describe", "--all-groups", "--state", "Empty"),
        ("--list", "--group", "g"),
        ("--list", "--members"),
        ("--list", "--state", "Assigning"),
    ],
)
def test_bad_usage(capfd: Capture, directory: Path, args: tuple[str, ...]) -> None:
    done = run(capfd, "share-groups", "--cluster", directory, *args)
    assert (done.code, done.out) == (2, "")


def test_states_that_cannot_be_read_are_told_and_skipped(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "cluster"
    shutil.copytree(directory, copy)
    cluster = DirectoryCluster(str(copy), Files(sync=False))
    key = ShareStateKey(WORKERS, cluster.image().topics[JOBS].id, 0)
    names = {"groupId": key.group_id, "topicId": key.topic_id, "partition": key.partition}
    known, _ = encode_record(SHARE, CoordinatorRecord("ShareUpdate", names))
    partition = TopicPartition(SHARE_GROUP_STATE, partition_for(str(key), typed_groups.STATES))
    end = cluster.append_as_coordinator(
        partition, encode_batch([Record(0, 0, known, b"\0\0\1"), Record(1, 0, b"\0\7", b"")]), 2
    ).first_offset
    states = ShareStates(cluster)
    assert states.state(key) == ShareState(10, 2, 6)
    assert [problem.partition(": ")[0] for problem in states.problems] == [
        f"{partition} at offset {end}", f"{partition} at offset {end + 1}",
    ]  # fmt: skip
    cluster.close()
    done = run(capfd, "share-groups", "--cluster", copy, "--describe", "--group", WORKERS)
    assert done.code == 1
    assert len(done.lines) == 5
    assert len(done.err.splitlines()) == 2


def test_a_state_that_was_deleted_is_forgotten(directory: Path, tmp_path: Path) -> None:
    copy = tmp_path / "cluster"
    shutil.copytree(directory, copy)
    cluster = DirectoryCluster(str(copy), Files(sync=False))
    key = ShareStateKey(WORKERS, cluster.image().topics[JOBS].id, 0)
    names = {"groupId": key.group_id, "topicId": key.topic_id, "partition": key.partition}
    tombstone = encode_record(SHARE, CoordinatorRecord("ShareSnapshot", names))
    partition = TopicPartition(SHARE_GROUP_STATE, partition_for(str(key), typed_groups.STATES))
    cluster.append_as_coordinator(partition, encode_batch([Record(0, 0, *tombstone)]), 2)
    assert ShareStates(cluster).state(key) == ShareState(-1, 0, -1)
    cluster.close()


def test_without_an_action_those_that_are_possible_are_named(capfd: Capture) -> None:
    done = run(capfd, "share-groups")
    wanted = "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets"
    assert done == (2, "", f"kafkapy: {wanted}. Try 'kafkapy share-groups --help'.\n")
