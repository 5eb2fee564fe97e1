"""Metadata is written while no broker runs, and the process is killed at any byte: that is no damage.

All brokers have marks of a clean stop then, beside which a last batch that is not whole is a loss.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from random import Random

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import start_broker, stop_broker
from kafkapy.backends.maintenance import Wanted, run
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.errors import DamagedFileError
from kafkapy.log.files import Files
from kafkapy.metadata.changes import AlterConfigs, CreateTopic
from kafkapy.metadata.image import TOPIC, MetadataImage, config_record
from kafkapy.metadata.metadata_log import load_metadata
from tests.backends.contract import NOW, metadata_logs
from tests.faults import FaultyFiles, Killed, TornFiles

MARK = ".kafka_cleanshutdown"


@pytest.fixture(scope="module", params=[1, 3], ids=["one broker", "three brokers"])
def stopped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A topic, and no broker that runs."""
    directory = tmp_path_factory.mktemp("stopped") / "cluster"
    make_cluster(str(directory), request.param, files=Files(sync=False))
    cluster = opened(directory)
    cluster.apply(CreateTopic("t", 1, request.param))
    for broker_id in sorted(cluster.brokers.known):
        stop_broker(cluster, broker_id)
    cluster.close()
    return directory


def opened(directory: Path, files: Files | None = None) -> DirectoryCluster:
    return DirectoryCluster(str(directory), files or Files(sync=False), seed=1)


def log_dirs(directory: Path) -> list[str]:
    return [str(path) for path in sorted(directory.glob("broker-*"))]


def marks(directory: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in directory.glob(f"broker-*/{MARK}")}


def image(*log_dirs: str) -> MetadataImage:
    loaded = load_metadata(*log_dirs)
    assert loaded is not None
    return loaded.image


def retention(directory: Path) -> str | None:
    """Read of all brokers together, which is no error of any of them by itself."""
    for log_dir in log_dirs(directory):
        image(log_dir)
    return image(*log_dirs(directory)).config(TOPIC, "t").get("retention.ms")


def write(directory: Path, files: Files) -> None:
    """Two changes, a snapshot, behind which a new segment begins, and one more."""
    cluster = opened(directory, files)
    for value in ("1", "2"):
        cluster.apply(AlterConfigs(TOPIC, "t", {"retention.ms": value}))
    list(run(cluster, Wanted(int(time.time() * 1000), "none", snapshot=True)))
    cluster.apply(AlterConfigs(TOPIC, "t", {"retention.ms": "3"}))
    cluster.close()


def faulty(kill_at: int | None, seed: int = 0) -> FaultyFiles:
    files = FaultyFiles(kill_at, Random(seed))
    files.sync = False
    return files


@pytest.mark.parametrize("lose_unsynced", [False, True], ids=["process", "machine"])
def test_killed_at_every_write_it_is_as_before_or_after(stopped: Path, tmp_path: Path, lose_unsynced: bool) -> None:
    done = Path(shutil.copytree(stopped, tmp_path / "done"))
    files = faulty(None)
    write(done, files)
    assert (retention(done), marks(done)) == ("3", marks(stopped)), "who stopped in good order still has"
    outcomes = set()
    for kill_at in range(files.operations):
        killed = Path(shutil.copytree(stopped, tmp_path / f"killed-{kill_at}"))
        files = faulty(kill_at, seed=kill_at)
        with pytest.raises(Killed):
            write(killed, files)
        if lose_unsynced:
            files.lose_unsynced()
        files.close()
        outcomes.add(retention(killed))
        cluster = opened(killed)
        cluster.apply(AlterConfigs(TOPIC, "t", {"retention.ms": "4"}))
        start_broker(cluster, 1)
        cluster.close()
        assert retention(killed) == "4"
        assert len({log.name for log in killed.glob("*/__cluster_metadata-0/*.log")}) in (1, 2)
        again = opened(killed)
        assert again.recovered == [], "recovery is done once"
        again.close()
        shutil.rmtree(killed)
    assert outcomes == {None, "1", "2", "3"}


def test_killed_at_every_byte_the_rest_is_cut_off(stopped: Path, tmp_path: Path) -> None:
    whole = Path(shutil.copytree(stopped, tmp_path / "whole"))
    record = config_record(TOPIC, "t", "retention.ms", "1")
    before = metadata_logs(whole)
    MetadataWriter(log_dirs(whole), Files(sync=False)).append([record], NOW)
    size = len(next(iter(metadata_logs(whole)))) - len(next(iter(before)))
    for at in range(size):
        torn = Path(shutil.copytree(stopped, tmp_path / "torn"))
        with pytest.raises(Killed):
            MetadataWriter(log_dirs(torn), TornFiles(at)).append([record], NOW)
        assert retention(torn) is None
        MetadataWriter(log_dirs(torn), Files(sync=False))
        assert metadata_logs(torn) == before
        shutil.rmtree(torn)


def test_the_same_bytes_are_a_loss_where_nobody_was_writing(stopped: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(stopped, tmp_path / "cut"))
    write(cut, Files(sync=False))
    for log in cut.glob("*/__cluster_metadata-0/*.log"):
        os.truncate(log, max(0, log.stat().st_size - 9))
    with pytest.raises(DamagedFileError):
        retention(cut)
    with pytest.raises(DamagedFileError):
        opened(cut)


def test_a_copy_is_brought_up_and_killed_at_every_byte(stopped: Path, tmp_path: Path) -> None:
    behind = Path(shutil.copytree(stopped, tmp_path / "behind"))
    if len(log_dirs(behind)) == 1:
        pytest.skip("there is no other copy")
    last = next(behind.glob("broker-3/__cluster_metadata-0/*.log"))
    whole = last.read_bytes()
    last.write_bytes(b"")
    for at in range(0, len(whole), 7):
        torn = Path(shutil.copytree(behind, tmp_path / "torn"))
        with pytest.raises(Killed):
            MetadataWriter(log_dirs(torn), TornFiles(at))
        assert sorted(marks(torn)) == ["broker-1", "broker-2"]
        MetadataWriter(log_dirs(torn), Files(sync=False))
        assert metadata_logs(torn) == {whole}
        shutil.rmtree(torn)
