"""``kafkapy groups``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import dirs, printed, run
from tests.coordinator import typed_groups

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typed_groups.made(tmp_path_factory.mktemp("groups") / "cluster")


def listed(capfd: Capture, directory: Path, *args: str) -> list[str]:
    return [line.split()[0] for line in run(capfd, "groups", "--cluster", directory, "--list", *args).lines[1:]]


def test_what_kafkas_tool_printed(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "groups", "--log-dirs", dirs(golden), "--list")
    # the tools' own groups came later, and make the columns wider
    ours = [line.split() for line in done.lines if not line.startswith("console-consumer-")]
    assert sorted(ours) == sorted(line.split() for line in printed(golden, "groups-command-list"))
    assert done.code == 0


def test_columns_have_one_width(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "groups", "--log-dirs", dirs(golden), "--list", "--share")
    assert done.out == (
        "GROUP                TYPE                 PROTOCOL            \n"
        "sharers              Share                share                \n"
    )


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), ["counters", "fresh", typed_groups.IDLE, "simple", "split", "stopped", "workers"]),
        (("--consumer",), ["simple"]),
        (("--share",), ["fresh", typed_groups.IDLE, "workers"]),
        (("--streams",), ["counters", "split", "stopped"]),
        (("--group-type", "CLASSIC"), ["simple"]),
        (("--protocol", "share"), ["fresh", typed_groups.IDLE, "workers"]),
        (("--protocol", "share", "--group-type", "streams"), []),
    ],
)
def test_filters(capfd: Capture, directory: Path, args: tuple[str, ...], expected: list[str]) -> None:
    assert listed(capfd, directory, *args) == expected


def test_rows(capfd: Capture, directory: Path) -> None:
    rows = run(capfd, "groups", "--cluster", directory, "--list", "--streams", "--output", "jsonl").rows
    assert rows[1] == {
        "type": "group", "group": "split", "group_type": "Streams", "protocol": "streams", "state": "Assigning",
    }  # fmt: skip


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--list", "--share", "--streams"),
        ("--list", "--consumer", "--group-type", "share"),
        ("--list", "--streams", "--protocol", "x"),
        ("--list", "--group-type", "nothing"),
    ],
)
def test_bad_usage(capfd: Capture, directory: Path, args: tuple[str, ...]) -> None:
    done = run(capfd, "groups", "--cluster", directory, *args)
    assert (done.code, done.out) == (2, "")
    if "nothing" in args:
        assert "--group-type must be a valid group type: classic, consumer, share, streams. Try" in done.err
