"""``kafkapy consumer-groups`` on what real brokers left, and on a cluster directory of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkapy.backends.group_lock import GroupLock
from tests.commands.running import Done, dirs, printed, run
from tests.group_cluster import LONG, ORDERS, TRIMMED, WIDE, made

Capture = pytest.CaptureFixture[str]
HEADER = "GROUP           TOPIC           PARTITION  NEW-OFFSET"
LIVE = "console-consumer"
"""Groups that the tools' own runs left behind."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster directory that is only read."""
    return Path(made(tmp_path_factory.mktemp("groups") / "cluster"))


@pytest.fixture
def directory(shared: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(shared, tmp_path / "cluster"))


@pytest.fixture
def held(directory: Path) -> Iterator[None]:
    """This process speaks for the groups with members."""
    locks = [GroupLock(str(directory), group, 1_794_800_000_000) for group in ("active", "modern")]
    yield
    for lock in locks:
        lock.release()


def groups(capfd: Capture, directory: Path, *args: str | Path) -> Done:
    return run(capfd, "consumer-groups", "--cluster", directory, "--no-fsync", *args)


def offsets(capfd: Capture, directory: Path, group: str) -> dict[tuple[str, int], int]:
    rows = groups(capfd, directory, "--describe", "--group", group, "--output", "jsonl").rows
    return {(row["topic"], row["partition"]): row["current_offset"] for row in rows}


NAMES = ["audit", "billing", "next-gen", "active", "static"]
INDEX = [
    *((f"groups-describe-{name}", ("--describe", "--group", name)) for name in NAMES),
    *((f"groups-state-{name}", ("--describe", "--group", name, "--state")) for name in NAMES),
    *((f"groups-members-{name}", ("--describe", "--group", name, "--members", "--verbose")) for name in NAMES),
    *(
        (f"groups-reset-{name}", ("--reset-offsets", "--group", "billing", "--topic", "orders", "--dry-run", *args))
        for name, args in {
            "to-earliest": ("--to-earliest",),
            "to-latest": ("--to-latest",),
            "to-current": ("--to-current",),
            "to-offset": ("--to-offset", "25"),
            "to-offset-out-of-range": ("--to-offset", "99999"),
        }.items()
    ),
]


@pytest.mark.parametrize(("name", "args"), INDEX)
def test_after_a_crash_all_is_as_kafka_told_it(capfd: Capture, golden: Path, name: str, args: tuple[str, ...]) -> None:
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden, "crashed"), *args)
    assert (done.code, done.lines) == (0, printed(golden, name))
    told = golden / "tools" / f"{name}.err"
    said = [line for line in done.err.splitlines(True) if " is taken" not in line]  # Kafka only logs that
    assert "".join(said) == (told.read_text() if told.exists() else "")
    assert (len(said) != done.err.count("\n")) == name.endswith("out-of-range")


def test_after_a_clean_stop(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden), "--describe", "--all-groups")
    assert (done.code, done.lines) == (0, printed(golden, "recovered-groups-describe-all"))
    assert done.err == (golden / "tools" / "recovered-groups-describe-all.err").read_text()


@pytest.mark.parametrize(("name", "args"), [("list", ()), ("list-state", ("--state",)), ("list-type", ("--type",))])
def test_lists(capfd: Capture, golden: Path, name: str, args: tuple[str, ...]) -> None:
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden), "--list", *args)
    ours = [line.split() for line in done.lines if LIVE not in line]
    assert (done.code, sorted(ours)) == (0, sorted(line.split() for line in printed(golden, f"groups-{name}")))


def test_without_a_metadata_log(capfd: Capture, zk_era: Path) -> None:
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(zk_era), "--describe", "--all-groups")
    ours = [line for line in done.lines if LIVE not in line]
    assert [line.split() for line in ours if "old-" in line] == [
        line.split() for line in printed(zk_era, "groups-describe") if "old-" in line
    ]
    assert done.code == 0


def test_groups_that_are_not_there(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden), "--describe", "--group", "nope")
    assert (done.code, done.lines, done.err) == (1, printed(golden, "groups-describe-nope"), "")
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden), "--describe", "--group", "sharers")
    assert done.lines[1].endswith("GroupIdNotFoundException: Group sharers is not a classic group.")
    done = run(
        capfd, "consumer-groups", "--log-dirs", dirs(golden), "--describe", "--group", "nope", "--output", "jsonl"
    )
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("kafkapy: Executing consumer group command failed due to org.apache")


def test_active_groups_are_not_reset(capfd: Capture, golden: Path) -> None:
    args = ("--reset-offsets", "--group", "active", "--all-topics", "--to-latest", "--dry-run")
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.lines) == (1, printed(golden, "groups-reset-active"))


@pytest.mark.parametrize(
    "args",
    [
        ("--delete", "--group", "billing"),
        ("--delete-offsets", "--group", "billing", "--topic", "orders"),
        ("--reset-offsets", "--group", "billing", "--all-topics", "--to-latest", "--execute"),
    ],
)
def test_brokers_directories_are_never_written(capfd: Capture, golden: Path, args: tuple[str, ...]) -> None:
    done = run(capfd, "consumer-groups", "--log-dirs", dirs(golden), *args)
    assert done.code == 1
    assert "is not supported by --log-dirs" in done.err + done.out


def test_states_and_types_are_filters(capfd: Capture, shared: Path) -> None:
    def listed(*args: str) -> list[str]:
        return [row["group"] for row in groups(capfd, shared, "--list", *args, "--output", "jsonl").rows]

    assert listed() == ["active", "ahead", WIDE, "modern", "modern-empty", "readers", "simple"]
    assert listed("--state", "stable") == ["active", "modern"]
    assert listed("--state", " STABLE,empty", "--type", "consumer") == ["modern", "modern-empty"]
    assert listed("--type=classic", "--state=dead") == []


def test_rows_of_groups(capfd: Capture, shared: Path) -> None:
    done = groups(capfd, shared, "--describe", "--group", "modern", "--state", "--output", "json")
    document = json.loads(done.out)
    assert document["rows"] == [
        {
            "type": "group", "group": "modern", "group_type": "Consumer", "protocol": "consumer", "state": "Stable",
            "coordinator_id": 1, "coordinator": "127.0.0.1:19092", "assignment_strategy": "uniform", "group_epoch": 2,
            "target_assignment_epoch": 2, "members": 1,
        }
    ]  # fmt: skip
    assert done.err == "", "rows say what notes would"


def test_rows_of_members(capfd: Capture, shared: Path) -> None:
    static, moving = groups(capfd, shared, "--describe", "--group", "active", "--members", "--output", "jsonl").rows
    assert static["consumer_id"].startswith("box-7-")
    assert (static["group_instance_id"], static["current_assignment"]) == ("box-7", {ORDERS: [0, 1]})
    assert (moving["group_instance_id"], moving["partitions"], moving["target_assignment"]) == (None, 1, None)
    (modern,) = groups(capfd, shared, "--describe", "--group", "modern", "--members", "--output", "jsonl").rows
    assert modern["target_assignment"] == modern["current_assignment"] == {LONG: [0], ORDERS: [0, 1, 2]}
    assert (modern["current_epoch"], modern["target_epoch"], modern["upgraded"]) == (2, 2, True)


def test_rows_of_offsets(capfd: Capture, shared: Path) -> None:
    *_, trimmed = groups(capfd, shared, "--describe", "--group", "simple", "--output", "jsonl").rows
    assert trimmed.pop("commit_timestamp") > 0
    assert trimmed == {
        "type": "offset", "group": "simple", "group_state": "Empty", "topic": TRIMMED, "partition": 0,
        "leader_epoch": None, "current_offset": 2, "log_start_offset": 6, "log_end_offset": 10, "lag": 4,
        "consumer_id": None, "host": None, "client_id": None, "metadata": "",
    }  # fmt: skip
    (reader,) = groups(capfd, shared, "--describe", "--group", "readers", "--output", "jsonl").rows
    assert (reader["leader_epoch"], reader["metadata"]) == (0, "here")
    csv = groups(capfd, shared, "--describe", "--group", "readers", "--output", "csv").lines
    assert csv[0].split(",") == list(reader)


def test_totals(capfd: Capture, shared: Path) -> None:
    done = groups(capfd, shared, "--describe", "--group", "simple", "--totals")
    assert [line.split() for line in done.lines[1:]] == [
        ["GROUP", "TOPIC", "PARTITIONS", "UNKNOWN-LAG", "LAG"],
        ["simple", ORDERS, "2", "0", "6"],
        ["simple", TRIMMED, "1", "0", "4"],
        ["simple", "*", "3", "0", "10"],
    ]
    rows = groups(capfd, shared, "--describe", "--group", "active", "--offsets", "--totals", "--output", "jsonl").rows
    assert [row["type"] for row in rows] == ["offset"] * 3 + ["total"] * 2
    assert rows[-1] == {
        "type": "total", "group": "active", "topic": None, "partitions": 3, "partitions_with_unknown_lag": 2, "lag": 1
    }  # fmt: skip


def test_only_what_lags(capfd: Capture, shared: Path) -> None:
    def lagging(*args: str) -> list[tuple[str, str, int | None]]:
        done = groups(capfd, shared, "--describe", "--lagging", "--output", "jsonl", *args)
        return [(row["type"], row["topic"], row["lag"]) for row in done.rows]

    assert lagging("--group", "simple") == [("offset", ORDERS, 6), ("offset", TRIMMED, 4)]
    assert lagging("--group", "ahead") == []
    totals = [("total", ORDERS, 6), ("total", TRIMMED, 4), ("total", None, 10)]
    assert lagging("--group", "simple", "--totals") == [("offset", ORDERS, 6), ("offset", TRIMMED, 4), *totals]


@pytest.mark.parametrize(
    ("args", "first"),
    [
        (("--list", "--state", "Dead"), "type,group,group_type,protocol,state,"),
        (("--describe", "--group", "ahead", "--lagging"), "type,group,group_state,topic,partition,"),
        (("--describe", "--group", "simple", "--members"), "type,group,group_state,consumer_id,"),
        (("--reset-offsets", "--dry-run", "--group", "new", "--all-topics", "--to-latest"), "type,group,topic,"),
    ],
)
def test_nothing_to_show(capfd: Capture, shared: Path, args: tuple[str, ...], first: str) -> None:
    csv = groups(capfd, shared, *args, "--output", "csv")
    assert len(csv.lines) == 1
    assert csv.out.startswith(first)
    assert groups(capfd, shared, *args, "--output", "table").out == "(no rows)\n"
    assert groups(capfd, shared, *args, "--output", "json").out == '{"schema_version":1,"rows":[]}\n'
    assert groups(capfd, shared, *args, "--output", "jsonl").out == ""


def test_a_dry_run_changes_nothing(capfd: Capture, directory: Path) -> None:
    files = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    args = ("--reset-offsets", "--group", "readers", "--topic", ORDERS, "--to-earliest")
    done = groups(capfd, directory, *args)
    assert (done.code, done.err.partition(" as the")[0]) == (0, "WARN: No action will be performed")
    assert groups(capfd, directory, *args, "--dry-run").err == ""
    assert done.lines == ["", HEADER, *(f"{'readers':<15} {ORDERS:<15} {number:<10} 0" for number in range(3))]
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == files


def test_a_reset_is_committed(capfd: Capture, directory: Path) -> None:
    args = ("--reset-offsets", "--group", "simple", "--all-topics", "--to-datetime", "2026-01-01T00:00:03.001")
    done = groups(capfd, directory, *args, "--execute")
    assert (done.code, done.err) == (0, "")
    assert offsets(capfd, directory, "simple") == {(ORDERS, 0): 4, (ORDERS, 1): 4, (TRIMMED, 0): 6}
    done = groups(capfd, directory, "--reset-offsets", "--group", "new", "--topic", LONG, "--to-latest", "--execute")
    assert done.code == 0
    assert offsets(capfd, directory, "new") == {(LONG, 0): 2}


def test_before_1970_is_the_beginning(capfd: Capture, shared: Path) -> None:
    for option in (("--to-datetime", "1969-12-31T23:59:59.999"), ("--by-duration", "P99999D"), ("--to-timestamp", "0")):
        args = ("--reset-offsets", "--dry-run", "--group", "simple", "--topic", f"{ORDERS}:0", *option)
        assert groups(capfd, shared, *args).lines[2].split()[-1] == "0", option


def test_rows_of_resets(capfd: Capture, directory: Path) -> None:
    args = ("--reset-offsets", "--group", "simple", "--topic", TRIMMED, "--to-offset", "0", "--execute")
    assert groups(capfd, directory, *args, "--output", "jsonl").rows == [
        {
            "type": "reset", "group": "simple", "topic": TRIMMED, "partition": 0, "current_offset": 2, "new_offset": 6,
            "log_start_offset": 6, "log_end_offset": 10, "executed": True,
        }
    ]  # fmt: skip


def test_offsets_of_another_group(capfd: Capture, directory: Path) -> None:
    done = groups(capfd, directory, "--reset-offsets", "--group", "copy", "--to-group", "simple", "--execute")
    assert done.code == 0
    assert offsets(capfd, directory, "copy") == offsets(capfd, directory, "simple")
    done = groups(capfd, directory, "--reset-offsets", "--group", "copy", "--to-group", "nobody", "--execute")
    assert (done.code, done.lines[1]) == (
        1,
        "Error: Executing consumer group command failed due to Group nobody not found.",
    )


@pytest.mark.parametrize("named", [("simple",), ("simple", "readers")])
def test_an_export_is_read_again(capfd: Capture, directory: Path, tmp_path: Path, named: tuple[str, ...]) -> None:
    options = [word for group in named for word in ("--group", group)]
    before = {group: offsets(capfd, directory, group) for group in named}
    file = tmp_path / "offsets.csv"
    to_current = ("--reset-offsets", *options, "--all-topics", "--to-current", "--dry-run", "--export")
    file.write_text(groups(capfd, directory, *to_current).out)
    for action in (("--all-topics", "--to-latest"), ("--from-file", str(file))):
        assert groups(capfd, directory, "--reset-offsets", *options, *action, "--execute").code == 0
    after = {group: offsets(capfd, directory, group) for group in named}
    before["simple"][TRIMMED, 0] = 6  # before the log start
    assert after == before


def test_failures_of_a_reset(capfd: Capture, shared: Path, tmp_path: Path) -> None:
    def failed(*args: str) -> tuple[str, str]:
        done = groups(capfd, shared, "--reset-offsets", "--dry-run", "--group", "readers", *args)
        assert done.code == 1
        return done.lines[1].removeprefix("Error: Executing consumer group command failed due to "), done.err

    unknown = "This server does not host this topic-partition."
    assert failed("--topic", "nope", "--to-latest") == (unknown, "kafkapy: there is no topic 'nope'\n")
    file = tmp_path / "bad.csv"
    file.write_text(f"{ORDERS},0\n")
    assert failed("--from-file", str(file)) == (f"{file}, line 1: '{ORDERS},0' is not topic,partition,offset", "")
    file.write_text(f"{ORDERS},0,1\nnope,0,1\n")
    told, note = failed("--from-file", str(file))
    assert told.endswith(unknown)
    assert note == f"kafkapy: {file}, line 2: there is no topic 'nope'\n"
    missing = groups(capfd, shared, "--reset-offsets", "--group", "g", "--from-file", str(tmp_path / "none"))
    assert (missing.code, missing.err.splitlines()[-1]) == (
        1,
        f"kafkapy: {tmp_path / 'none'}: No such file or directory",
    )


@pytest.mark.parametrize(
    ("args", "line", "hint"),
    [
        (("--by-duration", "1d"), "Text cannot be parsed to a Duration", "'1d' is not PnDTnHnMnS, such as P1D "),
        (("--by-duration", "P999999999999D"), "Instant exceeds minimum", "'P999999999999D' ago is outside of the cal"),
        (
            ("--to-datetime", "2026-01-01T00:00:00"),
            'java.text.ParseException: Unparseable date: "2026-01-01T00:00:00Z"',
            "'2026-01-01T00:00:00' is not YYYY-MM-DDThh:mm:ss.sss, such as ",
        ),
    ],
)
def test_times_that_cannot_be_read(capfd: Capture, shared: Path, args: tuple[str, str], line: str, hint: str) -> None:
    reset = ("--reset-offsets", "--dry-run", "--group", "readers", "--topic", ORDERS, *args)
    done = groups(capfd, shared, *reset)
    assert done.code == 2
    assert done.lines[1].startswith(f"Error: Executing consumer group command failed due to {line}")
    assert done.err.startswith(f"kafkapy: {args[0]}: {hint}")
    assert groups(capfd, shared, *reset, "--output", "json") == (2, "", done.err)


def test_moved_offsets_are_told(capfd: Capture, shared: Path) -> None:
    done = groups(
        capfd, shared, "--reset-offsets", "--dry-run", "--group", "readers", "--topic", f"{ORDERS}:0",
        "--to-offset", "99",
    )  # fmt: skip
    assert (done.code, done.lines[-1].split()) == (0, ["readers", ORDERS, "0", "10"])
    assert done.err == f"kafkapy: offset 99 of {ORDERS}-0 is past the log's end, 10: 10 is taken\n"


def test_offsets_from_stdin(shared: Path) -> None:
    command = [sys.executable, "-m", "kafkapy", "consumer-groups", "--cluster", str(shared), "--reset-offsets"]
    command += ["--dry-run", "--group", "readers", "--export", "--from-file", "-"]
    done = subprocess.run(command, input=f"{ORDERS},0,3\n\n{ORDERS},1,x\n", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "stdin, line 3: the offset 'x' is not a number" in done.stdout
    done = subprocess.run(command, input=f"{ORDERS},0,3\n\n{ORDERS},1,2\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{ORDERS},0,3\n{ORDERS},1,2\n\n")


def test_client_configs_are_for_running_clusters(capfd: Capture, shared: Path, tmp_path: Path) -> None:
    done = groups(capfd, shared, "--list", "--command-config", tmp_path / "client.properties")
    assert done.code == 2
    assert "--command-config goes with --bootstrap-server" in done.err


def test_groups_are_deleted(capfd: Capture, directory: Path, held: None) -> None:
    done = groups(capfd, directory, "--delete", "--group", "simple", "--group", "active", "--group", "nope")
    assert done.code == 1
    assert [line[:60] for line in done.lines] == [
        "",
        "Error: Deletion of some consumer groups failed:",
        "* Group 'active' could not be deleted due to: org.apache.kaf",
        "* Group 'nope' could not be deleted due to: org.apache.kafka",
        "",
        "These consumer groups were deleted successfully: 'simple'",
    ]
    rows = groups(capfd, directory, "--delete", "--all-groups", "--output", "jsonl").rows
    assert {row["group"]: row["error"] is None for row in rows} == {
        "active": False, "ahead": True, WIDE: True, "modern": False, "modern-empty": True, "readers": True
    }  # fmt: skip
    assert groups(capfd, directory, "--list").lines == ["active", "modern"]


def test_offsets_are_deleted(capfd: Capture, directory: Path, held: None) -> None:
    done = groups(
        capfd, directory, "--delete-offsets", "--group", "simple", "--topic", f"{ORDERS}:0", "--topic", TRIMMED
    )
    assert (done.code, done.lines[0]) == (0, "Request succeeded for deleting offsets from group simple.")
    assert offsets(capfd, directory, "simple") == {(ORDERS, 1): 5}
    rows = groups(
        capfd,
        directory,
        "--delete-offsets",
        "--group",
        "active",
        "--topic",
        ORDERS,
        "--topic",
        "nope",
        "--output",
        "jsonl",
    ).rows
    assert [(row["topic"], row["partition"]) for row in rows] == [
        ("nope", None),
        *((ORDERS, each) for each in range(3)),
    ]
    assert all(row["error"] for row in rows)
    done = groups(capfd, directory, "--delete-offsets", "--group", "nope", "--topic", ORDERS)
    assert (done.code, done.lines[1]) == (1, "Error: The group id does not exist.")


RESETTING = ("--reset-offsets", "--topic", ORDERS, "--to-earliest", "--execute", "--group")


@pytest.mark.parametrize("group", ["active", "modern"])
@pytest.mark.parametrize(
    "change", [RESETTING, ("--delete", "--group"), ("--delete-offsets", "--topic", ORDERS, "--group")]
)
def test_members_whose_process_is_gone_do_not_stand_in_the_way(
    capfd: Capture, directory: Path, group: str, change: tuple[str, ...]
) -> None:
    before = groups(capfd, directory, "--describe", "--members", "--group", group, "--output", "jsonl").rows
    done = groups(capfd, directory, *change, group)
    assert done.code == 0
    assert done.err.splitlines() == [
        f"kafkapy: removed member {member} of group {group}: its process ended without leaving"
        for member in sorted(row["consumer_id"] for row in before)
    ]
    listed = groups(capfd, directory, "--list", "--state", "--output", "jsonl").rows
    assert [row["state"] for row in listed if row["group"] == group] == ([] if "--delete" in change else ["Empty"])


@pytest.mark.parametrize(
    "change", [RESETTING, ("--delete", "--group"), ("--delete-offsets", "--topic", ORDERS, "--group")]
)
def test_the_process_that_speaks_for_members_is_named(
    capfd: Capture, directory: Path, held: None, change: tuple[str, ...]
) -> None:
    done = groups(capfd, directory, *change, "active")
    assert done.code == 1
    since = "2026-11-16T03:33:20Z"
    assert done.err == f"kafkapy: group active is consumed by process {os.getpid()} since {since}: stop it first\n"
    assert "active" in groups(capfd, directory, "--list", "--state", "stable").out


def test_a_dry_run_says_what_would_be_removed_first(capfd: Capture, directory: Path) -> None:
    args = ("--reset-offsets", "--dry-run", "--topic", ORDERS, "--to-earliest", "--group", "modern")
    done = groups(capfd, directory, *args)
    assert done.code == 1
    assert done.err.startswith(
        "kafkapy: no process is in group modern any more: with --execute, the members that one left behind are removed"
    )


def test_regular_expressions(capfd: Capture) -> None:
    done = run(capfd, "consumer-groups", "--validate-regex", "orders-.*")
    assert (done.code, done.lines) == (0, ["The regular expression `orders-.*` is valid."])
    done = run(capfd, "consumer-groups", "--validate-regex", "(?=a)")
    assert (done.code, done.lines) == (
        1,
        ["The regular expression `(?=a)` is invalid: invalid or unsupported Perl syntax."],
    )
    rows = run(capfd, "consumer-groups", "--validate-regex", "(", "--output", "jsonl").rows
    assert rows == [{"type": "regex", "regex": "(", "valid": False, "error": "missing closing )"}]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, "),
        (("--list", "--delete", "--all-groups"), "Command must include exactly one action"),
        (("--list", "--describe"), "Command must include exactly one action"),
        (("--list", "--lagging"), "Option(s) [lagging] are unavailable given other options on the command line"),
        (
            ("--reset-offsets", "--group", "g", "--all-topics", "--to-latest", "--export", "--output", "csv"),
            "--export and --output both choose how to print: give only one of them. Try ",
        ),
        (
            ("--reset-offsets", "--group", "g", "--all-topics", "--to-timestamp", "2026-01-01"),
            "--to-timestamp: '2026-01-01' is not epoch milliseconds, such as ",
        ),
        (("--reset-offsets", "--group", "g", "--all-topics", "--to-timestamp", "-1"), "--to-timestamp: '-1' is not "),
        (("--describe",), "Option [describe] takes one of these options: [group], [all-groups]"),
        (("--describe", "--group", "g", "--state", "empty"), "Option [describe] does not take a value for [state]"),
        (
            ("--describe", "--group", "g", "--totals", "--members"),
            'Option "[totals]" can\'t be used with option "[members]"',
        ),
        (("--list", "--totals"), "Option(s) [totals] are unavailable given other options on the command line"),
        (("--list", "--state", "bogus"), "Invalid state list 'bogus'. Valid states are: "),
        (("--list", "--type", "share"), "Invalid types list 'share'. Valid types are: Classic, Consumer"),
        (
            ("--reset-offsets", "--group", "g", "--to-latest"),
            "One of the reset scopes should be defined: --all-topics, --topic. Try ",
        ),
        (("--reset-offsets", "--group", "g", "--all-topics"), "Option '[reset-offsets]' requires one of the following"),
        (
            ("--reset-offsets", "--group", "g", "--all-topics", "--to-offset", "0", "--to-group", "h"),
            'Option "[to-offset]" can\'t be used with option "[to-group]"',
        ),
        (("--reset-offsets", "--group", "readers", "--topic", ORDERS, "--shift-by", "1"), "Cannot shift offset for"),
        (
            ("--delete-offsets", "--group", "g", "--group", "h", "--topic", "t"),
            "Found multiple arguments for option group",
        ),
    ],
)
def test_usage(capfd: Capture, shared: Path, args: tuple[str, ...], message: str) -> None:
    done = run(capfd, "consumer-groups", "--cluster", shared, *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith(f"kafkapy: {message}")


def test_damaged_records_are_told_and_skipped(capfd: Capture, directory: Path) -> None:
    """A byte of a batch of ``__consumer_offsets`` is turned: what else is there is shown."""
    before = groups(capfd, directory, "--list").lines
    segments = [path for path in directory.rglob("__consumer_offsets-*/*.log") if path.stat().st_size]
    segment = max(segments, key=lambda path: path.stat().st_size)
    data = bytearray(segment.read_bytes())
    data[80] ^= 1
    segment.write_bytes(data)
    done = groups(capfd, directory, "--list")
    assert done.code == 1
    assert set(done.lines) <= set(before)
    assert done.err.startswith(f"kafkapy: {segment}: damaged at byte 0: Record is corrupt (stored crc = ")
    assert done.err.endswith("is not read\n")
    described = groups(capfd, directory, "--describe", "--all-groups", "--output", "jsonl")
    assert (described.code, described.err) == (1, done.err)
    assert {row["group"] for row in described.rows} <= set(before)


def test_a_cluster_without_groups(capfd: Capture, tmp_path: Path) -> None:
    cluster = tmp_path / "empty"
    assert run(capfd, "storage", "format", "--cluster", cluster, "--brokers", "1").code == 0
    for args in (("--list",), ("--describe", "--all-groups")):
        done = groups(capfd, cluster, *args)
        assert (done.code, done.out, done.err) == (0, "", "")
    done = groups(capfd, cluster, "--delete", "--all-groups")
    assert done.lines == ["Deletion of requested consumer groups () was successful."]
    assert groups(capfd, cluster, "--describe", "--group", "g").code == 1
