"""Partition directories that somebody moved or copied between the log dirs of a broker."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.cluster import EARLIEST
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.failures import start_broker, stop_broker
from tests.backends.contract import batch, opened, values
from tests.backends.three_brokers import (
    ALONE,
    LOG,
    MARK,
    P0,
    do,
    make_three_brokers,
    nothing,
    produce,
    read,
    registration,
    told,
)
from tests.commands.running import run
from tests.faults import FaultyFiles, Killed

CHECKPOINTS = ("log-start-offset-checkpoint", "replication-offset-checkpoint", "recovery-point-offset-checkpoint")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_three_brokers(tmp_path_factory.mktemp("pristine") / "cluster", log_dirs=2)


@pytest.fixture
def directory(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "cluster"))


def place(directory: Path, name: str = "t-0") -> Path:
    """Where broker 1 has a partition."""
    (found,) = directory.glob(f"broker-1*/{name}")
    return found


def elsewhere(path: Path) -> Path:
    """The same in the other log dir of broker 1."""
    others = {"broker-1": "broker-1-2", "broker-1-2": "broker-1"}
    return path.parent.with_name(others[path.parent.name]) / path.name


def assigned(directory: Path) -> Path:
    """Where the metadata says that broker 1 has t-0."""
    path: str = do(directory, lambda cluster: dict(cluster.places.of_broker(1))[_id(cluster)].path(P0))
    return Path(path)


def _id(cluster: DirectoryCluster) -> str:
    return cluster.places.registration(P0).directory(1)


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
def test_a_directory_that_was_moved_is_the_replica_where_it_is(directory: Path, is_clean: bool) -> None:
    before, old = registration(directory), place(directory)
    new = elsewhere(old)
    shutil.move(old, new)
    for mark in () if is_clean else directory.glob(f"*/{MARK}"):
        mark.unlink()
    (line,) = told(directory, produce)
    assert line == f"{new}: its directory was moved here, and the metadata says so now"
    assert (registration(directory).leader, registration(directory).isr) == (before.leader, before.isr)
    assert (assigned(directory), old.exists()) == (new, False)
    assert read(directory) == [b"a", b"b", b"c"]
    assert told(directory, nothing) == []


def test_what_was_deleted_stays_so_where_a_directory_is_moved(directory: Path) -> None:
    do(directory, lambda cluster: cluster.delete_records(ALONE, 1))
    old = place(directory, "alone-0")
    shutil.move(old, elsewhere(old))
    do(directory, nothing)
    start: int = do(directory, lambda cluster: cluster.offset(ALONE, EARLIEST))
    assert start == 1
    assert not [name for name in CHECKPOINTS if "alone" in (old.parent / name).read_text()]


def test_what_is_kept_of_another_topic_is_not_of_the_one_that_was_moved(directory: Path) -> None:
    old = place(directory, "alone-0")
    shutil.copytree(old, elsewhere(old))
    (old / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAw")
    (old.parent / CHECKPOINTS[0]).write_text("0\n1\nalone 0 9\n")
    moved, aside = told(directory, nothing)
    assert moved.startswith(f"{elsewhere(old)}: its directory was moved here")
    assert aside.startswith(f"{old}: set aside as alone-0.")
    assert read(directory, ALONE) == [b"a", b"b"]


def test_leader_epochs_that_cannot_be_read_are_no_reason_not_to_find_it(directory: Path) -> None:
    old = place(directory)
    shutil.move(old, elsewhere(old))
    (elsewhere(old) / "leader-epoch-checkpoint").write_text("rubbish")
    moved, anew = told(directory, produce)
    assert "its directory was moved here" in moved
    assert "wrote leader-epoch-checkpoint anew" in anew
    assert read(directory) == [b"a", b"b", b"c"]


def test_a_broker_that_was_down_meanwhile_finds_it_when_it_starts(directory: Path) -> None:
    do(directory, stop_broker, 1)
    old = place(directory)
    shutil.move(old, elsewhere(old))
    assert told(directory, produce) == []
    assert [line for line in told(directory, start_broker, 1) if "t-0: its directory was moved here" in line]
    assert assigned(directory) == elsewhere(old)


def test_of_two_directories_the_one_of_the_metadata_is_the_replica(directory: Path) -> None:
    old = place(directory)
    shutil.copytree(old, elsewhere(old))
    (line,) = told(directory, produce)
    assert line.startswith(f"{elsewhere(old)}: set aside as t-0.")
    assert line.endswith(f"-stray: broker 1 also has it in {old.parent}")
    assert (assigned(directory), elsewhere(old).exists()) == (old, False)
    assert read(directory) == [b"a", b"b", b"c"]
    assert len(list(elsewhere(old).parent.glob("t-0.*-stray/*.log"))) == 1, "nothing is lost"
    assert told(directory, nothing) == []


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
def test_an_interrupted_move_is_finished(directory: Path, is_clean: bool) -> None:
    """``mv`` to another disk had copied all, and removed some of it."""
    do(directory, lambda cluster: cluster.delete_records(ALONE, 1))
    old = place(directory, "alone-0")
    new = Path(shutil.copytree(old, elsewhere(old)))
    (old / LOG).unlink()
    for mark in () if is_clean else directory.glob(f"*/{MARK}"):
        mark.unlink()
    moved, aside = told(directory, lambda cluster: cluster.append(ALONE, batch(b"c")))
    assert moved == f"{new}: its directory was moved here, and the metadata says so now"
    assert aside.startswith(f"{old}: set aside as alone-0.")
    assert read(directory, ALONE) == [b"a", b"b", b"c"]
    assert do(directory, lambda cluster: cluster.offset(ALONE, EARLIEST)) == 1, "within the first batch"
    assert told(directory, nothing) == []


def test_the_doctor_finds_two_directories(capfd: pytest.CaptureFixture[str], directory: Path) -> None:
    old = place(directory)
    copy = Path(shutil.copytree(old, directory.parent / "copy"))
    do(directory, produce)
    shutil.move(copy, elsewhere(old))
    done = run(capfd, "doctor", "--cluster", directory, "--quick", "--output", "jsonl")
    (row,) = [row for row in done.rows if row["severity"] == "error" and "both" in row["text"]]
    assert row["place"] == str(directory / "broker-1-2" / "t-0")
    assert row["text"] == f"is also in {directory / 'broker-1'}: broker 1 does not start with both"
    assert row["remedy"].endswith(f"mv {elsewhere(old)} /somewhere/else"), "it lacks a record"


@pytest.mark.parametrize("stale", [lambda path: path, elsewhere], ids=["the first", "the second"])
def test_who_only_reads_two_directories_reads_the_one_that_reaches_farthest(
    directory: Path, stale: Callable[[Path], Path]
) -> None:
    old = place(directory, "alone-0")
    copy = Path(shutil.copytree(old, directory.parent / "copy"))
    do(directory, lambda cluster: cluster.append(ALONE, batch(b"c")))
    if stale(old) == old:
        shutil.move(old, elsewhere(old))
    shutil.move(copy, stale(old))
    assert values(DirectoryReader(str(directory)), ALONE) == [b"a", b"b", b"c"]


def test_killed_anywhere_a_moved_directory_is_found_again(directory: Path) -> None:
    old = place(directory)
    shutil.move(old, elsewhere(old))
    for kill_at in range(100):
        target = Path(shutil.copytree(directory, directory.parent / f"killed-{kill_at}"))
        files = FaultyFiles(kill_at)
        files.sync = False
        try:
            opened(target, files=files).close()
        except Killed:
            files.close()
            do(target, produce)
            assert (read(target), registration(target).isr) == ([b"a", b"b", b"c"], (1, 2, 3))
            shutil.rmtree(target)
            continue
        assert kill_at > 10
        return
    pytest.fail("it never came to an end")
