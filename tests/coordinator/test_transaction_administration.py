"""What is done to transactions from outside: offsets added, timeouts, expiry, forced ends, markers, and listing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE, partition_for
from kafkapy.coordinator.transaction_coordinator import MAX_TIMEOUT_MS, TransactionCoordinator
from kafkapy.coordinator.transaction_listing import compile_id_pattern
from kafkapy.coordinator.transaction_marker import AbortTransactionSpec
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch, TransactionState
from kafkapy.errors import KafkaError, Unsupported
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.coordinator.transactions import (
    NOW,
    P0,
    P1,
    Producer,
    last_stable_offset,
    made,
    markers,
    opened,
    state_records,
    statuses,
    values,
)

A_WEEK = 604_800_000  # the default of transactional.id.expiration.ms
EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = range(6)


class Later(DirectoryCluster):
    """A cluster whose clock is set by the test."""

    time = NOW

    def _time(self) -> int:
        return self.time


def later(directory: str) -> Later:
    return Later(directory, Files(sync=False), NOW, seed=7)


def open_transaction_without_coordinator(
    cluster: DirectoryCluster, producer: ProducerIdAndEpoch, *sent: str, at: int = NOW
) -> None:
    """What a late batch does: a transaction begins in a partition that no coordinator was told of."""
    records = [Record(number, at, None, value.encode()) for number, value in enumerate(sent)]
    options = BatchOptions(
        transactional=True, producer_id=producer.producer_id, producer_epoch=producer.epoch, base_sequence=0
    )
    cluster.append(P0, encode_batch(records, options))


def offset_commit(group_id: str, offset: int) -> CoordinatorRecord:
    key = {"group": group_id, "topic": "tx", "partition": 0}
    return CoordinatorRecord(
        "OffsetCommit", key, 3, {"offset": offset, "leaderEpoch": -1, "metadata": "", "commitTimestamp": NOW}
    )


@pytest.mark.parametrize("commit", [True, False])
def test_offsets_in_a_transaction_hold_with_its_end(cluster: DirectoryCluster, commit: bool) -> None:
    cluster.apply(CreateTopic(CONSUMER_OFFSETS, 3, 1))
    coordinator, store = cluster.transactions(), cluster.groups().store
    producer = coordinator.init_producer_id("pay")
    partition = coordinator.add_offsets("pay", *producer, "billing")
    assert partition == TopicPartition(CONSUMER_OFFSETS, partition_for("billing", 3)) == store.partition("billing")
    assert coordinator.transactions()["pay"].partitions == {partition}
    store.append("billing", [offset_commit("billing", 7)], producer)
    assert (store.offsets("billing"), list(store.pending_offsets("billing"))) == ({}, [producer.producer_id])
    coordinator.end("pay", *producer, commit)
    assert store.pending_offsets("billing") == {}, "whoever has the group loaded is told"
    expected = {TopicPartition("tx", 0): 7} if commit else {}
    assert {where: found.offset for where, found in store.offsets("billing").items()} == expected
    again = LogDirsCluster(*cluster.dirs.paths).groups().store
    assert again.offsets("billing") == store.offsets("billing"), "and whoever reads the files finds the same"


def test_the_first_offsets_make_the_topic(cluster: DirectoryCluster) -> None:
    coordinator = cluster.transactions()
    producer = coordinator.init_producer_id("pay")
    with pytest.raises(KafkaError, match="newer producer"):
        coordinator.add_offsets("pay", producer.producer_id, producer.epoch + 1, "billing")
    assert CONSUMER_OFFSETS not in cluster.image().topics, "what is refused leaves nothing"
    assert coordinator.add_offsets("pay", *producer, "billing").partition == partition_for("billing", 50)
    assert len(cluster.image().topics[CONSUMER_OFFSETS].partitions) == 50


@pytest.mark.parametrize(("version", "raised"), [(2, 1), (1, 1)])
def test_a_transaction_past_its_timeout_is_aborted_and_its_producer_fenced(
    tmp_path: Path, version: int, raised: int
) -> None:
    cluster = later(made(tmp_path / "cluster", version=version))
    coordinator = TransactionCoordinator(cluster)
    slow = Producer(cluster, "slow", coordinator, timeout_ms=1000)
    patient = Producer(cluster, "patient", coordinator, timeout_ms=MAX_TIMEOUT_MS)
    ended = Producer(cluster, "ended", coordinator, timeout_ms=1000)
    for producer in (slow, patient, ended):
        producer.send(P0, "x")
    ended.end(commit=True)
    cluster.time = NOW + 1000
    assert coordinator.abort_timed_out() == []
    cluster.time += 1
    assert [state.transactional_id for state in coordinator.timed_out(cluster.now)] == ["slow"]
    assert coordinator.abort_timed_out() == ["slow"]
    assert coordinator.abort_timed_out() == []
    assert statuses(cluster, "slow")[-2:] == [
        (PREPARE_ABORT, slow.identity.producer_id, raised),
        (COMPLETE_ABORT, slow.identity.producer_id, raised),
    ]
    with pytest.raises(KafkaError) as refused:
        slow.end(commit=True)
    assert refused.value.name in ("ProducerFencedException", "InvalidTxnStateException")
    patient.end(commit=True)
    assert values(cluster, P0) == ["x", "x"]
    cluster.close()


def test_ids_that_were_not_used_for_long_are_forgotten(tmp_path: Path) -> None:
    directory = made(tmp_path / "cluster")
    cluster = later(directory)
    coordinator = TransactionCoordinator(cluster)
    for name in ("done", "void", "begun"):
        Producer(cluster, name, coordinator).send(P0, name)
    for name in ("done", "void"):
        coordinator.end(name, *coordinator.transactions()[name].identity, commit=name == "done")
    coordinator.init_producer_id("fresh")
    cluster.time = NOW + A_WEEK - 1
    assert coordinator.expire() == []
    cluster.time += 1
    assert coordinator.expire() == ["done", "fresh", "void"]
    assert list(coordinator.transactions()) == ["begun"], "one that is open is never forgotten"
    gone = [(record.timestamp, record.key) for record in state_records(cluster) if record.value is None]
    assert sorted(gone) == [(cluster.time, b"\0\0\0" + bytes([len(n)]) + n.encode()) for n in ("done", "void", "fresh")]
    cluster.close()
    assert list(LogDirsCluster(f"{directory}/broker-1").transactions().transactions()) == ["begun"]


def test_a_forced_end_aborts_and_fences(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    producer = Producer(cluster, "pay", coordinator, timeout_ms=MAX_TIMEOUT_MS)
    producer.send(P0, "lost")
    producer.send(P1, "lost")
    assert coordinator.force_terminate("pay") == (producer.identity.producer_id, producer.identity.epoch + 2)
    found = coordinator.describe("pay").metadata
    assert (found.state, found.timeout_ms) == (TransactionState.EMPTY, 30_000), "as an admin client's request leaves it"
    assert [len(markers(cluster, partition)) for partition in (P0, P1)] == [1, 1]
    with pytest.raises(KafkaError, match="newer producer"):
        producer.end(commit=True)
    with pytest.raises(KafkaError, match="InitProducerId request for transactionalId `nobody` failed because the ID"):
        coordinator.force_terminate("nobody")
    assert list(coordinator.transactions()) == ["pay"], "what is refused leaves nothing"


@pytest.mark.parametrize("version", [1, 2])
def test_a_hanging_transaction_is_aborted_by_a_marker_with_its_own_epoch(tmp_path: Path, version: int) -> None:
    cluster = opened(made(tmp_path / "cluster", version=version))
    hanging = ProducerIdAndEpoch(4711, 3)
    open_transaction_without_coordinator(cluster, hanging, "hangs")
    producer = Producer(cluster, "pay")
    producer.send(P0, "kept")
    producer.end(commit=True)
    assert (values(cluster, P0), last_stable_offset(cluster, P0)) == ([], 0)
    TransactionCoordinator(cluster).abort(AbortTransactionSpec(P0, *hanging, 0))
    assert values(cluster, P0) == ["kept"]
    assert markers(cluster, P0)[-1] == (4711, 3, b"\0\0\0\0", b"\0\0\0\0\0\0")
    cluster.close()


def test_markers_that_a_partition_refuses(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    hanging = ProducerIdAndEpoch(4711, 3)
    open_transaction_without_coordinator(cluster, hanging, "hangs")
    old = AbortTransactionSpec(P0, 4711, 2, 0)
    told = "AbortTransactionSpec(topicPartition=tx-0, producerId=4711, producerEpoch=2, coordinatorEpoch=0)"
    with pytest.raises(KafkaError) as refused:
        coordinator.abort(old)
    assert (refused.value.name, str(refused.value)) == (
        "InvalidProducerEpochException",
        f"WriteTxnMarkers request with {told} failed due an invalid producer epoch",
    )
    coordinator.abort(AbortTransactionSpec(P0, *hanging, 5))
    with pytest.raises(KafkaError, match="the provided coordinator epoch 4 has been fenced by the active coordinator"):
        coordinator.abort(AbortTransactionSpec(P0, *hanging, 4))
    with pytest.raises(KafkaError, match=r"failed due to unexpected error: This server does not host this topic-part"):
        coordinator.abort(AbortTransactionSpec(TopicPartition("nope", 0), *hanging, 0))
    assert len(markers(cluster, P0)) == 1


def test_listing_and_its_filters(tmp_path: Path) -> None:
    cluster = later(made(tmp_path / "cluster", brokers=2))
    coordinator = TransactionCoordinator(cluster)
    for name, started in (("b-1", NOW - 5000), ("a-1", NOW - 100), ("a-2", NOW)):
        cluster.time = started
        Producer(cluster, name, coordinator).send(P0, name)
    coordinator.init_producer_id("idle")
    cluster.time = NOW

    def listed(*wanted: int | str) -> list[str]:
        return sorted(each.metadata.transactional_id for each in coordinator.list_transactions(*wanted))  # type: ignore[arg-type]

    assert listed() == listed(-7) == ["a-1", "a-2", "b-1", "idle"]
    assert listed(0) == ["a-1", "b-1", "idle"], "one that was not begun counts as begun at -1"
    assert (listed(99), listed(100)) == (["a-1", "b-1", "idle"], ["b-1", "idle"])
    assert (listed(-1, "a-."), listed(-1, "a"), listed(0, "a-.")) == (["a-1", "a-2"], [], ["a-1"])
    found = coordinator.list_transactions()
    leaders = cluster.image().topics[TRANSACTION_STATE].partitions
    assert [(each.coordinator, each.metadata.transactional_id) for each in found] == sorted(
        (leaders[partition_for(name, 2)].leader, name) for name in listed()
    )
    assert coordinator.describe("b-1") in found
    cluster.close()


def test_a_pattern_is_one_of_re2() -> None:
    with pytest.raises(
        KafkaError, match=r"Transaction ID pattern `\(\?=a\)` is not a valid regular expression: "
    ) as refused:
        compile_id_pattern("(?=a)")
    assert refused.value.name == "InvalidRegularExpression"
    pattern = compile_id_pattern(r"\Qpay.\E[[:digit:]]\z")
    assert pattern is not None
    assert (bool(pattern.fullmatch("pay.1")), bool(pattern.fullmatch("pay-1"))) == (True, False)
    assert compile_id_pattern("") is None


def test_directories_are_read_with_what_is_damaged_left_out(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    for name in ("a", "b", "c"):
        Producer(cluster, name, coordinator).send(P0, name)
    partition = TopicPartition(TRANSACTION_STATE, partition_for("a", 2))
    cluster.append_as_coordinator(partition, encode_batch([Record(0, NOW, b"\0\0\0\x01a", b"\0\x01short")]), 2)
    offset = cluster.offset(partition, -1)
    assert offset is not None
    reading = LogDirsCluster(*cluster.dirs.paths).transactions()
    assert reading.transactions() == coordinator.transactions()
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith(f"{partition} at offset {offset - 1}: Could not read record with version 1")
    attempts = (lambda: reading.init_producer_id("new"), lambda: reading.abort_timed_out(1 << 50))
    for attempt in attempts:
        with pytest.raises(Unsupported, match="these directories are only read"):
            attempt()


def test_a_partition_of_states_that_is_not_there_is_told(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    for name in ("a", "b"):
        coordinator.init_producer_id(name)
    lost = partition_for("a", 2)
    (path,) = cluster.dirs.paths
    Path(path, f"{TRANSACTION_STATE}-{lost}").rename(Path(path).parent / "elsewhere")
    reading = LogDirsCluster(path).transactions()
    assert list(reading.transactions()) == ["b"]
    where = f"{TRANSACTION_STATE}-{lost}"
    assert reading.problems == [f"{where}: no copy of {where} is in the given log dirs"]
    (Path(path).parent / "elsewhere").rename(Path(path, where))
