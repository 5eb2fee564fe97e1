"""Log dirs: what is one, and which copy of a partition is read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.replicas import LogDirs
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition

ROLLED = TopicPartition("rolled", 0)


@pytest.fixture
def brokers(golden: Path, tmp_path: Path) -> Path:
    for number in (1, 2, 3):
        source = golden / "clean" / f"broker-{number}"
        target = tmp_path / f"broker-{number}"
        target.mkdir()
        shutil.copy(source / "meta.properties", target)
        for path in source.glob("rolled-0"):
            shutil.copytree(path, target / path.name)
    return tmp_path


def paths(brokers: Path) -> tuple[str, ...]:
    return tuple(str(path) for path in sorted(brokers.glob("broker-*")))


def test_what_is_no_log_dir_is_refused(golden: Path, tmp_path: Path) -> None:
    with pytest.raises(KafkapyError) as refused:
        LogDirsCluster(str(golden / "clean"))
    assert str(refused.value) == (
        f"{golden / 'clean'} is not a log dir of a broker: it has no meta.properties and no partitions; broker-1, "
        "broker-2, broker-3 in it are"
    )
    with pytest.raises(KafkapyError, match=r"it has no meta\.properties and no partitions$"):
        LogDirsCluster(str(tmp_path))
    with pytest.raises(KafkapyError, match="no such directory"):
        LogDirsCluster(str(tmp_path / "none"))


def test_partitions_alone_make_a_log_dir(golden: Path, tmp_path: Path) -> None:
    (copy,) = list(golden.glob("clean/broker-1/rolled-0")) or list(golden.glob("clean/broker-2/rolled-0"))
    shutil.copytree(copy, tmp_path / "rolled-0")
    dirs = LogDirs((str(tmp_path),))
    assert (list(dirs.replicas), dirs.broker_ids) == ([ROLLED], {str(tmp_path): None})


def test_two_clusters_are_not_mixed(brokers: Path) -> None:
    LogDirs(paths(brokers))
    meta = brokers / "broker-2" / "meta.properties"
    meta.write_text(meta.read_text().replace("Z29sZGVuLWNsdXN0ZXItMQ", "b3RoZXItY2x1c3Rlci0tMQ"))
    with pytest.raises(KafkapyError) as refused:
        LogDirs(paths(brokers))
    first, second, _ = paths(brokers)
    assert str(refused.value) == (
        f"{first} belongs to the cluster Z29sZGVuLWNsdXN0ZXItMQ, {second} to b3RoZXItY2x1c3Rlci0tMQ: give the log dirs "
        "of one cluster"
    )


def test_a_copy_with_a_damaged_end_is_passed_over(brokers: Path) -> None:
    dirs = LogDirs(paths(brokers))
    ids = [dirs.broker_ids[each.log_dir] for each in dirs.replicas[ROLLED]]
    assert len(ids) > 1
    leader, other = ids[0], ids[1]
    led = dirs.best_reader(ROLLED, leader)
    assert led is not None
    assert led.directory.endswith(f"broker-{leader}/rolled-0")
    last = led.segments[-1]
    os.truncate(last.log_path, last.size - 1)
    again = LogDirs(paths(brokers))
    chosen = again.best_reader(ROLLED, leader)
    assert chosen is not None
    assert chosen.directory == str(brokers / f"broker-{other}" / "rolled-0")
    assert chosen.log_end_offset == 9000
    # alone it is all that there is, and one that does not reach as far is no better
    alone = LogDirs((str(brokers / f"broker-{leader}"),)).best_reader(ROLLED, leader)
    assert alone is not None
    assert alone.log_end_offset < 9000
    for number in ids[1:]:
        for path in sorted((brokers / f"broker-{number}" / "rolled-0").glob("*"))[4:]:
            path.unlink()
    kept = LogDirs(paths(brokers)).best_reader(ROLLED, leader)
    assert kept is not None
    assert kept.directory == led.directory
