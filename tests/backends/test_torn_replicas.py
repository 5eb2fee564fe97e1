"""Logs that lost their ends though their broker was stopped cleanly: the in-sync copies give them back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import replicate, start_broker, stop_broker
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.backends.contract import batch, opened, replica_logs, values
from tests.backends.test_lost_replicas import do

P0, ALONE = TopicPartition("t", 0), TopicPartition("alone", 0)
LOG = "00000000000000000000.log"


def torn(log: Path) -> None:
    os.truncate(log, log.stat().st_size - 5)


def cut_between_batches(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


def with_a_wrong_checksum(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)


def removed(log: Path) -> None:
    for file in log.parent.iterdir():
        file.unlink()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two batches in a partition that broker 1 leads, and in one that only it has."""
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 3, files=Files(sync=False))
    cluster = opened(directory, files=Files(sync=False))
    cluster.apply(CreateTopic("t", assignments=((1, 2, 3),)), CreateTopic("alone", assignments=((1,),)))
    for partition in (P0, ALONE):
        for value in (b"a", b"b"):
            cluster.append(partition, batch(value))
    cluster.close()
    return directory


@pytest.mark.parametrize("broker", [1, 2])
@pytest.mark.parametrize("damage", [torn, cut_between_batches, with_a_wrong_checksum, removed])
def test_a_copy_takes_its_end_back(directory: Path, damage: Callable[[Path], None], broker: int) -> None:
    damage(directory / f"broker-{broker}" / "t-0" / LOG)
    told = do(directory, lambda cluster: cluster.append(P0, batch(b"c")))
    path = f"broker-{broker}/t-0: "
    assert [line for line in told if f"{path}brought from offset" in line]
    assert len([line for line in told if f"{path}cut " in line]) == (damage in (torn, with_a_wrong_checksum))
    assert len(replica_logs(directory, P0)) == 1
    found: list[bytes | None] = []
    assert do(directory, lambda cluster: found.extend(values(cluster, P0))) == []
    assert found == [b"a", b"b", b"c"]


def test_a_copy_that_is_not_in_sync_is_cut_and_fetched(directory: Path) -> None:
    do(directory, lambda cluster: stop_broker(cluster, 3))
    torn(directory / "broker-3" / "t-0" / LOG)
    do(directory, lambda cluster: cluster.append(P0, batch(b"c")))
    told = do(directory, lambda cluster: start_broker(cluster, 3))
    assert [line for line in told if "broker-3/t-0: cut " in line]
    do(directory, lambda cluster: replicate(cluster, until_caught_up=True))
    assert len(replica_logs(directory, P0)) == 1


def test_the_only_copy_is_cut_and_what_is_gone_is_told(directory: Path) -> None:
    torn(directory / "broker-1" / "alone-0" / LOG)
    cut, lost = do(directory, lambda cluster: cluster.append(ALONE, batch(b"c")))
    assert "alone-0: cut " in cut
    assert "alone-0: ends at offset 1, and once went to 2: what lay between is lost" in lost
    found: list[bytes | None] = []
    do(directory, lambda cluster: found.extend(values(cluster, ALONE)))
    assert found == [b"a", b"c"]
