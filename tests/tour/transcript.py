"""The tour as somebody takes it in a pipe: what was shown, taken apart into commands, what they printed, and notes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from kafkapy.tour.itinerary import STEPS
from kafkapy.tour.step import Command, StepName

NOTE = "  # "
TOOLS = ("sh", "ls", "sed", "seq")
"""What the tour's commands need beside kafkapy; none of them is Java."""


class Shown(NamedTuple):
    """A command of the tour as it was shown."""

    command: Command
    output: str
    notes: str


class Transcript(NamedTuple):
    """A whole tour. ``preparations`` are the lines that are to be typed before all others."""

    directory: Path
    text: str
    preparations: list[str]
    shown: dict[StepName, list[Shown]]


def tools(directory: Path, names: tuple[str, ...] = TOOLS) -> str:
    """A PATH with these programs alone."""
    directory.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None, name
        directory.joinpath(name).symlink_to(found)
    return str(directory)


def environment(path: str, **others: str) -> dict[str, str]:
    """An environment that knows of no cluster, no Java, and no config but those that are given."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKAPY_", "JAVA_"))}
    return {**ours, "PATH": path, "KAFKAPY_CONFIG": "/nonexistent/config.yaml", **others}


def tour(*args: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What ``kafkapy tour`` prints in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "kafkapy", "tour", *args],
        env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


def read(text: str, directory: Path) -> Transcript:
    """Take a tour apart; every command has to be there as it stands in the steps, a step that was skipped has none."""
    introduction, _, rest = text.partition("\n[1/")
    preparations = [line[2:] for line in introduction.splitlines() if line.startswith("$ ")]
    shown: dict[StepName, list[Shown]] = {}
    for number, step in enumerate(STEPS, 1):
        body, _, rest = rest.partition(f"\n[{number + 1}/" if number < len(STEPS) else "\nThe end of the tour")
        if "\nSkipped: " not in body:
            shown[step.name] = _shown(step.commands, body)
    return Transcript(directory, text, preparations, shown)


def _shown(commands: tuple[Command, ...], body: str) -> list[Shown]:
    parts = []
    for command in commands:
        before, found, body = body.partition(f"\n$ {command.line}\n")
        assert found, command.line
        parts.append(before)
    return [_apart(command, part) for command, part in zip(commands, [*parts[1:], body], strict=True)]


def _apart(command: Command, part: str) -> Shown:
    lines = part.removesuffix("\n").split("\n") if part else []
    notes = " ".join(line.removeprefix(NOTE) for line in lines if line.startswith(NOTE))
    return Shown(command, "".join(f"{line}\n" for line in lines if not line.startswith(NOTE)), notes)
