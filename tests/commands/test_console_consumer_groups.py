"""``kafkapy console-consumer --group``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.backends.groups import Scratch, made, numbered, produce
from tests.commands.running import dirs

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """Two partitions with 30 records each."""
    directory = made(tmp_path / "c", t=2)
    for partition in (0, 1):
        produce(directory, "t", partition, *numbered("t", partition, 30))
    return Scratch(directory)


@pytest.fixture
def consume(kafkapy: Run, scratch: Scratch) -> Run:
    return lambda *args: kafkapy("console-consumer", "--cluster", scratch.directory, *args)


@contextmanager
def started(scratch: Scratch, *args: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed at the end, if it still runs."""
    command = [sys.executable, "-m", "kafkapy", "console-consumer", "--cluster", scratch.directory, *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_group_goes_on_where_it_stopped(consume: Run, scratch: Scratch) -> None:
    first = consume("--topic", "t", "--group", "g", "--from-beginning", "--max-messages", "35")
    assert (first.returncode, first.stderr) == (0, "Processed a total of 35 messages\n")
    assert first.stdout.split() == numbered("t", 0, 30) + numbered("t", 1, 5)
    assert scratch.committed() == {"t-0": 30, "t-1": 5}
    second = consume("--topic", "t", "--command-property", "group.id=g")
    assert second.stdout.split() == numbered("t", 1, 25, first=5)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_share_and_tell(consume: Run, protocol: str) -> None:
    args = ["--topic", "t", "--group", "g", "--from-beginning", "--members", "2", "--then", "leave:1@20"]
    done = consume(*args, "--consumer-property", f"group.protocol={protocol}")
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()[1:]) == sorted(numbered("t", 0, 30) + numbered("t", 1, 30))
    told = done.stderr.splitlines()
    assert [line.partition(": ")[2] for line in told if line.startswith("group g, ")] == [
        "member 1 joined", "member 2 joined", "member 1 left"
    ]  # fmt: skip
    assert told[-1] == "Processed a total of 60 messages"


def test_a_second_process_is_told_who_has_the_group_and_a_producer_is_not_kept_out(
    consume: Run, scratch: Scratch
) -> None:
    with started(scratch, "--topic", "t", "--group", "g", "--follow") as process:
        _wait_for_member(scratch)
        done = consume("--topic", "t", "--group", "g")
        assert done.returncode == 1
        assert done.stderr.startswith(f"kafkapy: group g is consumed by process {process.pid} since 20")
        assert "Z: stop it," in done.stderr
        produce(scratch.directory, "t", 0, "new")
        assert process.stdout is not None
        assert process.stdout.readline() == "new\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
    assert scratch.committed() == {"t-0": 31, "t-1": 30}
    assert consume("--topic", "t", "--group", "g").stderr == "Processed a total of 0 messages\n"


def test_what_a_killed_process_left_is_removed(consume: Run, scratch: Scratch) -> None:
    with started(scratch, "--topic", "t", "--group", "g", "--from-beginning", "--follow") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "t-0-0\n"
        process.kill()
    assert [name for name in os.listdir(scratch.directory) if name.endswith(".lock")] == [".group-g.lock"]
    done = consume("--topic", "t", "--group", "g", "--from-beginning")
    assert done.stderr.startswith("kafkapy: removed member console-consumer-")
    assert len(done.stdout.split()) == 60


def test_maintenance_removes_what_a_killed_process_left_and_no_living_one(kafkapy: Run, scratch: Scratch) -> None:
    maintain = ("maintenance", "--cluster", scratch.directory)
    with started(scratch, "--topic", "t", "--group", "g", "--from-beginning", "--follow") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "t-0-0\n"
        assert "members" not in kafkapy(*maintain).stdout, "it lives"
        process.kill()
    (member,) = scratch.cluster.groups().describe("g").members
    told = f"members of group g: no process speaks for {member.member_id}\n"
    assert kafkapy(*maintain, "--dry-run").stdout.endswith(f": would remove {told}")
    log_dirs = kafkapy("maintenance", "--dry-run", "--log-dirs", f"{scratch.directory}/broker-1")
    assert (log_dirs.returncode, log_dirs.stdout) == (0, "Nothing is due.\n"), "of real brokers nobody knows"
    assert kafkapy(*maintain).stdout.endswith(f": removed {told}")
    assert scratch.cluster.groups().describe("g").members == ()
    assert "members of group" not in kafkapy(*maintain).stdout


@pytest.mark.parametrize("group", [(), ("--group", "g"), ("--group", "g", "--exec", "cat")])
def test_a_pattern_that_matches_nothing_is_told(consume: Run, group: tuple[str, ...]) -> None:
    done = consume("--include", "zzz.*", *group)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("kafkapy: no topic matches 'zzz.*'\n")


def test_nobody_reads_any_more(scratch: Scratch) -> None:
    with started(scratch, "--topic", "t", "--group", "g", "--from-beginning", "--follow") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        produce(scratch.directory, "t", 0, "new")
        assert process.wait() == 141
    assert scratch.cluster.groups().describe("g").members == ()


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ("--topic t --group g --partition 0", "Options group and partition cannot be specified together"),
        ("--topic t --group g --command-property group.id=h", "The group ids provided in different places"),
        ("--topic t --members 2", "--members needs --group"),
        ("--topic t --then join@1", "--then needs --group"),
        ("--topic t --exec true", "--exec needs --group"),
        ("--topic t --group g --retry-delays 1s", "--retry-delays needs --exec"),
        ("--topic t --group g --members 0", "--members: there must be at least one"),
        ("--topic t --group g --then leave:2@1", "leave:2@1: there is no member 2 at that point"),
        ("--topic t --group g --exec true --retry-delays soon", "'soon' is not a time"),
        ("--topic t --group g --exec true --exec-timeout 5", "'5' is not a time"),
        ("--topic t --group g --exec true --command-property enable.auto.commit=false", "--exec commits what is done"),
        ("--topic t --group g --from-beginning --command-property auto.offset.reset=latest", "Can't simultaneously"),
    ],
)
def test_bad_usage(consume: Run, args: str, error: str) -> None:
    done = consume(*args.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"kafkapy: {error}")


def test_directories_of_brokers_are_not_written(kafkapy: Run, golden: Path) -> None:
    done = kafkapy("console-consumer", "--log-dirs", dirs(golden), "--topic", "orders", "--group", "g")
    assert done.returncode == 1
    assert done.stderr.startswith("kafkapy: consuming as a member of a group is not supported by --log-dirs")


def test_a_topic_that_does_not_exist(consume: Run) -> None:
    done = consume("--topic", "nosuch", "--group", "g")
    assert (done.returncode, done.stderr) == (1, "kafkapy: Topic 'nosuch' does not exist\n")


def _wait_for_member(scratch: Scratch) -> None:
    import time

    for _ in range(600):
        names = [name for name, value in scratch.group_records() if name == "GroupMetadata" and value["members"]]  # type: ignore[index]
        if names:
            return
        time.sleep(0.05)
    pytest.fail("nobody joined")
