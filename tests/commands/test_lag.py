"""``kafkapy lag`` on what real brokers left, on cluster directories, and on files of which the truth is known."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

from kafkapy.commands.lag_watch import _worked
from kafkapy.formats.time_text import utc_text
from kafkapy.lag.looks import Look, Outage
from kafkapy.output.cell_width import width_of
from tests.commands.running import Done, dirs, printed, run
from tests.group_cluster import damage_last_topic, made
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


@pytest.mark.parametrize("ways", [(), ("--history",), ("--interval", "1ms"), ("--watch", "--times", "2")])
def test_what_is_left_of_damaged_metadata_is_shown_before_the_damage_is_told(
    capfd: Capture, tmp_path: Path, ways: tuple[str, ...]
) -> None:
    cluster = Path(made(tmp_path / "cluster"))
    damage_last_topic(cluster)
    done = lag(capfd, "--cluster", cluster, "--group", "readers", *ways, "--output", "csv")
    assert done.code == 1
    assert "lag," in done.out
    assert ",readers,orders,0,7," in done.out or "--history" in ways
    assert done.err.count("damaged at byte ") == done.err.count("\n") == 1


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
        ("dies", "stop", T0 + 180_100, None, 0),  # when there was something to read again
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


@pytest.mark.parametrize(
    ("end", "step", "given", "begin", "columns"),
    [
        (360, "10s", (), 0, 2 * 37),  # a step before the first commit, at 5 s
        (360, "1m", (), -180, 7 * 10),
        (360, "1s", (), 301, 60),
        (360, "10s", ("--from", str(T0 - 20_000)), -20, 39),
    ],
)
def test_a_picture_begins_with_the_first_commit(
    capfd: Capture,
    minutes: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: int,
    step: str,
    given: tuple[str, ...],
    begin: int,
    columns: int,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    span = "--to", str(T0 + end * 1000), *given
    lines = lag(capfd, "--log-dirs", minutes, "--plot", "--step", step, "--group", "slow", *span).lines
    (axis,) = [number for number, line in enumerate(lines) if line.strip().startswith("0 └")]
    assert lines[axis].count("─") == columns
    assert lines[axis + 2].split() == [utc_text(T0 + begin * 1000), utc_text(T0 + end * 1000)]


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


@pytest.mark.parametrize("output", ["kafka", "jsonl"])
@pytest.mark.parametrize(("kind", "name", "meant"), [("group", "simpel", "simple"), ("topic", "ordres", "orders")])
def test_watching_what_is_not_there_tells_once_what_may_be_meant(
    capfd: Capture, directory: Path, output: str, kind: str, name: str, meant: str
) -> None:
    args = f"--{kind}", name, "--watch", "--interval", "1ms", "--times", "3", "--output", output
    done = run(capfd, "lag", "--cluster", directory, *args)
    assert (done.code, done.err) == (0, f"kafkapy: there is no {kind} '{name}'; did you mean '{meant}'?\n")


def test_looking_twice_at_a_group_that_is_not_there_is_not_waited_for(capfd: Capture, directory: Path) -> None:
    args = ("--cluster", directory, "--interval", "10m", "--group", "simpel")
    began = time.monotonic()
    done = lag(capfd, *args, "--group", "nope")
    assert (done.code, done.out, done.err.splitlines()) == (
        1,
        "",
        ["kafkapy: there is no group 'simpel'; did you mean 'simple'?", "kafkapy: there is no group 'nope'"],
    )
    assert time.monotonic() - began < 60


def test_looking_twice_at_a_topic_that_is_not_there_is_not_waited_for(capfd: Capture, directory: Path) -> None:
    began = time.monotonic()
    done = lag(capfd, "--cluster", directory, "--interval", "10m", "--topic", "ordres")
    assert (done.code, done.out, done.err) == (1, "", "kafkapy: there is no topic 'ordres'; did you mean 'orders'?\n")
    assert time.monotonic() - began < 60


def test_looking_twice_at_groups_of_which_one_is_not_there_shows_the_other(capfd: Capture, directory: Path) -> None:
    done = lag(capfd, "--cluster", directory, "--interval", "1ms", "--group", "simpel", "--group", "simple")
    assert (done.code, done.err) == (1, "kafkapy: there is no group 'simpel'; did you mean 'simple'?\n")
    assert done.lines[1].startswith("simple ")


def test_a_group_that_is_gone_is_told_once(capfd: Capture) -> None:
    looks = [Look(at, at, [], [], gone=frozenset(gone)) for at, gone in enumerate([(), "a", "ab", "b", "ab"])]
    assert list(_worked(looks)) == looks
    said = "is no longer there: it was deleted, or its offsets expired"
    assert capfd.readouterr().err.splitlines() == [f"kafkapy: group {group} {said}" for group in "aba"]


def test_watching_through_a_pipe_goes_on_after_an_outage(tmp_path: Path) -> None:
    here, away = Path(made(tmp_path / "here")), tmp_path / "away"
    command = [sys.executable, "-m", "kafkapy", "lag", "--cluster", str(here), "--group", "simple", "--watch"]
    options = ["--interval", "500ms", "--by", "group", "--output", "jsonl"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *options], stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        before = json.loads(process.stdout.readline())
        here.rename(away)
        begun = process.stderr.readline()
        away.rename(here)
        over = process.stderr.readline()
        after = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert begun.startswith("kafkapy: no figures since 20")
    assert f": there is no cluster directory {here}" in begun
    assert over.startswith("kafkapy: figures again at 20")
    assert (process.returncode, err) == (0, "")
    assert (after["group"], after["rates_since_timestamp"]) == ("simple", before["timestamp"])


def test_an_outage_and_what_cannot_be_read_are_told_when_they_begin(capfd: Capture) -> None:
    fine, torn = Look(T0, T0, [], []), Look(T0, T0, [], ["t-0: damaged"])
    failed = torn._replace(timestamp=T0 + 5000, outage=Outage(T0 + 5000, "nobody is there"))
    again = torn._replace(seen=T0 + 17_000)
    looks = [fine, torn, torn, failed, failed, failed._replace(outage=Outage(T0 + 5000, "who?")), again, fine, torn]
    assert list(_worked(looks)) == [fine, torn, torn, again, fine, torn]
    assert capfd.readouterr().err.splitlines() == [
        "kafkapy: t-0: damaged",
        "kafkapy: no figures since 2026-01-01T00:00:05Z: nobody is there",
        "kafkapy: figures again at 2026-01-01T00:00:17Z, after 12 s",
        "kafkapy: t-0: damaged",
    ]


def test_a_watch_whose_last_look_fails_ends_with_1(tmp_path: Path) -> None:
    here = Path(made(tmp_path / "here"))
    command = [sys.executable, "-m", "kafkapy", "lag", "--cluster", str(here), "--watch", "--interval", "500ms"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        here.rename(tmp_path / "away")
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, told[:23], err) == (1, "kafkapy: no figures sin", "")


class Screen:
    """A command on a terminal of this size, and all that it writes there."""

    def __init__(self, lines: int, *args: str) -> None:
        self._main, terminal = pty.openpty()
        self.resize(lines, 100)
        environment = {**os.environ, "TERM": "xterm"}
        for size in ("COLUMNS", "LINES"):
            environment.pop(size, None)
        command = [sys.executable, "-m", "kafkapy", "lag", *args]
        self.process = subprocess.Popen(command, stdout=terminal, env=environment)
        os.close(terminal)
        self.seen = b""

    def resize(self, lines: int, columns: int) -> None:
        """Make the window this large."""
        termios.tcsetwinsize(self._main, (lines, columns))

    def until(self, *wanted: str) -> str:
        """What it wrote since the last time, with all of this in it, wherever its lines were folded."""
        begun, shown = len(self.seen), ""
        while not all(each in shown for each in wanted):
            self.seen += os.read(self._main, 4096)
            shown = " ".join(self.seen[begun:].decode(errors="replace").split())
        return shown

    def rest(self) -> bytes:
        """All that it wrote, when it has ended."""
        with suppress(OSError):  # the other end was closed
            while data := os.read(self._main, 4096):
                self.seen += data
        os.close(self._main)
        return self.seen


def test_watching_on_a_terminal(directory: Path) -> None:
    args = ("--cluster", str(directory), "--by", "group", "--watch", "--interval", "1ms", "--times", "2")
    screen = Screen(30, *args)
    seen = screen.rest()
    assert screen.process.wait() == 0
    before, _, rest = seen.partition(b"\x1b[?1049h")
    meanwhile, _, after = rest.partition(b"\x1b[?1049l")
    assert [part.count(b"CAUGHT-UP-IN") for part in (before, meanwhile, after)] == [0, 2, 1]
    assert [len(block.splitlines()) for block in meanwhile.split(b"\x1b[H")[-2:]] == [30, 30]


@pytest.mark.parametrize(("lines", "columns"), [(10, 60), (40, 140)])
def test_a_window_of_another_size_is_written_anew(directory: Path, lines: int, columns: int) -> None:
    screen = Screen(30, "--cluster", str(directory), "--watch", "--interval", "1s", "--times", "2")
    screen.until("VERDICT")
    screen.resize(lines, columns)
    written = screen.rest().decode().partition("\x1b[?1049l")[0].split("\x1b[H")[-1]
    assert screen.process.wait() == 0
    plain = re.sub(r"\x1b\[[\d?;]*[a-z]", "", written).splitlines()
    assert [width_of(line) for line in plain] == [columns] * lines


def test_what_is_told_of_a_name_that_is_not_there_stays_on_the_screen(directory: Path) -> None:
    screen = Screen(30, "--cluster", directory, "--group", "simpel", "--watch", "--interval", "1ms", "--times", "3")
    written = screen.rest().decode()
    assert screen.process.wait() == 0
    said = "kafkapy: there is no group 'simpel'; did you mean 'simple'?"
    assert written.partition("\x1b[?1049h")[2].count(said) == 4


def test_a_screen_without_room_shows_the_worst(minutes: Path) -> None:
    """Of three groups with the same verdict, back has the least lag and the first name."""
    screen = Screen(4, "--log-dirs", str(minutes), "--watch", "--times", "1")
    shown = screen.rest().decode()
    assert screen.process.wait() == 0
    assert "dies " in shown
    assert "back " not in shown
    assert "... 2 of 3 rows not shown (worst first): give --group, --topic or --by group" in shown


def test_the_last_figures_stay_on_the_screen_while_nothing_answers(tmp_path: Path) -> None:
    here, away = Path(made(tmp_path / "here")), tmp_path / "away"
    screen = Screen(30, "--cluster", str(here), "--group", "simple", "--watch", "--interval", "500ms")
    screen.until("VERDICT")
    here.rename(away)
    screen.until("no figures since", "there is no cluster directory")
    screen.until("the last figures are from 20", "VERDICT", "simple")
    away.rename(here)
    screen.until("\x1b[32mok")  # figures that are old have no colours
    screen.process.send_signal(signal.SIGINT)
    screen.rest()
    assert screen.process.wait() == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--at", "0", "--history"], "--at and --history ask for different times"),
        (["--at", "0", "--interval", "1s"], "--at and --interval ask for different times"),
        (["--watch", "--plot"], "--history and --watch ask for different times"),
        (["--step", "1s"], "--step: give --history too"),
        (["--times", "2"], "--times: give --watch too"),
        (["--history", "--step", "0s"], "--step: '0s' is not a duration such as"),
        (["--interval", "5 parsecs"], "--interval: '5 parsecs' is not a duration such as"),
        (["--at", "yesterday"], "--at: 'yesterday' is neither"),
        (["--at", "2286-11-20T17:46:39Z"], "--at: 2286-11-20T17:46:39Z is still to come: it is 20"),
        (["--plot", "--to", "2286-11-20T17:46:39Z"], "--to: 2286-11-20T17:46:39Z is still to come: it is 20"),
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
    assert (done.code, done.out, done.err) == (1, "", "kafkapy: there is no group 'nope'\n")
    assert (
        lag(capfd, "--cluster", directory, "--group", "nope", "--output", "csv").lines[0].startswith("type,timestamp")
    )


def test_no_group_at_all(capfd: Capture, tmp_path: Path) -> None:
    run(capfd, "storage", "format", "--cluster", tmp_path / "c", "--brokers", "1")
    for args in ([], ["--history"], ["--plot"], ["--interval", "1ms"]):
        done = lag(capfd, "--cluster", tmp_path / "c", *args)
        assert (done.code, done.out, done.err) == (0, "", "kafkapy: no group has committed anything\n")


BEFORE = "2025-12-31T23:59:00Z"
FIRST = "2026-01-01T00:00:05Z"


@pytest.mark.parametrize(
    ("args", "end"),
    [
        (["--at", BEFORE], BEFORE),
        (["--at", BEFORE, "--output", "jsonl"], BEFORE),
        (["--history", "--from", "0", "--to", BEFORE, "--step", "1d"], "2025-12-31T00:00:00Z"),
        (["--plot", "--to", BEFORE], BEFORE),
    ],
)
def test_a_time_before_all_commits_is_told_with_the_first_one(
    capfd: Capture, minutes: Path, args: list[str], end: str
) -> None:
    done = lag(capfd, "--log-dirs", minutes, *args)
    said = f"kafkapy: there was no commit by {end}: the first is from {FIRST}\n"
    assert (done.code, done.out, done.err) == (0, "", said)
    done = lag(capfd, "--log-dirs", minutes, *args, "--group", "slow", "--topic", "orders")
    said = f"kafkapy: there was no commit of group slow of these topics by {end}: the first is from {FIRST}\n"
    assert (done.code, done.out, done.err) == (0, "", said)


def test_a_time_without_commits_any_more_or_that_compaction_took(capfd: Capture, tmp_path: Path) -> None:
    world = World(tmp_path / "logs")
    for number in range(30):
        world.now = T0 + 1000 * number
        world.commit("g", P0, number)
    world.commit("g", P0, None)
    world.close()
    done = lag(capfd, "--log-dirs", world.directory, "--group", "g")
    assert done.err.startswith("kafkapy: all commits of group g had expired or were deleted by ")
    world.commit("g", P0, 3)
    world.compact()
    world.close()
    done = lag(capfd, "--log-dirs", world.directory, "--at", str(T0))
    said = "nothing is known at 2026-01-01T00:00:00Z: compaction left no commit before 2026-01-01T00:00:29Z"
    assert (done.code, done.out, done.err) == (0, "", f"kafkapy: {said}\n")


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
