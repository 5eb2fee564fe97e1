"""What coordinators forget and abort in time: planned from files alone, and done by ``maintenance``."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.maintenance import Action, Wanted, plan, run
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.transaction_state import TransactionState
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, DeleteTopic

NOW = 1_794_800_000_000
DAY = 24 * 60 * 60 * 1000
P0, P1, OTHER = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("other", 0)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A group with offsets in two topics, and a transaction that is open."""
    path = tmp_path / "cluster"
    make_cluster(str(path), 1, files=Files(sync=False))
    cluster = opened(path)
    cluster.apply(*(CreateTopic(name, 2, 1) for name in ("t", "other", CONSUMER_OFFSETS, TRANSACTION_STATE)))
    for partition in (P0, P1, OTHER):
        cluster.groups().offset_manager.commit("g", {partition: OffsetAndMetadata(0)})
    identity = cluster.transactions().init_producer_id("tx")
    cluster.transactions().add_partitions("tx", *identity, [P0])
    cluster.close()
    return path


def opened(path: Path, now: int = NOW) -> DirectoryCluster:
    return DirectoryCluster(str(path), Files(sync=False), now=now, seed=1)


def planned(path: Path, now: int) -> list[tuple[str, str, str]]:
    actions = plan(LogDirsCluster(str(path / "broker-1")), Wanted(now))
    return [
        (action.partition.topic, action.task.kind, action.task.name) for action in actions if _is_coordinators(action)
    ]


def _is_coordinators(action: Action) -> bool:
    return action.task.kind.startswith(("forget", "abort"))


def test_nothing_is_due_at_first(directory: Path) -> None:
    assert planned(directory, NOW + 1000) == []


def test_a_transaction_past_its_timeout_is_aborted(directory: Path) -> None:
    later = NOW + 61_000
    expected = [(TRANSACTION_STATE, "abort transaction", "tx")]
    assert planned(directory, later) == expected
    cluster = opened(directory, later)
    assert [action.task.kind for action in run(cluster, Wanted(later))] == ["abort transaction"]
    assert cluster.transactions().transactions()["tx"].state is TransactionState.COMPLETE_ABORT
    cluster.close()
    assert planned(directory, later) == []


def test_offsets_groups_and_transactional_ids_are_forgotten(directory: Path) -> None:
    later = NOW + 8 * DAY
    cluster = opened(directory, later)
    kinds = [action.task.kind for action in run(cluster, Wanted(later, "nothing"))]
    assert kinds == []
    kinds = [action.task.kind for action in run(cluster, Wanted(later)) if _is_coordinators(action)]
    assert kinds == ["abort transaction", "forget offsets", "forget group"]
    assert cluster.groups().list() == []
    cluster.close()
    much_later = later + 8 * DAY
    assert planned(directory, much_later) == [(TRANSACTION_STATE, "forget transactional id", "tx")]
    cluster = opened(directory, much_later)
    list(run(cluster, Wanted(much_later)))
    assert cluster.transactions().transactions() == {}
    cluster.close()
    assert planned(directory, much_later) == []


def test_groups_are_told_by_partition(directory: Path) -> None:
    cluster = opened(directory)
    names = [f"group-{number}" for number in range(12)]
    for name in names:
        cluster.groups().offset_manager.commit(name, {P0: OffsetAndMetadata(0)})
    cluster.close()
    actions = filter(_is_coordinators, plan(LogDirsCluster(str(directory / "broker-1")), Wanted(NOW + 8 * DAY)))
    told = [(each.partition, each.task.name) for each in actions if each.partition.topic == CONSUMER_OFFSETS]
    assert told == sorted(told)
    assert {name for _, name in told} == {"g", *names}
    assert {partition.partition for partition, _ in told} == {0, 1}


def test_offsets_of_a_deleted_topic_are_forgotten(directory: Path) -> None:
    cluster = opened(directory)
    cluster.apply(DeleteTopic("t"))
    assert list(cluster.groups().offsets("g")) == [OTHER]
    cluster.close()
    assert list(LogDirsCluster(str(directory / "broker-1")).groups().offsets("g")) == [OTHER]
