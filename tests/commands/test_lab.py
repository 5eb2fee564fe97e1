"""``kafkapy lab``: what it prints, keeps and ends in."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.lab.library import NAMES, path_of
from tests.commands.running import run

WRONG = """
title: Wrong
steps:
  - produce: m1
    expect:
      leader: 2
      2: {leo: 1, hw: 0, log: [m1]}
    assert: {acknowledged: [m1]}
  - catch-up
"""
Capture = pytest.CaptureFixture[str]


def test_list(capfd: Capture) -> None:
    done = run(capfd, "lab", "list")
    assert [line.split()[0] for line in done.lines] == list(NAMES)
    rows = run(capfd, "lab", "list", "--output", "jsonl").rows
    assert [row["name"] for row in rows] == list(NAMES)
    assert rows[0] == {
        "type": "scenario", "name": "two-fetch-rounds", "steps": 5,
        "title": "The high watermark follows the log end in two fetch rounds",
    }  # fmt: skip


def test_show(capfd: Capture) -> None:
    done = run(capfd, "lab", "show", "acks")
    assert done.lines[0] == "acks 0, 1 and all, with min.insync.replicas"
    assert "[1] produce: a, acks: 0" in done.lines
    assert "[10] produce: e, acks: all  fails: NotEnoughReplicasException" in done.lines
    assert run(capfd, "lab", "show", "acks", "--source").out == Path(path_of("acks")).read_text()
    assert run(capfd, "lab", "show", "acks", "--output", "jsonl").rows[0]["text"] == "produce: a, acks: 0"


@pytest.mark.parametrize("name", NAMES)
def test_run_fits_a_terminal(capfd: Capture, name: str) -> None:
    done = run(capfd, "lab", "run", name)
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.lines if len(line) > 80 or line != line.rstrip()] == []
    assert done.lines[-1].startswith("Played ")


def test_the_table_of_a_step(capfd: Capture) -> None:
    done = run(capfd, "lab", "run", "two-fetch-rounds", "--step", "4")
    assert (
        done.out
        == """
[4/5] fetch-request: 2
  FETCH of broker 2 from offset 1 arrives: leader 1 learns from it what broker 2
  has. The answer, without records and with high watermark 1, is on its way.
  The leader's high watermark goes from 0 to 1.
  The producer has its answer: m1 is written.

  t-0: leader 1, epoch 0, ISR 1, 2
  broker  role      in ISR  LEO  HW  remote LEO  log
       1  leader    yes       1   1              [0] m1 |
       2  follower  yes       1   0           1  | [0] m1
  acknowledged: m1
"""
    )


def test_rows(capfd: Capture) -> None:
    rows = run(capfd, "lab", "run", "two-fetch-rounds", "--output", "jsonl").rows
    replicas = [row for row in rows if row["type"] == "lab_replica"]
    assert [(row["step"], row["broker_id"]) for row in replicas] == [
        (step, broker) for step in range(6) for broker in (1, 2)
    ]
    assert replicas[-1] == {
        "type": "lab_replica", "step": 5, "topic": "t", "partition": 0, "leader": 1, "leader_epoch": 0, "isr": [1, 2],
        "elr": [], "broker_id": 2, "state": "running", "is_leader": False, "is_in_sync": True, "log_start_offset": 0,
        "log_end_offset": 1, "high_watermark": 1, "remote_log_end_offset": 1, "log": ["m1"], "log_epochs": [0],
    }  # fmt: skip
    assert {row["passed"] for row in rows if row["type"] == "lab_check"} == {True}
    consumers = run(capfd, "lab", "run", "commit-after-work", "--step", "8", "--output", "jsonl").rows
    assert [row for row in consumers if row["type"] == "lab_consumer"] == [
        {"type": "lab_consumer", "step": 8, "name": "billing", "topic": "t", "position": 3, "committed": 3,
         "in_hand": [], "done": ["a", "b", "a", "b", "c"]}
    ]  # fmt: skip


@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_other_outputs(capfd: Capture, output: str) -> None:
    done = run(capfd, "lab", "run", "commit-before-work", "--output", output)
    assert (done.code, done.err) == (0, "")
    assert "billing" in done.out


def test_what_is_not_as_expected_stands_side_by_side(capfd: Capture, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(WRONG)
    done = run(capfd, "lab", "run", path)
    assert done.code == 1
    assert done.err == f"kafkapy: {path}:6: step 1 of 2 is not as expected, in 4 of 5 values\n"
    assert done.out.endswith("""
  Not as expected:
  line  what              expected  found
     6  t-0 leader        2         1
     7  t-0 broker 2 leo  1         0
     7  t-0 broker 2 log  [m1]      []
     8  acknowledged      [m1]      []
""")
    rows = run(capfd, "lab", "run", path, "--output", "jsonl").rows
    assert [row["subject"] for row in rows if row["type"] == "lab_check" and not row["passed"]] == [
        "t-0 leader", "t-0 broker 2 leo", "t-0 broker 2 log", "acknowledged",
    ]  # fmt: skip


def test_wrong_files(capfd: Capture, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("title: a\nsteps:\n  - produc: m1\n")
    done = run(capfd, "lab", "run", path)
    assert (done.code, done.err) == (1, f"kafkapy: {path}:3: step 1: unknown key produc; did you mean 'produce'?\n")
    path.write_bytes(b"\xff\xfe")
    assert run(capfd, "lab", "run", path).err == f"kafkapy: {path}: not UTF-8\n"
    missing = run(capfd, "lab", "run", tmp_path / "none.yaml")
    assert (missing.code, missing.err) == (1, f"kafkapy: {tmp_path / 'none.yaml'}: No such file or directory\n")
    unknown = run(capfd, "lab", "run", "ack")
    assert unknown.code == 2
    assert "there is neither a scenario nor a file ack; did you mean 'acks'?" in unknown.err
    assert run(capfd, "lab", "run", "acks", "--step", "99").code == 2


def test_keep(capfd: Capture, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert run(capfd, "lab", "run", "commit-after-work", "--keep", kept).code == 0
    dumped = run(capfd, "dump-log", "--files", kept / "broker-2" / "t-0", "--print-data-log")
    assert dumped.code == 0
    assert "payload: c" in dumped.out
    described = run(capfd, "consumer-groups", "--cluster", kept / "groups", "--describe", "--group", "billing")
    assert described.code == 0
    assert described.lines[-1].split()[:4] == ["billing", "t", "0", "3"]
    again = run(capfd, "lab", "run", "acks", "--keep", kept)
    assert (again.code, "is not empty" in again.err) == (2, True)
