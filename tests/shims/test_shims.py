"""A script that was written for Kafka's own tools runs unchanged through the shims."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.command_names import COMMANDS
from kafkapy.log.files import Files
from kafkapy.shims import scripts
from tests.commands.running import dirs, run


@pytest.fixture
def bin_directory(tmp_path: Path) -> Path:
    """A directory whose name a careless script would trip over."""
    return tmp_path / "it's a bin $HOME"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    make_cluster(str(tmp_path / "the cluster"), 3, files=Files(sync=False))
    return tmp_path / "the cluster"


def test_a_script_for_kafkas_tools(
    capfd: pytest.CaptureFixture[str], root: Path, bin_directory: Path, cluster: Path, tmp_path: Path
) -> None:
    assert run(capfd, "install-shims", bin_directory, "--cluster", cluster).code == 0
    work = tmp_path / "work"
    (work / "kafkapy").mkdir(parents=True)  # who calls python -m here without care would run what is in it
    environment = {**os.environ, "PATH": f"{bin_directory}:{os.environ['PATH']}", "WORK": str(work)}
    job = root / "tests" / "shims" / "job.sh"
    done = subprocess.run(["bash", job], cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [
        "k1\tfirst value",
        "k1\tthird $value",
        'k2\tsecond, "quoted" value',
        "records: 3",
        "lag: 0",
        *[line for line in done.stdout.splitlines() if line.startswith("Completed updating")],
        "cleanup.policy=compact,delete",
        "1",
        "1",
        "Cluster ID",
        "1",
        "deleted",
    ]


@pytest.mark.parametrize(
    ("script", "args", "printed"),
    [
        ("kafka-topics.sh", ["--list"], "topics-list.out"),
        ("kafka-get-offsets.sh", ["--time", "-2"], "get-offsets--2.out"),
    ],
)
def test_shims_print_what_kafkas_scripts_printed(
    capfd: pytest.CaptureFixture[str], golden: Path, bin_directory: Path, script: str, args: list[str], printed: str
) -> None:
    assert run(capfd, "install-shims", bin_directory).code == 0
    command = [bin_directory / script, "--log-dirs", dirs(golden), *args]
    done = subprocess.run(command, cwd=golden, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, (golden / "tools" / printed).read_text())


def test_a_cluster_that_the_environment_names(
    capfd: pytest.CaptureFixture[str], bin_directory: Path, cluster: Path
) -> None:
    assert run(capfd, "install-shims", bin_directory, "--bare-names").code == 0
    environment = {**os.environ, "KAFKAPY_CLUSTER": str(cluster)}
    for script, *args in (["kafka-topics", "--list"], ["kafka-cluster", "cluster-id"], ["kafka-cluster.sh", "status"]):
        done = subprocess.run([bin_directory / script, *args], env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "server",
    [
        ("--bootstrap-server", "h:1"),
        ("-bootstrap-server", "h:1"),
        ("--bootstrap-server=h:1",),
        ("-bootstrap-server=h:1",),
        ("--bootstrap-server=", "h:1"),
    ],
    ids=" ".join,
)
def test_no_spelling_reaches_a_server(
    capfd: pytest.CaptureFixture[str], bin_directory: Path, cluster: Path, server: tuple[str, ...]
) -> None:
    assert run(capfd, "install-shims", bin_directory, "--cluster", cluster).code == 0
    done = subprocess.run([bin_directory / "kafka-topics.sh", *server, "--list"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_every_shim_is_a_command_that_exists() -> None:
    assert {*scripts.COMMANDS, "cluster", "cluster-id"} <= COMMANDS.keys()


def test_shims_are_executable_and_run_this_python(capfd: pytest.CaptureFixture[str], bin_directory: Path) -> None:
    done = run(capfd, "install-shims", bin_directory)
    assert done.lines[:-1] == list(scripts.SCRIPTS) == sorted(path.name for path in bin_directory.iterdir())
    for path in bin_directory.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
        assert sys.executable in path.read_text()


def test_a_file_that_is_no_shim_is_left_alone(capfd: pytest.CaptureFixture[str], bin_directory: Path) -> None:
    bin_directory.mkdir()
    own = bin_directory / "kafka-topics.sh"
    own.write_text("#!/bin/sh\necho mine\n")
    done = run(capfd, "install-shims", bin_directory)
    assert (done.code, done.out) == (1, "")
    assert "kafka-topics.sh: not a shim of kafkapy; --force" in done.err
    assert list(bin_directory.iterdir()) == [own]
    assert run(capfd, "install-shims", bin_directory, "--force").code == 0
    assert "mine" not in own.read_text()


def test_install_again_and_uninstall(capfd: pytest.CaptureFixture[str], bin_directory: Path) -> None:
    assert run(capfd, "install-shims", bin_directory, "--bare-names").code == 0
    assert run(capfd, "install-shims", bin_directory, "--bare-names").code == 0
    own = bin_directory / "kafka-other.sh"
    own.write_text("#!/bin/sh\n")
    done = run(capfd, "install-shims", bin_directory, "--uninstall")
    assert done.out == f"Removed {2 * len(scripts.SCRIPTS)} scripts from {bin_directory}.\n"
    assert list(bin_directory.iterdir()) == [own]


def test_scripts_as_rows(capfd: pytest.CaptureFixture[str], bin_directory: Path) -> None:
    for args, is_there in (((), True), (("--uninstall",), False)):
        rows = run(capfd, "install-shims", bin_directory, *args, "--output", "jsonl").rows
        assert [row["name"] for row in rows] == list(scripts.SCRIPTS)
        assert all(row["is_there"] is is_there is Path(row["path"]).exists() for row in rows)


def test_a_cluster_directory_must_be_there(capfd: pytest.CaptureFixture[str], bin_directory: Path) -> None:
    done = run(capfd, "install-shims", bin_directory, "--cluster", "nowhere")
    assert done.code == 1
    assert "there is no cluster directory nowhere" in done.err
    assert not bin_directory.exists()
