"""``kafkapy tour``: its options, where it ends early, and that nothing of it stays behind."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from kafkapy.tour.itinerary import STEPS
from tests.readable import is_readable
from tests.tour.transcript import environment, tools, tour

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def env(tmp_path: Path, path_without_java: str) -> dict[str, str]:
    """An environment whose temporary directory is ours, to see what is left there."""
    tmp_path.joinpath("tmp").mkdir()
    return environment(path_without_java, TMPDIR=str(tmp_path / "tmp"))


def left(env: dict[str, str]) -> list[str]:
    return os.listdir(env["TMPDIR"])


def test_list(env: dict[str, str]) -> None:
    done = tour("--list", env=env)
    assert [line.split(maxsplit=1) for line in done.stdout.splitlines()] == [[str(s.name), s.title] for s in STEPS]


def test_one_step(env: dict[str, str]) -> None:
    done = tour("--step", "topics", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("\n[2/11] Create topics, and see which brokers have them\n")
    assert "[1/11]" not in done.stdout
    assert "[3/11]" not in done.stdout
    assert left(env) == []


def test_a_step_that_is_none(env: dict[str, str]) -> None:
    done = tour("--step", "topcis", env=env)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "topcis" in done.stderr


def test_a_directory_that_is_not_empty_is_refused(env: dict[str, str], tmp_path: Path) -> None:
    done = tour("--keep", str(tmp_path), env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"kafkapy: --keep: {tmp_path} is not empty: name a new or an empty directory. Try 'kafkapy tour --help'.\n"
    )


def test_a_step_that_fails_ends_it_with_one_line(env: dict[str, str], tmp_path: Path) -> None:
    done = tour(env={**env, "PATH": tools(tmp_path / "bin", ("sh",))})
    assert done.returncode == 1
    assert re.fullmatch(r"kafkapy: step cluster: 'ls cluster' ended with exit code 127: .*ls.*\n", done.stderr)
    assert done.stdout.endswith("\n$ ls cluster\n")
    assert left(env) == []


def test_an_output_that_is_not_as_explained_ends_it_with_one_line(env: dict[str, str], tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", ("sh",))
    listing = Path(path) / "ls"
    listing.write_text("#!/bin/sh\necho nothing\n")
    listing.chmod(0o755)
    done = tour(env={**env, "PATH": path})
    assert done.returncode == 1
    assert done.stderr.startswith("kafkapy: step cluster: 'ls cluster' did not print what the tour explains: ")
    assert len(done.stderr.splitlines()) == 1


def test_the_users_defaults_change_nothing(env: dict[str, str], tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("defaults: {output: json}\n")
    done = tour("--step", "topics", env={**env, "KAFKAPY_CONFIG": str(config)})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\tTopic: orders\tPartition: 0\tLeader: " in done.stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_interrupted_it_tidies_up(env: dict[str, str], number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "kafkapy", "tour"]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("$ kafkapy topics --create"):
                break
        process.send_signal(number)
        process.stdout.read()
    assert process.returncode == code
    assert left(env) == []


def test_interrupted_it_keeps_what_is_to_be_kept(env: dict[str, str], tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "kafkapy", "tour", "--keep", str(kept)]
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any(line.startswith("$ kafkapy topics --create") for line in process.stdout)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
    assert (kept / "cluster" / "cluster.yaml").exists()


def on_a_terminal(env: dict[str, str], answers: list[str], *args: str) -> tuple[int, str]:
    """The exit code and what an 80 columns wide terminal is shown, when the prompts are answered so."""
    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 80))
    with subprocess.Popen(
        [sys.executable, "-m", "kafkapy", "tour", *args],
        env={**env, "TERM": "xterm-256color"}, stdin=child, stdout=child, stderr=child, close_fds=True,
    ) as process:  # fmt: skip
        os.close(child)
        text = _talk(parent, list(answers))
    os.close(parent)
    return process.returncode, text


def _talk(terminal: int, answers: list[str]) -> str:
    data, answered = b"", 0
    while is_readable(terminal, 120):
        try:
            data += os.read(terminal, 65536)
        except OSError:  # Linux tells so that nobody has the other end any more
            break
        if answers and data.count(b"q quits: ") > answered:
            answered += 1
            os.write(terminal, answers.pop(0).encode())
    return data.decode().replace("\r\n", "\n")


def test_on_a_terminal_enter_goes_on_and_q_ends(env: dict[str, str]) -> None:
    code, text = on_a_terminal(env, ["\n", "q\n"])
    assert code == 0
    assert re.findall(r"\[(\d+)/11\]", ESCAPE.sub("", text)) == ["1"]
    assert ESCAPE.search(text)
    assert left(env) == []


def test_on_a_terminal_everything_fits(env: dict[str, str]) -> None:
    code, text = on_a_terminal({**env, "NO_COLOR": "1"}, [], "--step", "dump")
    assert code == 0
    assert ESCAPE.search(text) is None
    assert [line for line in text.splitlines() if len(line) > 80] == []
    said = " ".join(text.split())
    assert "isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: " in said
    assert "endTxnMarker: ABORT coordinatorEpoch: 0 # with an ABORT" in said
