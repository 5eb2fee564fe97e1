"""The transaction coordinator after a crash: what was decided is finished, what was not is aborted."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from kafkapy.backends.cluster import LATEST
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator
from kafkapy.coordinator.transaction_state_manager import TransactionStateManager
from kafkapy.errors import KafkaError
from kafkapy.log.files import Files
from tests.coordinator.transactions import NOW, P0, P1, Producer, last_stable_offset, made, opened, values
from tests.faults import FaultyFiles, Killed


@pytest.mark.parametrize("commit", [True, False])
def test_what_was_decided_is_finished_by_recovery(cluster: DirectoryCluster, commit: bool) -> None:
    producer = Producer(cluster, "pay")
    producer.send(P0, "a")
    states = TransactionStateManager(cluster)
    ongoing = states.find("pay")
    assert ongoing is not None
    states.put(ongoing.prepare(commit, NOW, 2, -1))
    coordinator = TransactionCoordinator(cluster)
    assert coordinator.recover() == ["pay"]
    assert coordinator.recover() == []
    assert values(cluster, P0) == (["a"] if commit else [])
    assert TransactionCoordinator(cluster).end("pay", *producer.identity, commit).epoch == 1, "as if nothing had been"


def test_a_marker_cannot_end_the_transaction_that_came_after_its_own(cluster: DirectoryCluster) -> None:
    producer = Producer(cluster, "pay")
    producer.send(P0, "a")
    ongoing = TransactionStateManager(cluster).find("pay")
    assert ongoing is not None
    producer.end(commit=False)
    producer.send(P0, "b")
    TransactionStateManager(cluster).put(ongoing.prepare(True, NOW, 2, -1))
    with pytest.raises(KafkaError, match=r"which is <= the last seen epoch 1 \(TV2\)"):
        TransactionCoordinator(cluster).recover()


def session(directory: str, files: Files) -> None:
    """One command: a producer takes over its transactional id and commits one transaction in two partitions."""
    cluster = DirectoryCluster(directory, files, NOW, seed=7)
    producer = Producer(cluster, "pay")
    producer.send(P0, "new")
    producer.send(P1, "new")
    producer.end(commit=True)


@pytest.mark.parametrize("power_cut", [False, True])
def test_killed_anywhere_a_transaction_is_committed_whole_or_not_at_all(tmp_path: Path, power_cut: bool) -> None:
    before = made(tmp_path / "before", state_partitions=1)
    cluster = opened(before)
    Producer(cluster, "pay").send(P0, "left open")
    cluster.close()
    counted = FaultyFiles()
    session(shutil.copytree(before, tmp_path / "counted"), counted)
    outcomes = set()
    for kill_at in range(counted.operations):
        directory = str(tmp_path / "killed")
        shutil.copytree(before, directory)
        files = FaultyFiles(kill_at, Random(kill_at))
        with pytest.raises(Killed):
            session(directory, files)
        if power_cut:
            files.lose_unsynced()
        outcomes.add(outcome_of(directory))
        shutil.rmtree(directory)
    assert outcomes == {(), ("new",)}


def outcome_of(directory: str) -> tuple[str, ...]:
    """What is committed once the next producer has begun: the same in both partitions."""
    cluster = opened(directory)
    Producer(cluster, "pay")
    first, second = values(cluster, P0), values(cluster, P1)
    assert first == second
    for partition in (P0, P1):
        assert last_stable_offset(cluster, partition) == cluster.offset(partition, LATEST)
    assert all(not state.state.is_prepared for state in TransactionCoordinator(cluster).transactions().values())
    cluster.close()
    return tuple(first)
