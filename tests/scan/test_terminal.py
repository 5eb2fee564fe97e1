"""Where the output goes: a terminal is protected from payloads, a pipe gets the bytes, and a closed pipe ends it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from tests.dumping import ROOT, environment
from tests.terminal import shown_on_terminal

NAME = "00000000000000000000.log"
NASTY = b"\x1b]0;title\x07\x1b[2J\x00 \xc2\x9b31m \x7f tab\tend \xc3\xa9"
VISIBLE = r"\x1b]0;title\x07\x1b[2J\x00 \u009b31m \u007f tab" + "\tend é"


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    path.write_bytes(encode_batch([Record(0, 5, b"k", NASTY)]))
    return path


def command(*args: str | Path) -> list[str]:
    return [sys.executable, "-m", "kafkapy", "dump-log", *map(str, args)]


def run_on_terminal(args: list[str]) -> bytes:
    """What a terminal gets to see."""
    return shown_on_terminal(args, ROOT, environment("compiled"))


def test_a_terminal_sees_controls_as_text(nasty: Path) -> None:
    shown = run_on_terminal(command("--files", nasty, "--print-data-log"))
    assert shown.decode().endswith(f" key: k payload: {VISIBLE}\n")
    assert b"\x1b" not in shown


@pytest.mark.parametrize("output", ["json", "jsonl", "csv", "table"])
def test_no_form_of_output_obeys_a_payload(nasty: Path, output: str) -> None:
    shown = run_on_terminal(command("--files", nasty, "--print-data-log", "--output", output))
    assert b"title" in shown
    for control in (b"\x1b]", b"\x1b[2J", b"\x07", b"\xc2\x9b", b"\x7f"):
        assert control not in shown


def test_what_a_terminal_sees_of_json_is_json(nasty: Path) -> None:
    shown = run_on_terminal(command("--files", nasty, "--print-data-log", "--output", "jsonl"))
    rows = [json.loads(line) for line in shown.splitlines()]
    assert NASTY.decode() in [row.get("value", row.get("payload")) for row in rows]


def test_a_pipe_gets_the_bytes(nasty: Path) -> None:
    done = subprocess.run(command("--files", nasty, "--print-data-log"), cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.endswith(b" payload: " + NASTY + b"\n")
    assert done.stderr == b""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / NAME
    batches = (
        encode_batch([Record(n, 5, b"k", b"v" * 1000) for n in range(base, base + 100)], BatchOptions(base))
        for base in range(0, 5000, 100)
    )
    path.write_bytes(b"".join(batches))
    return path


@pytest.mark.parametrize("args", [["--print-data-log"], ["--print-data-log", "--output", "jsonl"], ["--output", "csv"]])
def test_a_closed_pipe_ends_it_quietly(many: Path, args: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(command("--files", many, *args), cwd=ROOT, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, told = process.communicate()
    assert (process.returncode, told) == (141, b"")


def test_a_reader_that_leaves_in_the_middle(many: Path) -> None:
    process = subprocess.Popen(
        command("--files", many, "--print-data-log"), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == f"Dumping {many}\n".encode()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_a_full_disk_is_not_blamed_on_the_file(many: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command("--files", many), cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert str(many).encode() not in done.stderr


# the dump with a bar that does not wait for a second to pass
IMPATIENT = """
import sys
from kafkapy.output import progress
progress.PATIENCE_S = 0.0
from kafkapy.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run_impatiently(path: Path, stderr: int) -> tuple[bytes, bytes | None]:
    args = [sys.executable, "-c", IMPATIENT, "dump-log", "--files", str(path), "--print-data-log"]
    process = subprocess.Popen(args, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, env=environment("compiled"))
    out, told = process.communicate()
    assert process.returncode == 0
    return out, told


def test_progress_is_never_in_a_pipe(many: Path) -> None:
    expected, told = run_impatiently(many, subprocess.PIPE)
    assert told == b""
    mine, theirs = pty.openpty()
    try:
        out, _ = run_impatiently(many, theirs)
        assert out == expected
        assert os.read(mine, 10) != b""  # a person at the terminal does see it
    finally:
        os.close(theirs)
        os.close(mine)
