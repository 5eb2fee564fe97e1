"""``kafkapy lag`` on what real brokers left, on cluster directories, and on files of which the truth is known."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import Done, dirs, printed, run
from tests.group_cluster import made
from tests.lag.world import OFFSETS, P0, T0, World

Capture = pytest.CaptureFixture[str]
MINUTE = 60_000


def lag(capfd: Capture, *args: str | Path) -> Done:
    return run(capfd, "lag", *args)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(made(tmp_path_factory.mktemp("lag") / "cluster"))


@pytest.fixture(scope="module")
def minutes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten records a second for six minutes. ``slow`` reads five a second, ``dies`` all until the third minute, ``back``
    all but goes back 600 after four."""
    world = World(tmp_path_factory.mktemp("minutes"))
    for second in range(5, 361, 5):
        world.now = T0 + second * 1000
        for each in range(5):
            world.produce(P0, [world.now - 4900 + 1000 * each + 100 * number for number in range(10)])
        end = len(world.records[P0])
        world.commit("slow", P0, end // 2)
        if second <= 180:
            world.commit("dies", P0, end)
        world.commit("back", P0, end if second < 240 else end - 600)
    world.close()
    return world.directory


@pytest.mark.parametrize("group", ["active", "audit", "billing", "next-gen"])
def test_offsets_and_lag_are_those_that_kafkas_tool_printed(capfd: Capture, golden: Path, group: str) -> None:
    done = lag(capfd, "--log-dirs", dirs(golden, "crashed"), "--group", group, "--output", "jsonl")
    assert (done.code, done.err) == (0, "")
    told = [line.split() for line in printed(golden, f"groups-describe-{group}") if line.startswith(group)]
    rows = [row for row in done.rows if row["type"] == "lag"]
    columns = ("group", "topic", "partition", "committed_offset", "log_end_offset", "lag")
    assert [[str(row[name]) for name in columns] for row in rows] == [line[:6] for line in told if line[3] != "-"]


def test_the_same_lag_as_consumer_groups(capfd: Capture, directory: Path) -> None:
    """With a commit before the log's start, one past its end, groups with and without members."""
    described = run(
        capfd, "consumer-groups", "--cluster", directory, "--describe", "--all-groups", "--output", "jsonl"
    ).rows
    told = {
        (row["group"], row["topic"], row["partition"]): (row["current_offset"], row["log_end_offset"], row["lag"])
        for row in described
        if row["current_offset"] is not None
    }
    rows = [row for row in lag(capfd, "--cluster", directory, "--output", "jsonl").rows if row["type"] == "lag"]
    columns = ("committed_offset", "log_end_offset", "lag")
    found = {(row["group"], row["topic"], row["partition"]): tuple(row[name] for name in columns) for row in rows}
    assert found == told
    (trimmed,) = [row for row in rows if row["topic"] == "trimmed"]
    assert trimmed["timestamp"] - trimmed["time_lag_ms"] == T0 + 6000  # the oldest record that is left


def test_lag_as_it_was(capfd: Capture, minutes: Path) -> None:
    at = T0 + 3 * MINUTE
    done = lag(capfd, "--log-dirs", minutes, "--at", "2026-01-01T00:03:00Z", "--output", "jsonl")
    rows = {row["group"]: row for row in done.rows if row["type"] == "lag"}
    assert done.code == 0
    slow = rows["slow"]
    assert (slow["timestamp"], slow["committed_offset"], slow["log_end_offset"], slow["lag"]) == (at, 900, 1800, 900)
    assert slow["time_lag_ms"] == 89_900  # record 900 is the first one after 90 seconds
    assert (slow["produce_rate"], slow["consume_rate"]) == (10.0, 5.0)
    assert (slow["catch_up_ms"], slow["verdict"], slow["last_commit_timestamp"]) == (None, "falling behind", at)
    assert (rows["dies"]["lag"], rows["dies"]["verdict"]) == (0, "ok")
    later = lag(capfd, "--log-dirs", minutes, "--at", str(T0 + 265_000), "--output", "jsonl")
    assert {row["group"]: row["verdict"] for row in later.rows if row["type"] == "lag"} == {
        "back": "rewound",
        "dies": "stopped",
        "slow": "falling behind",
    }


def test_history_has_rows_events_and_evidence(capfd: Capture, minutes: Path) -> None:
    span = "--from", str(T0 + MINUTE), "--to", str(T0 + 6 * MINUTE)
    done = lag(capfd, "--log-dirs", minutes, "--history", *span, "--output", "jsonl")
    assert done.code == 0
    slow = [row for row in done.rows if row["type"] == "lag" and row["group"] == "slow"]
    assert [(row["timestamp"], row["lag"]) for row in slow] == [(T0 + n * MINUTE, 300 * n) for n in range(1, 7)]
    assert {row["topic"] for row in slow} == {None}
    events = [row for row in done.rows if row["type"] == "lag_event"]
    assert [(row["group"], row["event"], row["timestamp"], row["until_timestamp"], row["moved"]) for row in events] == [
        ("dies", "stop", T0 + 180_000, None, 0),
        ("back", "rewind", T0 + 240_000, None, -550),
    ]
    lags = [row for row in done.rows if row["type"] == "lag"]
    assert {(row["group"], row["commits_since_timestamp"], row["commits_whole"]) for row in lags} == {
        (group, T0 + 5000, True) for group in ("back", "dies", "slow")
    }


def test_history_as_lines(capfd: Capture, minutes: Path) -> None:
    span = "--from", str(T0 + 4 * MINUTE), "--to", str(T0 + 5 * MINUTE)
    done = lag(capfd, "--log-dirs", minutes, "--history", *span, "--group", "back", "--group", "dies")
    assert (done.code, done.lines) == (
        0,
        [
            "TIME                  GROUP  LAG  TIME-LAG     IN/S  OUT/S  CAUGHT-UP-IN  VERDICT",
            "2026-01-01T00:04:00Z  back   600  59 s 900 ms  10.0  9.2    never         rewound",
            "2026-01-01T00:05:00Z  back   600  59 s 900 ms  10.0  10.0   never         ok",
            "",
            "TIME                  GROUP  LAG   TIME-LAG     IN/S  OUT/S  CAUGHT-UP-IN  VERDICT",
            "2026-01-01T00:04:00Z  dies   600   59 s 900 ms  10.0  0.0    never         stopped",
            "2026-01-01T00:05:00Z  dies   1200  1 min 59 s   10.0  0.0    never         stopped",
            "",
            "2026-01-01T00:03:00Z  dies  orders-0: stopped at offset 1800, and has not gone on (nothing was committed)",
            "2026-01-01T00:04:00Z  back  orders-0: rewind from offset 2350 to 1800 (550 records back)",
            "",
            "back: every commit is in the log, which begins at 2026-01-01T00:00:05Z",
            "dies: every commit is in the log, which begins at 2026-01-01T00:00:05Z",
        ],
    )


def test_plot(capfd: Capture, minutes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    span = "--from", str(T0 + 5000), "--to", str(T0 + 355_000)
    done = lag(capfd, "--log-dirs", minutes, "--plot", "--step", "10s", *span, "--group", "slow")
    assert done.code == 0
    assert done.lines == [
        "slow: lag 1775, falling behind",
        "1775 ┤                              ▁▃▄█",
        "1553 ┤                          ▂▃▅▇████",
        "1331 ┤                     ▁▂▄▆█████████",
        "1109 ┤                 ▁▃▅▇█████████████",
        " 888 ┤              ▂▄██████████████████",
        " 666 ┤         ▁▃▅▇█████████████████████",
        " 444 ┤     ▂▄▆▇█████████████████████████",
        " 222 ┤▁▃▅▆██████████████████████████████",
        "   0 └──────────────────────────────────",
        "       fffffffffffffffffffffffffffffffff",
        "      2026-01-01T00:00:05Z  2026-01-01T00:05:55Z",
        "",
        "· ok   f falling behind   r rewound   = stalled   x stopped",
    ]


def test_a_directory_that_kafkapys_commands_made(capfd: Capture, tmp_path: Path) -> None:
    here = "--cluster", str(tmp_path / "c")
    run(capfd, "storage", "format", *here, "--brokers", "1")
    run(capfd, "topics", *here, "--create", "--topic", "t", "--partitions", "1", "--no-fsync")
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{number}\n" for number in range(20)))
    with lines.open() as given:
        command = [sys.executable, "-m", "kafkapy", "console-producer", *here, "--topic", "t"]
        subprocess.run(command, stdin=given, check=True, capture_output=True)
    consumer = "console-consumer", *here, "--topic", "t", "--group", "g", "--from-beginning", "--timeout-ms", "1000"
    for count in ("8", "4"):
        assert run(capfd, *consumer, "--max-messages", count).code == 0
    reset = "--reset-offsets", "--group", "g", "--topic", "t", "--to-offset", "3", "--execute"
    assert run(capfd, "consumer-groups", *here, *reset).code == 0
    done = lag(capfd, *here, "--history", "--step", "1h", "--output", "jsonl")
    rows = [row for row in done.rows if row["type"] == "lag"]
    assert (done.code, [row["lag"] for row in rows]) == (0, [17])
    events = [row for row in done.rows if row["type"] == "lag_event" and row["event"] != "stop"]
    assert [(row["event"], row["from_offset"], row["to_offset"], row["moved"]) for row in events] == [
        ("reset", 12, 3, -9)
    ]
    assert [line.split()[5] for line in lag(capfd, *here).lines[1:2]] == ["17"]


def test_two_looks(capfd: Capture, directory: Path) -> None:
    done = lag(capfd, "--cluster", directory, "--group", "simple", "--interval", "20ms", "--output", "jsonl")
    assert done.code == 0
    assert [(row["topic"], row["partition"], row["lag"], row["produce_rate"]) for row in done.rows] == [
        ("orders", 0, 6, 0.0),
        ("orders", 1, 0, 0.0),
        ("trimmed", 0, 4, 0.0),
    ]
    assert all(row["timestamp"] - row["rates_since_timestamp"] >= 20 for row in done.rows)


def test_watching_through_a_pipe(capfd: Capture, directory: Path) -> None:
    args = "--cluster", directory, "--group", "simple", "--watch", "--interval", "1ms", "--times", "3", "--by", "group"
    done = lag(capfd, *args)
    assert done.code == 0
    assert [line for line in done.lines if line.startswith("GROUP ")] == [done.lines[1]] * 3
    assert done.lines.count("") == 2
    rows = lag(capfd, *args, "--output", "csv").lines
    assert (len(rows), rows[0].split(",")[:3]) == (4, ["type", "timestamp", "group"])


def test_watching_on_a_terminal(directory: Path) -> None:
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "kafkapy", "lag", "--cluster", str(directory), "--by", "group", "--watch"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen([*command, "--interval", "1ms", "--times", "2"], stdout=terminal, env=environment)
    os.close(terminal)
    seen = b""
    try:
        while data := os.read(main, 4096):
            seen += data
    except OSError:
        pass  # the other end was closed
    os.close(main)
    assert process.wait() == 0
    assert seen.count(b"CAUGHT-UP-IN") >= 2
    assert b"\x1b[1A\x1b[2K" in seen  # the first block is taken away before the second is shown


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--at", "0", "--history"], "--at and --history ask for different times"),
        (["--at", "0", "--interval", "1s"], "--at and --interval ask for different times"),
        (["--watch", "--plot"], "--history and --watch ask for different times"),
        (["--step", "1s"], "--step: give --history too"),
        (["--times", "2"], "--times: give --watch too"),
        (["--history", "--step", "0s"], "--step: '0s' is no duration like"),
        (["--interval", "5 parsecs"], "--interval: '5 parsecs' is no duration like"),
        (["--at", "yesterday"], "--at: 'yesterday' is neither"),
        (["--history", "--from", "2", "--to", "1"], "--from is after --to"),
        (["--history", "--step", "1ms", "--from", "0"], "more than 100000 steps"),
        (["--plot", "--output", "csv"], "--plot draws"),
        (["--watch", "--output", "json"], "--watch has no end"),
    ],
)
def test_bad_usage(capfd: Capture, directory: Path, args: list[str], said: str) -> None:
    done = lag(capfd, "--cluster", directory, *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_group_that_is_not_there_is_named(capfd: Capture, directory: Path) -> None:
    done = lag(capfd, "--cluster", directory, "--group", "nope")
    assert (done.code, done.out, done.err) == (1, "", "kafkapy: there is no group nope\n")
    assert (
        lag(capfd, "--cluster", directory, "--group", "nope", "--output", "csv").lines[0].startswith("type,timestamp")
    )


def test_no_group_at_all(capfd: Capture, tmp_path: Path) -> None:
    run(capfd, "storage", "format", "--cluster", tmp_path / "c", "--brokers", "1")
    for args in ([], ["--history"], ["--plot"], ["--interval", "1ms"]):
        done = lag(capfd, "--cluster", tmp_path / "c", *args)
        assert (done.code, done.out, done.err) == (0, "", "")


def test_damage_is_told_and_the_rest_is_shown(capfd: Capture, tmp_path: Path) -> None:
    world = World(tmp_path / "logs")
    for number in range(30):
        world.now += 1000
        world.produce(P0, [world.now])
        world.commit("g", P0, number)
    world.close()
    segment = sorted((world.directory / str(OFFSETS)).glob("*.log"))[1]
    data = bytearray(segment.read_bytes())
    data[70] ^= 1
    segment.write_bytes(data)
    done = lag(capfd, "--log-dirs", world.directory)
    assert done.code == 1
    assert str(segment) in done.err
    assert done.lines[1].split()[:6] == ["g", "orders", "0", "29", "30", "1"]
    assert "of those before, compaction left the last of each partition" in done.lines[-1]
