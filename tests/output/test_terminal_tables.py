"""Tables as a person sees them: on terminals of several widths, in a pipe, with and without colour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.output.row_world import made
from tests.terminal import shown_on_terminal

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
CASES = {
    "topics": ("topics", "--describe", "--cluster", "{}"),
    "consumer-groups": ("consumer-groups", "--describe", "--all-groups", "--cluster", "{}"),
    "lag": ("lag", "--cluster", "{}"),
    "lab": ("lab", "run", "acks"),
    "log-dirs": ("log-dirs", "--describe", "--topic-list", "orders", "--cluster", "{}"),
    "status": ("cluster", "status", "--cluster", "{}"),
    "transactions": ("transactions", "list", "--cluster", "{}"),
    "throughput": ("throughput", "--cluster", "{}"),
    "dump-log": ("dump-log", "--print-data-log", "--files", "{}/broker-1/orders-0"),
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("c") / "c")


def on_terminal(args: list[str], width: int, height: int = 50, **environment: str) -> str:
    """What is shown by a terminal that is so wide."""
    own = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    command = [sys.executable, "-m", "kafkapy", *args]
    return shown_on_terminal(command, ROOT, own | {"TERM": "xterm-256color"} | environment, width, height).decode()


@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("name", CASES)
def test_no_line_is_wider_than_the_terminal(cluster: str, name: str, width: int) -> None:
    shown = on_terminal([each.format(cluster) for each in CASES[name]] + ["--output", "table"], width)
    lines = [line for line in shown.splitlines() if cluster not in line]
    assert len(lines) > 3
    assert max(map(len, lines)) <= width
    is_table = any("──" in line for line in lines)
    assert is_table or width == 40, "at 80 columns there is room for a table"
    assert "\x1b" not in shown


def test_a_pipe_has_every_column(cluster: str) -> None:
    args = [sys.executable, "-m", "kafkapy", "lag", "--cluster", cluster, "--output", "table"]
    own = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(args, cwd=ROOT, capture_output=True, text=True, check=True, env=own | {"FORCE_COLOR": "1"})
    assert "Not shown" not in done.stdout
    assert "\x1b" not in done.stdout
    assert {"rates", "rate", "verdict", "timestamp"} <= set(done.stdout.split())


def test_what_is_not_shown_is_named_and_can_be_chosen(cluster: str) -> None:
    lag = ["lag", "--cluster", cluster, "--output", "table"]
    assert "Not shown: " in (shown := on_terminal(lag, 80))
    assert "(--columns chooses)" in " ".join(shown.split())
    chosen = on_terminal([*lag, "--columns", "group,last_commit_timestamp,topic"], 80)
    assert "Not shown" not in chosen
    titles = [line.split() for line in chosen.splitlines()[: chosen.splitlines().index(next(
        line for line in chosen.splitlines() if "──" in line))]]  # fmt: skip
    assert titles[-1] == ["group", "timestamp", "topic"]


@pytest.mark.parametrize("width", [46, 60, 80, 160])
@pytest.mark.parametrize(("name", "kept"), [("lag", "VERDICT"), ("throughput", "BYTES/S")])
def test_lines_for_people_lose_the_columns_that_matter_least(cluster: str, name: str, kept: str, width: int) -> None:
    args = [each.format(cluster) for each in CASES[name]]
    own = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"COLUMNS": "60"}
    piped = subprocess.run([sys.executable, "-m", "kafkapy", *args], cwd=ROOT, capture_output=True, check=True, env=own)
    every = piped.stdout.decode().splitlines()[0].split()
    lines = [line for line in on_terminal(args, width).splitlines() if "every commit is in the log" not in line]
    assert kept in lines[0]
    _, *told = " ".join(map(str.strip, lines)).strip().split("Not shown, for lack of room: ")
    assert sorted(lines[0].split() + [title for titles in told for title in titles.split(", ")]) == sorted(every)
    assert bool(told) is (width < 160)
    assert max(map(len, lines)) <= width


def test_a_watch_tells_of_what_is_below_the_screen(cluster: str) -> None:
    watched = on_terminal(["lag", "--cluster", cluster, "--watch", "--times", "1"], 120, height=2)
    assert "... 1 of 1 rows not shown (worst first): give --group, --topic or --by group" in watched


def test_colour_is_for_terminals_that_want_it() -> None:
    lab = ["lab", "run", "two-fetch-rounds"]
    assert "\x1b[1m" in (shown := on_terminal(lab, 100))
    assert "\x1b[" in shown
    assert "\x1b" not in on_terminal(lab, 100, NO_COLOR="1")
    assert "\x1b" not in on_terminal(lab, 100, TERM="dumb")
    piped = subprocess.run([sys.executable, "-m", "kafkapy", *lab], cwd=ROOT, capture_output=True, check=True)
    assert b"\x1b" not in piped.stdout
