"""Running a command in this process, on the log dirs of the golden sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kafkapy.cli import main


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What ``--output jsonl`` wrote."""
        return [json.loads(line) for line in self.lines]


def run(capfd: pytest.CaptureFixture[str], *args: str | Path) -> Done:
    """What ``kafkapy`` with these arguments prints, and its exit code."""
    capfd.readouterr()
    code = main([str(arg) for arg in args])
    return Done(code, *capfd.readouterr())


def dirs(golden_set: Path, state: str = "clean", brokers: int | None = None) -> str:
    """The value of --log-dirs for all brokers of a set, or the first ones."""
    paths = sorted((golden_set / state).glob("broker-*"))
    return ",".join(map(str, paths[:brokers]))


def printed(golden_set: Path, name: str) -> list[str]:
    """What Kafka's tool printed."""
    return (golden_set / "tools" / f"{name}.out").read_text().splitlines()
