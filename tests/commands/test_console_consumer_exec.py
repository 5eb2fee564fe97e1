"""``kafkapy console-consumer --exec``: retries, dead letters, and what a kill may not lose."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.backends.groups import Scratch, made, numbered, produce

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """Two partitions with 6 records each."""
    directory = made(tmp_path / "c", t=2)
    for partition in (0, 1):
        produce(directory, "t", partition, *numbered("t", partition, 6))
    return Scratch(directory)


@pytest.fixture
def execute(kafkapy: Run, scratch: Scratch) -> Run:
    args = ["--cluster", scratch.directory, "--topic", "t", "--group", "g", "--from-beginning", "--exec"]
    return lambda *more: kafkapy("console-consumer", *args, *more)


def test_without_delays_what_fails_is_a_dead_letter(execute: Run, scratch: Scratch) -> None:
    done = execute("grep -v 1-3 || { echo bad $KAFKAPY_OFFSET >&2; exit 7; }")
    assert (done.returncode, done.stderr) == (
        0,
        "bad 3\n12 records: 11 done, 0 to retry, 1 to dead letters (t.g.dead-letter)\n",
    )
    assert len(done.stdout.split()) == 11
    (dead,) = scratch.records("t.g.dead-letter")
    assert {"kafkapy.cause": b"exit code 7", "kafkapy.stderr": b"bad 3"}.items() <= dict(dead.headers).items()
    assert scratch.committed() == {"t-0": 6, "t-1": 6}


def test_what_is_not_due_is_told_and_left(execute: Run, scratch: Scratch) -> None:
    done = execute("! grep -q 0-2", "--retry-delays", "1h")
    waiting, counts = done.stderr.splitlines()[-2:]
    assert waiting.startswith("1 record waits in retry topics, the first of them until 20")
    assert waiting.endswith("Z")
    assert counts == "12 records: 11 done, 1 to retry, 0 to dead letters"
    assert execute("true", "--retry-delays", "1h").stderr.endswith(
        "\n0 records: 0 done, 0 to retry, 0 to dead letters\n"
    )
    assert scratch.values("t.g.retry.1h") == ["t-0-2"]


def test_retries_at_once_end_within_the_run(execute: Run, scratch: Scratch) -> None:
    command = 'grep -q 0-2 && echo try $KAFKAPY_ATTEMPT && exit 1; test -z "$FOO"'
    done = execute(command, "--retry-delays", "0s,0s", "--dead-letter-topic", "failed", "--members", "2")
    assert done.stdout.splitlines() == ["try 1", "try 2", "try 3"]
    assert done.stderr.endswith("\n14 records: 11 done, 2 to retry, 1 to dead letters (failed)\n")
    assert scratch.values("failed") == ["t-0-2"]


def test_a_time_limit(execute: Run, scratch: Scratch) -> None:
    done = execute("grep -q 0-2 && sleep 600; true", "--exec-timeout", "300ms", "--max-messages", "6")
    assert done.stderr == "6 records: 5 done, 0 to retry, 1 to dead letters (t.g.dead-letter)\n"
    (dead,) = scratch.records("t.g.dead-letter")
    assert dict(dead.headers)["kafkapy.cause"] == b"not done within 300ms"


def test_names_that_cannot_be(kafkapy: Run, scratch: Scratch) -> None:
    done = kafkapy(
        "console-consumer", "--cluster", scratch.directory, "--topic", "t", "--group", "a b", "--exec", "cat"
    )
    assert done.returncode == 1
    assert "topics of group 'a b' cannot be named after it" in done.stderr


@pytest.mark.parametrize("name", ["bad name!", "", ".."])
def test_a_dead_letter_topic_that_cannot_be(execute: Run, scratch: Scratch, name: str) -> None:
    done = execute("false", "--dead-letter-topic", name)
    assert done.returncode == 2
    assert done.stderr.startswith("kafkapy: --dead-letter-topic: Topic name is invalid: ")
    assert scratch.committed() == {}


@pytest.mark.parametrize("command", ["", "  "])
def test_no_command_at_all(execute: Run, scratch: Scratch, command: str) -> None:
    done = execute(command)
    assert done.returncode == 2
    assert done.stderr.startswith("kafkapy: --exec: the command is empty")
    assert scratch.committed() == {}


@pytest.mark.parametrize(("command", "code"), [("no-such-command", 127), ("/", 126)])
def test_a_command_that_cannot_be_run_moves_nothing(execute: Run, scratch: Scratch, command: str, code: int) -> None:
    done = execute(f"grep -qv 0-2 || {command}")
    assert done.returncode == 1
    *_, counts, why = done.stderr.splitlines()
    assert counts == "2 records: 2 done, 0 to retry, 0 to dead letters"
    assert why.startswith(f"kafkapy: the shell cannot run 'grep -qv 0-2 || {command}': it ")
    assert why.endswith(f"(exit code {code}); stopped at offset 2 of t-0, which is neither moved nor committed")
    assert scratch.committed() == {"t-0": 2, "t-1": 0}
    assert scratch.values("t.g.dead-letter") == []
    assert execute("cat").stdout == "".join(numbered("t", 0, 4, first=2) + numbered("t", 1, 6)), "the next run goes on"


def test_the_summary_begins_a_line(scratch: Scratch) -> None:
    args = ["console-consumer", "--cluster", scratch.directory, "--topic", "t", "--group", "g", "--from-beginning"]
    command = [sys.executable, "-m", "kafkapy", *args, "--max-messages", "2", "--exec"]
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run([*command, "cat"], check=True, **outputs)  # type: ignore[call-overload]
    assert done.stdout == "t-0-0t-0-1\n2 records: 2 done, 0 to retry, 0 to dead letters\n"
    done = subprocess.run([*command, "cat; echo"], check=True, **outputs)  # type: ignore[call-overload]
    assert done.stdout == "t-0-2\nt-0-3\n2 records: 2 done, 0 to retry, 0 to dead letters\n"


def test_apart_from_the_output_the_summary_has_no_empty_line(execute: Run) -> None:
    done = execute("cat; printf x >&2", "--max-messages", "1")
    assert (done.stdout, done.stderr) == ("t-0-0", "x\n1 record: 1 done, 0 to retry, 0 to dead letters\n")
    done = execute("cat", "--max-messages", "1")
    assert (done.stdout, done.stderr) == ("t-0-1", "1 record: 1 done, 0 to retry, 0 to dead letters\n")


@pytest.mark.parametrize("after", [1, 4, 9])
def test_killed_while_it_works_everything_is_done_at_last(
    execute: Run, scratch: Scratch, tmp_path: Path, after: int
) -> None:
    """The command notes what it did, and fails the first time for two records."""
    log = tmp_path / "done"
    command = f"read v; case $v$KAFKAPY_ATTEMPT in *-41) exit 1;; esac; echo $v >> {log}; sleep 0.05"
    args = ["--topic", "t", "--group", "g", "--from-beginning", "--retry-delays", "0s", "--exec", command]
    args += ["--command-property", "auto.commit.interval.ms=100"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kafkapy", "console-consumer", "--cluster", scratch.directory, *args],
        stderr=subprocess.DEVNULL,
    )
    for _ in range(2000):
        if log.exists() and len(log.read_text().split()) >= after:
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    done = execute(command, "--retry-delays", "0s")
    assert done.returncode == 0
    assert set(log.read_text().split()) == set(numbered("t", 0, 6) + numbered("t", 1, 6))
    assert scratch.committed()["t-0"] == scratch.committed()["t-1"] == 6
    assert scratch.values("t.g.dead-letter") == []


def test_dead_letters_have_as_many_copies_as_their_source(kafkapy: Run, tmp_path: Path) -> None:
    at = ("--cluster", str(tmp_path / "three"))
    assert kafkapy("storage", "format", *at, "--brokers", "3").returncode == 0
    assert kafkapy("topics", *at, "--create", "--topic", "t", "--replica-assignment", "1:2,2:3").returncode == 0
    produce(tmp_path / "three", "t", 1, "bad")
    assert kafkapy(
        "console-consumer", *at, "--topic", "t", "--group", "g", "--from-beginning", "--exec", "false"
    ).stderr
    described = kafkapy("topics", *at, "--describe", "--topic", "t.g.dead-letter").stdout
    assert "PartitionCount: 2\tReplicationFactor: 2\t" in described
