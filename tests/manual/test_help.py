"""``kafkapy help``: a page through man on a terminal, as text otherwise."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.command_names import JOBS, SUBCOMMANDS
from kafkapy.command_tree import command_tree, walk
from kafkapy.manual.page import page_of
from kafkapy.manual.plain_text import plain_text
from tests.commands.running import run
from tests.terminal import shown_on_terminal

HEADINGS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


def test_the_pages_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    done = run(capfd, "help")
    assert done.code == 0
    listed = [line.split()[0] for line in done.lines if line.startswith("  ") and not line.startswith("   ")]
    assert listed == [name for names in JOBS.values() for name in names]


def test_the_commands_of_commands_are_those_that_there_are() -> None:
    found = {node.path[-1]: tuple(child.path[-1] for child in node.children) for node in command_tree().children}
    assert {name: names for name, names in found.items() if names} == SUBCOMMANDS


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["topics"], "kafkapy-topics"),
        (["kafkapy-topics"], "kafkapy-topics"),
        (["kafkapy", "topics"], "kafkapy-topics"),
        (["kafka-topics.sh"], "kafkapy-topics"),
        (["cluster", "status"], "kafkapy-cluster-status"),
        (["cluster-status"], "kafkapy-cluster-status"),
        (["cluster-id"], "kafkapy-cluster-id"),
        (["kafka-metadata-quorum.sh"], "kafkapy-metadata-quorum"),
        (["kafkapy"], "kafkapy"),
    ],
)
def test_a_page_by_its_name(capfd: pytest.CaptureFixture[str], words: list[str], name: str) -> None:
    done = run(capfd, "help", *words)
    assert (done.code, done.err) == (0, "")
    assert done.lines[1].startswith(f"       {name} - ")
    assert [each for each in headings(done.out) if each != "COMMANDS"] == HEADINGS


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["topcs"], "did you mean 'topics'?"),
        (["cluster", "statu"], "did you mean 'cluster-status'?"),
        (["zzz"], "kafkapy help lists them"),
    ],
)
def test_a_page_that_is_not_there(capfd: pytest.CaptureFixture[str], words: list[str], near: str) -> None:
    done = run(capfd, "help", *words)
    assert (done.code, done.out) == (2, "")
    assert near in done.err


def test_text_has_all_of_a_page_within_its_width() -> None:
    for node in walk(command_tree()):
        lines = list(plain_text(page_of(node), 80))
        text = "\n".join(lines)
        for option in node.options:
            assert option.names[0] in text
        unfolded = re.sub(r" \\\n +", " ", re.sub(r"\|\n +", "| ", text))
        assert {line for _, line in node.examples} <= {line.strip() for line in unfolded.splitlines()}
        assert [line for line in lines if len(line) > 80 and " " in line.strip() and '"' not in line] == []


def test_a_terminal_shows_it_through_man(root: Path) -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    program = [sys.executable, "-m", "kafkapy", "help", "topics"]
    environment = {**os.environ, "MANPAGER": "cat", "PAGER": "cat", "TERM": "xterm", "MANWIDTH": "80"}
    text = shown_on_terminal(program, root, environment)
    assert text.startswith(b"KAFKAPY-TOPICS(1)")


def test_without_man_a_terminal_shows_text(root: Path, tmp_path: Path) -> None:
    terminal, shown = pty.openpty()
    program = [sys.executable, "-m", "kafkapy", "help", "topics"]
    environment = {**os.environ, "PATH": str(tmp_path)}
    process = subprocess.Popen(program, cwd=root, env=environment, stdout=shown, stdin=subprocess.DEVNULL)
    os.close(shown)
    assert os.read(terminal, 4) == b"NAME"
    process.kill()
    process.wait()
    os.close(terminal)
