"""Real brokers on transactions that kafkapy wrote, and kafkapy on those that real brokers and clients wrote.

kafkapy leaves transactions committed, aborted, open, and decided but not finished, as after a crash. Real Kafka 4.3.1
lists them so, finishes the last, shows consumers what is committed, and lets a real producer go on under the same
transactional id. The states that it writes then are compared field by field with kafkapy's own.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.transaction_coordinator import MAX_TIMEOUT_MS, TransactionCoordinator
from kafkapy.coordinator.transaction_state_manager import TransactionStateManager
from kafkapy.formats.message import Value
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic
from tests.coordinator.transactions import P0, TX, Producer, decoded, state_records, values
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

TIMES = ("transactionLastUpdateTimestampMs", "transactionStartTimestampMs")


def made(path: Path, brokers: int) -> DirectoryCluster:
    kafka_libs()
    make_cluster(str(path), brokers, files=Files(sync=False))
    cluster = DirectoryCluster(str(path), Files(sync=False))
    cluster.apply(CreateTopic(TX, 1, brokers))
    return cluster


def leave_transactions(cluster: DirectoryCluster) -> None:
    """One committed, one aborted, one open."""
    coordinator = TransactionCoordinator(cluster)
    for name, commit in (("pay", True), ("void", False)):
        producer = Producer(cluster, name, coordinator)
        producer.send(P0, f"{name} by kafkapy")
        producer.end(commit)
    Producer(cluster, "open", coordinator, MAX_TIMEOUT_MS).send(P0, "open by kafkapy")


def leave_decided(cluster: DirectoryCluster) -> None:
    """One whose commit is decided, without markers, as a crash leaves it."""
    Producer(cluster, "crashed").send(P0, "crashed by kafkapy")
    states = TransactionStateManager(cluster)
    ongoing = states.find("crashed")
    assert ongoing is not None
    states.put(ongoing.prepare(True, cluster.now, 2, -1))


def commit_with_kafka(real: RealCluster, transactional_id: str, *sent: str) -> None:
    command = [*kafka_java("TransactionalProducer")]
    subprocess.run([*command, real.bootstrap, transactional_id, TX, *sent], check=True, timeout=60, capture_output=True)


ATTEMPTS = 3


def listed(real: RealCluster) -> dict[str, str]:
    """The state of every transactional id, when none is being ended any more."""
    deadline = time.monotonic() + 60
    while True:
        rows = [line.split() for line in real.tool("TransactionsCommand", "list").splitlines()[1:]]
        found = {row[0]: row[3] for row in rows}
        if time.monotonic() > deadline or not any(state.startswith("Prepare") for state in found.values()):
            return found
        time.sleep(0.5)


def consumed(real: RealCluster, count: int) -> list[str]:
    options = ("--topic", TX, "--from-beginning", "--isolation-level", "read_committed", "--timeout-ms", "60000")
    return real.tool("consumer.ConsoleConsumer", *options, "--max-messages", str(count)).splitlines()


def history(cluster: DirectoryCluster, transactional_id: str) -> list[Value]:
    """The states of an id, without what differs between any two producers: the numbers of the id, and times."""
    rows = [row for row in map(decoded, state_records(cluster)) if row.key["transactionalId"] == transactional_id]
    found = []
    for row in rows:
        assert (row.version, row.value is not None) == (1, True)
        value: Value = dict(row.value or {})
        assert value["previousProducerId"] == value["producerId"]
        value |= {"producerId": 0, "previousProducerId": 0}
        value |= {name: value[name] > 0 for name in TIMES}
        found.append(value)
    return found


def test_real_kafka_goes_on_with_the_transactions_of_kafkapy_and_back(tmp_path: Path) -> None:
    cluster = made(tmp_path / "cluster", 3)
    leave_transactions(cluster)
    cluster.close()
    with RealCluster(tmp_path / "cluster", tmp_path) as real:
        real.wait_until_in_sync(51)
        assert listed(real) == {"pay": "CompleteCommit", "void": "CompleteAbort", "open": "Ongoing"}
        described = real.tool("TransactionsCommand", "describe", "--transactional-id", "pay").splitlines()[1].split()
        assert described[1:2] + described[3:6] == ["pay", "1", "CompleteCommit", "60000"]
        real.tool("TransactionsCommand", "forceTerminateTransaction", "--transactionalId", "open")
        commit_with_kafka(real, "pay", "pay by Kafka")
        commit_with_kafka(real, "fresh", "fresh by Kafka")
        seen = consumed(real, 3)
    assert seen == ["pay by kafkapy", "pay by Kafka", "fresh by Kafka"]

    cluster = DirectoryCluster(str(tmp_path / "cluster"), Files(sync=False))
    try:
        assert values(cluster, P0) == seen, "the real brokers' markers are understood"
        assert history(cluster, "fresh") == history(cluster, "pay")[:4], "Kafka's states against kafkapy's"
        coordinator = TransactionCoordinator(cluster)
        before = coordinator.transactions()["pay"]
        assert [value["producerEpoch"] for value in history(cluster, "pay")] == [0, 0, 1, 1, 2, 2, 3, 3]
        producer = Producer(cluster, "pay", coordinator)
        assert producer.identity == (before.producer_id, before.producer_epoch + 1)
        producer.send(P0, "pay again")
        producer.end(commit=True)
        assert history(cluster, "pay")[4:8] == [
            value | {"producerEpoch": value["producerEpoch"] - 2} for value in history(cluster, "pay")[8:]
        ], "a producer that goes on: Kafka's states against kafkapy's"
        assert values(cluster, P0) == [*seen, "pay again"]
    finally:
        cluster.close()


def test_real_kafka_finishes_what_kafkapy_decided(tmp_path: Path) -> None:
    """On one broker: of several, a coordinator may load the state before the partition has a leader, and Kafka 4.3.1
    then takes the partition for deleted and completes the transaction without a marker. On a busy machine one broker
    loses that race now and then, too, so it is given another cluster to win it on."""
    for attempt in range(ATTEMPTS):
        directory = tmp_path / f"cluster-{attempt}"
        cluster = made(directory, 1)
        leave_decided(cluster)
        cluster.close()
        with RealCluster(directory, tmp_path) as real:
            real.wait_until_in_sync(51)
            seen, states = consumed(real, 1), listed(real)
        if seen:
            break
    assert seen == ["crashed by kafkapy"]
    assert states == {"crashed": "CompleteCommit"}
