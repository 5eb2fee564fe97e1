"""A line of a shell in which ``kafkapy`` runs in this process: pipes, ``&&``, ``> FILE`` and ``$?`` are understood.

A line that has no kafkapy in it is bash's. One with it is divided into words here, so it must do without globs and
variables; the documentation has none.
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.in_process import run_kafkapy
from tests.tool_server import ToolRun

TIMEOUT_S = 120.0
A_WHILE_S = 2.0
ENDLESS = ("--follow", "--watch")


@dataclass(frozen=True)
class Shown:
    """What a reader sees: exit code and everything that was printed. What has no end was ended, and counts as done."""

    code: int
    text: str


class Shell:
    """Runs lines in the current directory, one after the other."""

    def __init__(self) -> None:
        self._code = 0

    def run(self, line: str) -> Shown:
        """What a line does."""
        if line == "echo $?":
            return Shown(0, f"{self._code}\n")
        shown = self._run_all(line) if "kafkapy " in line else _bash(line)
        self._code = shown.code
        return shown

    def _run_all(self, line: str) -> Shown:
        text = ""
        for pipeline in divided(words(line), "&&"):
            shown = _run_pipeline(pipeline)
            text += shown.text
            if shown.code:
                return Shown(shown.code, text)
        return Shown(0, text)


def words(line: str) -> list[str]:
    """The words of a line; operators are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&>;")
    lexer.whitespace_split = True
    return list(lexer)


def divided(line: list[str], operator: str) -> list[list[str]]:
    """What stands between the operators."""
    parts: list[list[str]] = [[]]
    for word in line:
        if word == operator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _run_pipeline(line: list[str]) -> Shown:
    target = None
    if len(line) > 2 and line[-2] == ">":
        line, target = line[:-2], Path(line[-1])
    *before, last = divided(line, "|")
    text, told = "", ""
    for stage in before:
        text, err = _feed(stage, text)
        told += err
    done = _last(last, text, together=target is None)
    if target is None:
        return Shown(done.code or 0, told + done.out)
    target.write_text(done.out)
    return Shown(done.code or 0, told + done.err)


def _feed(stage: list[str], given: str) -> tuple[str, str]:
    if stage[0] == "kafkapy":
        done = run_kafkapy(stage[1:], given, TIMEOUT_S)
        return done.out, done.err
    ran = subprocess.run(stage, input=given, text=True, capture_output=True, timeout=TIMEOUT_S, check=False)
    return ran.stdout, ran.stderr


def _last(stage: list[str], given: str, together: bool) -> ToolRun:
    if stage[0] != "kafkapy":
        shown = _bash(shlex.join(stage), given)
        return ToolRun(shown.code, shown.text, "")
    endless = any(option in stage for option in ENDLESS) or _waits_for_more(stage)
    done = run_kafkapy(stage[1:], given, A_WHILE_S if endless else TIMEOUT_S, together)
    if done.code is None:
        assert endless, f"{shlex.join(stage)} did not end"
    return done


def _waits_for_more(stage: list[str]) -> bool:
    """Whether it is a consumer of a running cluster, which ends when it is told to."""
    return stage[1] == "console-consumer" and "--bootstrap-server" in stage


def _bash(line: str, given: str = "") -> Shown:
    command, out, err = ["bash", "-c", line], subprocess.PIPE, subprocess.STDOUT
    ran = subprocess.run(command, input=given, text=True, stdout=out, stderr=err, timeout=TIMEOUT_S, check=False)
    return Shown(ran.returncode, ran.stdout)
