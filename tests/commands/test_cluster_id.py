"""cluster-id and the endpoints of clusters that are files; what takes brokers that run is refused with a hint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from tests.commands.running import dirs, printed, run

Capture = pytest.CaptureFixture[str]


def test_cluster_id(capfd: Capture, golden: Path, zk_era: Path) -> None:
    done = run(capfd, "cluster-id", "--log-dirs", dirs(golden))
    status = printed(golden, "quorum-status")[0]
    assert done == (0, f"Cluster ID: {status.split()[-1]}\n", "")
    assert run(capfd, "cluster-id", "--log-dirs", dirs(zk_era)).out.startswith("Cluster ID: ")


def test_nothing_tells_the_id(capfd: Capture, zk_era: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(zk_era / "clean" / "broker-2", saved)
    (saved / "meta.properties").unlink()
    done = run(capfd, "cluster-id", "--log-dirs", saved)
    assert done == (0, "No cluster ID found. The Kafka version is probably too old.\n", "")
    (row,) = run(capfd, "cluster-id", "--log-dirs", saved, "--output", "jsonl").rows
    assert row == {"type": "cluster", "cluster_id": None}


def test_damaged_metadata_does_not_matter(capfd: Capture, tmp_path: Path) -> None:
    make_cluster(str(tmp_path / "cluster"), 1, files=Files(sync=False))
    metadata = tmp_path / "cluster" / "broker-1" / DIRECTORY_NAME / "00000000000000000000.log"
    metadata.write_bytes(b"\xff" * 300 + metadata.read_bytes()[300:])
    done = run(capfd, "cluster-id", "--log-dirs", tmp_path / "cluster" / "broker-1")
    assert done == (0, f"Cluster ID: {read_cluster_file(str(tmp_path / 'cluster')).cluster_id}\n", "")


def test_endpoints_of_files(capfd: Capture, tmp_path: Path) -> None:
    make_cluster(str(tmp_path / "cluster"), 2, ["here", "there"], files=Files(sync=False))
    where = ("list-endpoints", "--cluster", tmp_path / "cluster")
    done = run(capfd, "cluster", *where)
    assert done.lines[0] == "ID         HOST      PORT       RACK  STATE      ENDPOINT_TYPE  "
    here, there = ["here", "unfenced", "broker"], ["there", "unfenced", "broker"]
    assert [line.split()[3:] for line in done.lines[1:]] == [here, there]
    assert run(capfd, "cluster", "kill-broker", "2", "--cluster", tmp_path / "cluster").code == 0
    assert [line.split()[3:] for line in run(capfd, "cluster", *where).lines[1:]] == [here]
    fenced = run(capfd, "cluster", *where, "--include-fenced-brokers").lines[1:]
    assert [line.split()[3:] for line in fenced] == [here, ["there", "fenced", "broker"]]


@pytest.mark.parametrize(
    "args",
    [
        ("broker-api-versions",),
        ("cluster", "unregister", "--id", "1"),
        ("features", "upgrade", "--feature", "group.version=1"),
        ("metadata-quorum", "remove-controller", "-i", "1", "-d", "AAAAAAAAAAAAAAAAAAAAAA"),
    ],
    ids=" ".join,
)
def test_what_takes_brokers_that_run(capfd: Capture, golden: Path, args: tuple[str, ...]) -> None:
    done = run(capfd, *args, "--log-dirs", dirs(golden))
    assert (done.code, done.out) == (1, "")
    assert "is not supported by a cluster that is only files: " in done.err


def test_two_spellings_of_one_option(capfd: Capture) -> None:
    done = run(capfd, "cluster-id", "-b", "localhost:1", "-c", "a", "--config", "b")
    assert done.code == 2
    assert "--config and --command-config cannot be specified together." in done.err


def test_fenced_brokers_are_not_known_to_controllers(capfd: Capture) -> None:
    done = run(capfd, "cluster", "list-endpoints", "-C", "localhost:1", "--include-fenced-brokers")
    assert done.code == 2
    assert "The option --include-fenced-brokers is only supported with --bootstrap-server option" in done.err
