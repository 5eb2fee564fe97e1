"""Standard streams that are closed, or take nothing more."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files

METADATA_LOG = "kafkapy-cluster/broker-1/__cluster_metadata-0/00000000000000000000.log"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A cluster with a topic and an ACL."""
    place = tmp_path_factory.mktemp("streams")
    make_cluster(str(place / "kafkapy-cluster"), 1, files=Files(sync=False))
    assert run(place, root, "topics --create --topic t").returncode == 0
    assert run(place, root, "acls --add --allow-principal User:a --operation read --topic t").returncode == 0
    return place


def run(place: Path, root: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Have a shell run kafkapy with what stands behind its name, redirections too."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KAFKAPY_")}
    env = {**kept, "PYTHONPATH": str(root), "XDG_CONFIG_HOME": str(place)}
    command = ["sh", "-c", f"exec {shlex.quote(sys.executable)} -m kafkapy {line}"]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "line",
    [
        f"metadata-shell -s {METADATA_LOG}",
        "acls --remove --topic t",
        "console-producer --topic t",
        "consumer-groups --reset-offsets --group g --from-file - --dry-run",
        "sql",
        "tour --list",
    ],
)
def test_a_closed_input_is_an_empty_one(place: Path, root: Path, line: str) -> None:
    closed, empty = run(place, root, f"{line} <&-"), run(place, root, f"{line} </dev/null")
    assert (closed.returncode, closed.stdout, closed.stderr) == (empty.returncode, empty.stdout, empty.stderr)
    assert "internal error" not in closed.stderr


def test_no_file_is_taken_for_a_closed_input(place: Path, root: Path) -> None:
    assert run(place, root, "console-producer --topic t <&-").returncode == 0
    done = run(place, root, "get-offsets --topic t")
    assert done.stdout == "t:0:0\n"


def test_no_file_is_taken_for_a_closed_output(place: Path, root: Path) -> None:
    before = (place / METADATA_LOG).read_bytes()
    done = run(place, root, f"dump-log --files {METADATA_LOG} <&- >&-")
    assert (done.returncode, done.stderr) == (1, "kafkapy: the output cannot be written: Bad file descriptor\n")
    assert (place / METADATA_LOG).read_bytes() == before


def test_an_error_is_not_told_on_stdout(place: Path, root: Path) -> None:
    done = run(place, root, "topics --list --cluster nosuch 2>&-")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("line", ["--version", "--help", "topics --help", "topics --list"])
def test_an_output_that_takes_nothing_more(place: Path, root: Path, line: str) -> None:
    for sink, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        done = run(place, root, f"{line} {sink}")
        assert (done.returncode, done.stderr) == (1, f"kafkapy: the output cannot be written: {reason}\n")
