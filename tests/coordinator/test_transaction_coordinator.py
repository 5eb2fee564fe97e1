"""The transaction coordinator on a cluster directory: what it writes, refuses, and finishes after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.backends.cluster import LATEST
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE, partition_for
from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator
from kafkapy.coordinator.transaction_log import encode_state
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch, TransactionMetadata
from kafkapy.errors import KafkaError
from kafkapy.formats.transaction_index import AbortedTxn, TransactionIndex
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, DeleteTopic
from kafkapy.metadata.image import TOPIC
from tests.coordinator.transactions import (
    NOW,
    P0,
    P1,
    TX,
    Producer,
    decoded,
    last_stable_offset,
    made,
    markers,
    opened,
    state_records,
    statuses,
    values,
)

EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = range(6)
COMMIT_MARKER = (b"\0\0\0\x01", b"\0\0\0\0\0\0")
ABORT_MARKER = (b"\0\0\0\0", b"\0\0\0\0\0\0")


def aborted(cluster: DirectoryCluster, partition: TopicPartition) -> list[AbortedTxn]:
    reader = cluster.reader(partition)
    assert reader is not None
    path = Path(reader.directory, "00000000000000000000.txnindex")
    return TransactionIndex(0, path.read_bytes(), str(path)).all_aborted_txns() if path.exists() else []


def test_a_commit_makes_the_records_of_all_partitions_visible(cluster: DirectoryCluster) -> None:
    producer = Producer(cluster, "pay")
    producer_id, epoch = producer.identity
    producer.send(P0, "a", "b")
    producer.send(P1, "c")
    producer.send(P0, "d")
    assert (values(cluster, P0), values(cluster, P1)) == ([], [])
    assert values(cluster, P0, committed=False) == ["a", "b", "d"]
    assert last_stable_offset(cluster, P0) == 0
    assert producer.end(commit=True) == (producer_id, epoch + 1)
    assert (values(cluster, P0), values(cluster, P1)) == (["a", "b", "d"], ["c"])
    assert last_stable_offset(cluster, P0) == cluster.offset(P0, LATEST) == 4
    assert markers(cluster, P0) == markers(cluster, P1) == [(producer_id, epoch + 1, *COMMIT_MARKER)]
    assert aborted(cluster, P0) == []
    assert statuses(cluster, "pay") == [
        (EMPTY, producer_id, 0),
        (ONGOING, producer_id, 0),
        (ONGOING, producer_id, 0),
        (PREPARE_COMMIT, producer_id, 1),
        (COMPLETE_COMMIT, producer_id, 1),
    ]


def test_an_abort_hides_the_records_and_is_in_the_transaction_index(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    first, second = (Producer(cluster, name, coordinator) for name in ("first", "second"))
    producer_id, epoch = first.identity
    first.send(P0, "a", "b")
    second.send(P0, "c")
    assert first.end(commit=False) == (producer_id, epoch + 1)
    assert markers(cluster, P0) == [(producer_id, epoch + 1, *ABORT_MARKER)]
    assert values(cluster, P0) == [], (
        "the other transaction is open, and the last stable offset before its first record"
    )
    assert last_stable_offset(cluster, P0) == 2
    second.end(commit=True)
    assert values(cluster, P0) == ["c"]
    assert aborted(cluster, P0) == [AbortedTxn(producer_id, 0, 3, 2)]
    assert [status for status, _, _ in statuses(cluster, "first")] == [EMPTY, ONGOING, PREPARE_ABORT, COMPLETE_ABORT]


def test_states_are_the_records_that_kafka_writes(cluster: DirectoryCluster) -> None:
    producer = Producer(cluster, "pay")
    producer.send(P1, "c")
    producer.send(P0, "a")
    producer.end(commit=True)
    producer_id = producer.identity.producer_id
    common = {"producerId": producer_id, "previousProducerId": producer_id, "nextProducerId": -1}
    times = {"transactionTimeoutMs": 60_000, "transactionLastUpdateTimestampMs": NOW}
    begun = {"transactionStartTimestampMs": NOW, "clientTransactionVersion": 2, "nextProducerEpoch": -1}
    both = [{"topic": TX, "partitionIds": [0, 1]}]
    rows = [decoded(record) for record in state_records(cluster)]
    assert [row.version for row in rows] == [1] * 5
    assert rows[0].value == common | times | {
        "producerEpoch": 0,
        "transactionStatus": EMPTY,
        "transactionPartitions": None,
        "transactionStartTimestampMs": -1,
        "clientTransactionVersion": 0,
        "nextProducerEpoch": -1,
    }
    for row, status, epoch, partitions in (
        (rows[1], ONGOING, 0, [{"topic": TX, "partitionIds": [1]}]),
        (rows[2], ONGOING, 0, both),
        (rows[3], PREPARE_COMMIT, 1, both),
        (rows[4], COMPLETE_COMMIT, 1, []),
    ):
        expected = {"producerEpoch": epoch, "transactionStatus": status, "transactionPartitions": partitions}
        assert row.value == common | times | begun | expected


def test_a_new_producer_fences_the_old_one_and_aborts_what_it_left(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    old = Producer(cluster, "pay", coordinator)
    old.send(P0, "lost")
    new = Producer(cluster, "pay", coordinator)
    assert new.identity == (old.identity.producer_id, old.identity.epoch + 2), "one for the abort, one for the producer"
    new.send(P0, "kept")
    for attempt in (lambda: old.send(P1, "late"), lambda: old.end(commit=True)):
        with pytest.raises(KafkaError, match="There is a newer producer with the same transactionalId") as refused:
            attempt()
        assert refused.value.name == "ProducerFencedException"
    new.end(commit=True)
    assert (values(cluster, P0), values(cluster, P1)) == (["kept"], [])
    assert [(status, epoch) for status, _, epoch in statuses(cluster, "pay")] == [
        (EMPTY, 0), (ONGOING, 0), (PREPARE_ABORT, 1), (COMPLETE_ABORT, 1),
        (EMPTY, 2), (ONGOING, 2), (PREPARE_COMMIT, 3), (COMPLETE_COMMIT, 3),
    ]  # fmt: skip


def test_before_version_2_only_fencing_raises_the_epoch(tmp_path: Path) -> None:
    cluster = opened(made(tmp_path / "cluster", version=1))
    coordinator = TransactionCoordinator(cluster)
    old = Producer(cluster, "pay", coordinator)
    old.send(P0, "kept")
    assert old.end(commit=True) == (old.identity.producer_id, 0)
    old.send(P0, "lost")
    assert Producer(cluster, "pay", coordinator).identity == (old.identity.producer_id, 2)
    assert [epoch for _, epoch, _, _ in markers(cluster, P0)] == [0, 1]
    assert values(cluster, P0) == ["kept"]
    cluster.close()


def test_a_late_batch_of_the_old_producer_is_refused_by_the_partition(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    old = Producer(cluster, "pay")
    old.send(P0, "a")
    late = next(cluster.read(P0, 0)).data
    coordinator.init_producer_id("pay")
    with pytest.raises(KafkaError) as refused:
        cluster.append(P0, (0).to_bytes(8, "big") + late[8:])
    assert refused.value.name == "InvalidProducerEpochException"


def test_an_end_that_is_tried_again_has_the_same_answer(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    producer = ProducerIdAndEpoch(*coordinator.init_producer_id("pay"))
    coordinator.add_partitions("pay", *producer, [P0])
    first = coordinator.end("pay", *producer, commit=True)
    assert coordinator.end("pay", *producer, commit=True) == first
    assert len(markers(cluster, P0)) == 1
    with pytest.raises(KafkaError) as refused:
        coordinator.end("pay", *producer, commit=False)
    assert refused.value.name == "InvalidTxnStateException"


@pytest.mark.parametrize(("version", "aborts"), [(2, True), (1, False)])
def test_an_empty_transaction(tmp_path: Path, version: int, aborts: bool) -> None:
    cluster = opened(made(tmp_path / "cluster", version=version))
    coordinator = TransactionCoordinator(cluster)
    producer = coordinator.init_producer_id("pay")
    with pytest.raises(KafkaError) as refused:
        coordinator.end("pay", *producer, commit=True)
    assert refused.value.name == "InvalidTxnStateException"
    if aborts:
        assert coordinator.end("pay", *producer, commit=False) == (producer.producer_id, producer.epoch + 1)
        assert [status for status, _, _ in statuses(cluster, "pay")] == [EMPTY, PREPARE_ABORT, COMPLETE_ABORT]
    else:
        with pytest.raises(KafkaError) as refused:
            coordinator.end("pay", *producer, commit=False)
        assert refused.value.name == "InvalidTxnStateException"
    cluster.close()


def test_what_kafka_refuses(cluster: DirectoryCluster) -> None:
    coordinator = TransactionCoordinator(cluster)
    producer_id, epoch = coordinator.init_producer_id("pay")
    refused = {
        "InvalidRequestException": lambda: coordinator.init_producer_id(""),
        "InvalidTxnTimeoutException": lambda: coordinator.init_producer_id("pay", 15 * 60 * 1000 + 1),
        "InvalidPidMappingException": lambda: coordinator.end("pay", producer_id + 1, epoch, commit=True),
        "ProducerFencedException": lambda: coordinator.add_partitions("pay", producer_id, epoch + 1, [P0]),
        "UnknownTopicOrPartitionException": lambda: coordinator.add_partitions(
            "pay", producer_id, epoch, [P0, TopicPartition(TX, 2)]
        ),
    }
    for name, attempt in refused.items():
        with pytest.raises(KafkaError) as error:
            attempt()
        assert error.value.name == name
    with pytest.raises(KafkaError) as error:
        coordinator.end("nobody", producer_id, epoch, commit=True)
    assert error.value.name == "InvalidPidMappingException"
    assert statuses(cluster, "pay") == [(EMPTY, producer_id, 0)], "what is refused leaves nothing"


def with_epoch(cluster: DirectoryCluster, transactional_id: str, epoch: int) -> int:
    """Let a transactional id have used up almost all epochs; its producer id."""
    producer_id = cluster.new_producer_id()
    state = TransactionMetadata(transactional_id, producer_id, 60_000, NOW, epoch)
    count = len(cluster.image().topics[TRANSACTION_STATE].partitions)
    partition = TopicPartition(TRANSACTION_STATE, partition_for(transactional_id, count))
    cluster.append_as_coordinator(partition, encode_state(state, 2), 2)
    return producer_id


def test_epochs_that_run_out_while_a_transaction_ends_give_a_new_producer_id(cluster: DirectoryCluster) -> None:
    producer_id = with_epoch(cluster, "pay", 32765)
    producer = Producer(cluster, "pay")
    assert producer.identity == (producer_id, 32766)
    producer.send(P0, "a")
    renewed = producer.end(commit=True)
    assert (renewed.producer_id != producer_id, renewed.epoch) == (True, 0)
    assert markers(cluster, P0) == [(producer_id, 32767, *COMMIT_MARKER)]
    assert TransactionCoordinator(cluster).end("pay", producer_id, 32766, commit=True) == renewed, "a retry"
    with pytest.raises(KafkaError) as refused:
        TransactionCoordinator(cluster).end("pay", producer_id, 32765, commit=True)
    assert refused.value.name == "InvalidPidMappingException"
    producer.send(P0, "b")
    producer.end(commit=False)
    assert values(cluster, P0) == ["a"]
    rows = [decoded(record).value for record in state_records(cluster)]
    prepared, completed = (next(row for row in rows if row["transactionStatus"] == status) for status in (2, 4))
    assert (prepared["nextProducerId"], prepared["producerEpoch"]) == (renewed.producer_id, 32767)
    assert (completed["previousProducerId"], completed["nextProducerId"]) == (producer_id, -1)


def test_epochs_that_have_run_out_give_the_next_producer_a_new_id(cluster: DirectoryCluster) -> None:
    producer_id = with_epoch(cluster, "pay", 32766)
    renewed = TransactionCoordinator(cluster).init_producer_id("pay")
    assert (renewed.producer_id != producer_id, renewed.epoch) == (True, 0)


def test_states_outlive_the_process(tmp_path: Path) -> None:
    directory = made(tmp_path / "cluster", brokers=2, state_partitions=3)
    cluster = opened(directory)
    identities = {}
    for name in ("a", "b", "c", "d"):
        producer = Producer(cluster, name)
        producer.send(P0, name)
        identities[name] = producer.end(commit=name in "ac")
    cluster.close()
    cluster = opened(directory)
    coordinator = TransactionCoordinator(cluster)
    found = coordinator.transactions()
    assert {name: state.identity for name, state in found.items()} == identities
    assert [state.state.label for state in found.values()] == ["CompleteCommit", "CompleteAbort"] * 2
    assert coordinator.init_producer_id("a") == (identities["a"].producer_id, identities["a"].epoch + 1)
    assert values(cluster, P0) == ["a", "c"]
    cluster.close()


def test_the_first_transaction_makes_the_topic(tmp_path: Path) -> None:
    make_cluster(str(tmp_path / "cluster"), 3, files=Files(sync=False))
    cluster = opened(str(tmp_path / "cluster"))
    assert TransactionCoordinator(cluster).transactions() == {}
    assert TRANSACTION_STATE not in cluster.image().topics
    TransactionCoordinator(cluster).init_producer_id("pay")
    topic = cluster.image().topics[TRANSACTION_STATE]
    assert (len(topic.partitions), len(topic.partitions[0].replicas)) == (50, 3)
    assert cluster.image().config(TOPIC, TRANSACTION_STATE)["cleanup.policy"] == "compact"
    assert list(TransactionCoordinator(cluster).transactions()) == ["pay"]
    cluster.close()


def test_a_transaction_ends_though_a_topic_was_deleted(cluster: DirectoryCluster) -> None:
    cluster.apply(CreateTopic("gone", 1, 1))
    producer = Producer(cluster, "pay")
    producer.send(P0, "a")
    producer.send(TopicPartition("gone", 0), "b")
    cluster.apply(DeleteTopic("gone"))
    producer.end(commit=True)
    assert values(cluster, P0) == ["a"]


STEPS = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["send 0", "send 1", "commit", "abort", "restart"])),
    max_size=25,
)


@settings(max_examples=25)
@given(STEPS, st.sampled_from([1, 2]))
def test_readers_see_what_was_committed_in_the_order_it_was_sent(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]], version: int
) -> None:
    cluster = opened(made(tmp_path_factory.mktemp("model") / "cluster", version=version, state_partitions=1))
    coordinator = TransactionCoordinator(cluster)
    producers = {name: Producer(cluster, name, coordinator) for name in "ab"}
    sent: list[tuple[TopicPartition, str, str]] = []  # partition, producer, value
    ended: dict[str, bool] = {}
    waiting: dict[str, list[str]] = {"a": [], "b": []}
    for number, (name, step) in enumerate(steps):
        if step.startswith("send"):
            partition = TopicPartition(TX, int(step[-1]))
            producers[name].send(partition, str(number))
            sent.append((partition, name, str(number)))
            waiting[name].append(str(number))
        elif step == "restart":
            producers[name] = Producer(cluster, name, coordinator)
            ended |= dict.fromkeys(waiting[name], False)
            waiting[name].clear()
        elif waiting[name]:
            producers[name].end(step == "commit")
            ended |= dict.fromkeys(waiting[name], step == "commit")
            waiting[name].clear()
    for name in "ab":
        Producer(cluster, name, coordinator)
    for partition in (P0, P1):
        assert values(cluster, partition) == [value for at, _, value in sent if at == partition and ended.get(value)]
        assert values(cluster, partition, committed=False) == [value for at, _, value in sent if at == partition]
    cluster.close()
