"""A command for a record: what it is given, and what counts as a failure."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkapy.backends.exec_handler import STDERR_KEPT, ExecHandler, Failure
from kafkapy.backends.retry_topics import Delay, Origin
from kafkapy.errors import KafkapyError
from kafkapy.formats.record_batch import Header, Record
from kafkapy.log.topic_partition import TopicPartition

ORIGIN = Origin(TopicPartition("orders", 3), 42, 1000, attempts=1)
RECORD = Record(9, 5000, b"k", b"value", (Header("h", b"x"), Header("n", None), Header("kafkapy.due", b"1")))


def run(command: str, record: Record = RECORD, timeout: str | None = None) -> Failure | None:
    handler = ExecHandler(command, None if timeout is None else Delay.parse(timeout))
    try:
        return handler.run(record, ORIGIN)
    finally:
        handler.close()


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[object]:
    def told(record: Record) -> dict[bytes, bytes]:
        assert run(f"env -0 > {tmp_path}/env", record) is None
        pairs = (each.partition(b"=") for each in (tmp_path / "env").read_bytes().split(b"\0"))
        return {name: value for name, _, value in pairs if name.startswith(b"KAFKAPY_")}

    return told  # type: ignore[return-value]


def test_the_value_comes_on_standard_input_and_the_output_is_ours(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("cat; echo; echo careful >&2") is None
    assert capfd.readouterr() == ("value\n", "careful\n")


def test_the_rest_is_in_the_environment(variables: object) -> None:
    found = variables(RECORD)  # type: ignore[operator]
    headers = json.loads(found.pop(b"KAFKAPY_HEADERS"))
    assert headers == [{"key": "h", "value": "x"}, {"key": "n", "value": None}]
    expected = {"TOPIC": "orders", "PARTITION": "3", "OFFSET": "42", "TIMESTAMP": "1000", "ATTEMPT": "2", "KEY": "k"}
    assert {key.decode(): value.decode() for key, value in found.items() if key not in os.environb} == {
        f"KAFKAPY_{name}": value for name, value in expected.items()
    }


def test_null_and_bytes_that_no_environment_holds(variables: object) -> None:
    found = variables(Record(9, 0, None, None))  # type: ignore[operator]
    assert b"KAFKAPY_KEY" not in found
    assert found[b"KAFKAPY_TOMBSTONE"] == b"true"
    found = variables(Record(9, 0, b"a\0b", b""))  # type: ignore[operator]
    assert (found.get(b"KAFKAPY_KEY"), found[b"KAFKAPY_KEY_BASE64"]) == (None, b"YQBi")
    assert b"KAFKAPY_TOMBSTONE" not in found
    found = variables(Record(9, 0, b"\xff\xfe", b"", (Header("big", b"x" * 500_000),)))  # type: ignore[operator]
    assert found[b"KAFKAPY_KEY"] == b"\xff\xfe"
    assert b"KAFKAPY_HEADERS" not in found


@pytest.mark.parametrize(
    ("command", "cause"),
    [("exit 3", "exit code 3"), ("kill -9 $$", "killed by SIGKILL"), ("exit 125", "exit code 125")],
)
def test_failures(command: str, cause: str) -> None:
    failure = run(command)
    assert failure is not None
    assert failure.cause == cause


@pytest.mark.parametrize("command", ["no-such-command", "/", "exit 127"])
def test_a_command_that_the_shell_cannot_run_ends_it_all(command: str) -> None:
    with pytest.raises(KafkapyError, match=r"stopped at offset 42 of orders-3, which is neither moved nor committed$"):
        run(command)


def test_output_that_cannot_be_written_is_no_failure_of_the_command() -> None:
    """Or a full disk, or a reader that went away, would make dead letters of records."""
    code = "from tests.backends.test_exec import run; run('yes | head -c 1000000')"
    command = f"{sys.executable} -c {shlex.quote(code)} 2>&1 >/dev/full | tail -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("OSError: [Errno 28]")


def test_the_end_of_what_was_said_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    failure = run("yes | head -c 100000 >&2; echo the end >&2; exit 1")
    assert failure is not None
    assert len(failure.stderr) == STDERR_KEPT
    assert failure.stderr.endswith(b"y\nthe end")
    assert len(capfd.readouterr().err) == 100_008


def test_a_value_that_nobody_reads_and_one_after_it() -> None:
    handler = ExecHandler('head -c 3 | grep -q "$KAFKAPY_KEY"')
    assert handler.run(Record(0, 0, b"xxx", b"x" * 1_000_000), ORIGIN) is None
    assert handler.run(Record(0, 0, b"y", b"y"), ORIGIN) is None
    assert handler.run(Record(0, 0, b"y", b""), ORIGIN) is not None
    handler.close()


def test_a_time_limit_ends_the_command_and_its_children(tmp_path: Path) -> None:
    failure = run(f"(sleep 600; touch {tmp_path}/late) & echo $! > {tmp_path}/pid; wait", timeout="200ms")
    assert failure == Failure("not done within 200ms", b"")
    child = int((tmp_path / "pid").read_text())
    for _ in range(500):
        if not _is_running(child):
            return
        time.sleep(0.01)
    pytest.fail("the child goes on")


def test_a_child_that_is_left_behind_is_not_waited_for(tmp_path: Path) -> None:
    assert run(f"sleep 600 & echo $! > {tmp_path}/pid") is None
    os.kill(int((tmp_path / "pid").read_text()), 9)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
