"""transactions against TransactionsCommand, on a running cluster: open, ended and hanging ones."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from kafkapy.backends.live.client import Call, Client
from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.opening import parse_addresses
from kafkapy.errors import KafkapyError
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from tests.live_clients import Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs

TIMES = [(r"(\t\d{13} *\t)\d+ *(?=\t)", r"\1N"), (r" +\t", "\t")]
VERIFICATION = "transaction.partition.verification.enable"
AN_HOUR_MS = 3_600_000
HANGING_IDS = 770_000
# The same must come true of both; only the second makes it a pair.
BOTH = ["kafka", pytest.param("kafkapy", marks=pytest.mark.pair)]


@pytest.fixture(scope="module")
def state(live: LiveKafka) -> Iterator[None]:
    """A committed transaction, an aborted one, and an open one with two partitions."""
    topic = live.create_topic("txn-topic", assignment=[[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    with live.begin_transaction("txn-done", Sent(topic, "a", partition=0)) as done:
        done.commit()
    with live.begin_transaction("txn-gone", Sent(topic, "b", partition=1)) as gone:
        gone.abort()
    records = (Sent(topic, "c", partition=0), Sent(topic, "d", partition=2))
    with live.begin_transaction("txn-open", *records, properties={"transaction.timeout.ms": "600000"}):
        live.until(lambda: {"CompleteCommit", "CompleteAbort", "Ongoing"} <= states(live))
        yield
    live.delete_topics(topic)


def states(live: LiveKafka) -> set[str]:
    return {line.split()[-1] for line in transactions(live, "list") if line.startswith("txn-")}


def transactions(live: LiveKafka, *args: str) -> list[str]:
    done = live.kafkapy("transactions", "--bootstrap-server", live.bootstrap, *args)
    assert (done.code, done.err) == (0, ""), done
    return done.lines


PRODUCERS = ("transactions", "describe-producers", "--topic", "txn-topic", "--partition")


@pairs(
    pair("transactions", "list", order="sorted", code=0),
    pair("transactions", "list", "--transactional-id-pattern", "txn-(done|open)", order="sorted", code=0),
    pair("transactions", "list", "--transactional-id-pattern", "nothing.*", code=0),
    pair("transactions", "list", "--duration-filter", "0", order="sorted", code=0),
    pair("transactions", "list", "--duration-filter", "86400000", order="sorted", code=0),
    pair("transactions", "list", "--duration-filter", "-1", "--transactional-id-pattern", "txn-open", code=0),
    pair("transactions", "list", "--transactional-id-pattern", "(", code=1, stderr=True, scrub=[(r"broker \d", "")]),
    pair("transactions", "describe", "--transactional-id", "txn-done", code=0, scrub=TIMES),
    pair("transactions", "describe", "--transactional-id", "txn-gone", code=0, scrub=TIMES),
    pair(
        *("transactions", "describe", "--transactional-id", "txn-open"),
        code=0,
        scrub=[*TIMES, ("txn-topic-2,txn-topic-0", "txn-topic-0,txn-topic-2")],
    ),
    pair("transactions", "describe", "--transactional-id", "txn-unknown", code=1, stderr=True),
    pair(*PRODUCERS, "0", order="sorted", code=0),
    pair(*PRODUCERS, "1", order="sorted", code=0),
    pair(*PRODUCERS, "2", "--broker-id", "1", order="sorted", code=0),
    pair(*PRODUCERS, "0", "--broker-id", "3", order="sorted", code=0),
    pair("transactions", "find-hanging", "--topic", "txn-topic", code=0),
    pair("transactions", "find-hanging", "--topic", "txn-topic", "--partition", "0", code=0),
    pair("transactions", "find-hanging", "--broker-id", "2", code=0),
    pair("transactions", "find-hanging", "--broker-id", "1", "--max-transaction-timeout", "0", code=0),
    pair("transactions", "find-hanging", "--topic", "txn-not-there", code=1, stderr=True),
    pair(
        *("transactions", "abort", "--topic", "txn-topic", "--partition", "0", "--start-offset", "77"),
        code=1,
        stderr=True,
    ),
)
def test_what_coordinators_and_partitions_know(live: LiveKafka, state: None, case: Pair) -> None:
    check(live, case)


@pytest.mark.pair
def test_a_replica_that_a_broker_has_not(live: LiveKafka, state: None) -> None:
    topic = live.create_topic(assignment=[[1]])
    args = ("describe-producers", "--topic", topic, "--partition", "0", "--broker-id", "2")
    check(live, pair("transactions", *args, code=1, stderr=True))
    live.delete_topics(topic)


def test_an_unknown_partition_is_told_at_once(live: LiveKafka, state: None) -> None:
    """Kafka's tool waits for a minute."""
    where = ("transactions", "--bootstrap-server", live.bootstrap)
    done = live.kafkapy(*where, "describe-producers", "--topic", "txn-none", "--partition", "0", timeout_s=20)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Failed to describe producers for partition txn-none-0 on leader: This server does not")
    assert "kafkapy:" not in done.err


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ("describe-producers --topic txn-topic --partition 7", "partition txn-topic-7; there are 0, 1, 2"),
        ("describe-producers --topic txn-topik --partition 0", "topic 'txn-topik'; did you mean 'txn-topic'?"),
        ("find-hanging --topic txn-topic --partition 7", "partition txn-topic-7; there are 0, 1, 2"),
        ("find-hanging --topic txn-topik", "topic 'txn-topik'; did you mean 'txn-topic'?"),
        ("abort --topic txn-topic --partition 7 --start-offset 0", "partition txn-topic-7; there are 0, 1, 2"),
        (
            "abort --topic txn-topic --partition 7 --producer-id 1 --producer-epoch 0 --coordinator-epoch 0",
            "partition txn-topic-7; there are 0, 1, 2",
        ),
    ],
)
def test_which_partition_was_probably_meant(live: LiveKafka, state: None, args: str, hint: str) -> None:
    done = live.kafkapy("transactions", "--bootstrap-server", live.bootstrap, *args.split(), timeout_s=20)
    assert (done.code, done.err.splitlines()[1:]) == (1, [f"kafkapy: there is no {hint}"])


def test_a_broker_that_is_not_there_is_told_at_once(live: LiveKafka, state: None) -> None:
    """Kafka's tool waits for a minute."""
    args = ("describe-producers", "--topic", "txn-topic", "--partition", "0", "--broker-id", "9")
    done = live.kafkapy("transactions", "--bootstrap-server", live.bootstrap, *args, timeout_s=20)
    told = "broker 9 is not in the cluster's metadata: it may be down; the running ones are 1, 2, 3"
    assert (done.code, done.out, done.err) == (1, "", f"kafkapy: {told}\n")


def test_rows(live: LiveKafka, state: None) -> None:
    (row,) = map(json.loads, transactions(live, "describe", "--transactional-id", "txn-open", "--output", "jsonl"))
    assert (row["state"], row["partitions"], row["timeout_ms"]) == ("Ongoing", ["txn-topic-0", "txn-topic-2"], 600_000)
    assert 0 < row["duration_ms"] < AN_HOUR_MS


@pytest.mark.parametrize("tool", BOTH)
def test_an_id_is_forced_to_end(live: LiveKafka, tool: str) -> None:
    """The transaction is aborted and its producer fenced, whoever does it."""
    topic, transactional_id = live.create_topic(), live.name("txn-force")
    live.begin_transaction(transactional_id, Sent(topic, "pending", partition=0)).leave_open()
    where = ("--bootstrap-server", live.bootstrap, "forceTerminateTransaction", "--transactionalId", transactional_id)
    done = live.kafka("TransactionsCommand", *where) if tool == "kafka" else live.kafkapy("transactions", *where)
    assert done == (0, "", "")
    (row,) = map(
        json.loads, transactions(live, "describe", "--transactional-id", transactional_id, "--output", "jsonl")
    )
    assert (row["state"], row["timeout_ms"], row["partitions"]) == ("Empty", 30_000, [])
    found = transactions(live, "describe-producers", "--topic", topic, "--partition", "0", "--output", "jsonl")
    assert [json.loads(line)["current_txn_start_offset"] for line in found] == [None]
    live.delete_topics(topic)


def test_an_unknown_id_is_not_made(live: LiveKafka) -> None:
    """Kafka's tool would make it."""
    where = ("transactions", "--bootstrap-server", live.bootstrap)
    done = live.kafkapy(*where, "forceTerminateTransaction", "--transactionalId", "txn-never")
    assert (done.code, done.out) == (1, "")
    assert "failed because the ID could not be found" in done.err
    assert not any("txn-never" in line for line in transactions(live, "list"))


@pytest.fixture(scope="module")
def hanging(live: LiveKafka) -> Iterator[str]:
    """A topic whose partitions have a transaction each that no coordinator knows, and that is an hour old."""
    topic = live.create_topic("txn-hanging", assignment=[[1], [2], [3], [1]])
    _verify(live, False)
    client = Client(parse_addresses(live.bootstrap, "--bootstrap-server"), ClientConfig())
    try:
        live.until(lambda: all(_begun(client, topic, partition) for partition in range(4)))
        yield topic
    finally:
        client.close()
        _verify(live, True)
        live.delete_topics(topic)


def _verify(live: LiveKafka, on: bool) -> None:
    """Whether brokers ask the coordinator before they take a transaction's first batch."""
    change = ("--add-config", f"{VERIFICATION}=false") if not on else ("--delete-config", VERIFICATION)
    where = ("--bootstrap-server", live.bootstrap, "--entity-type", "brokers", "--entity-default")
    assert live.kafka("ConfigCommand", *where, "--alter", *change).code == 0


def _begun(client: Client, topic: str, partition: int) -> bool:
    """Send the first batch of a transaction; whether the broker has taken it."""
    options = BatchOptions(transactional=True, producer_id=HANGING_IDS + partition, producer_epoch=3, base_sequence=0)
    batch = encode_batch([Record(0, int(time.time() * 1000) - AN_HOUR_MS, None, b"hangs")], options)
    data = {"name": topic, "partitionData": [{"index": partition, "records": batch}]}
    fields = {"transactionalId": "txn-nobody", "acks": -1, "timeoutMs": 30_000, "topicData": [data]}
    (response,) = client.call_all([Call("Produce", fields, (1, 2, 3, 1)[partition], max_version=11)])
    assert not isinstance(response, KafkapyError), response
    ((answer,),) = (each["partitionResponses"] for each in response["responses"])
    return answer["errorCode"] == 0


@pytest.mark.pair
@pytest.mark.parametrize(
    "args",
    [
        ("--topic", "txn-hanging"),
        ("--topic", "txn-hanging", "--partition", "2"),
        ("--topic", "txn-hanging", "--broker-id", "1"),
        ("--broker-id", "2"),
        ("--topic", "txn-hanging", "--max-transaction-timeout", "100"),
    ],
    ids=" ".join,
)
def test_finding_what_hangs(live: LiveKafka, hanging: str, args: tuple[str, ...]) -> None:
    theirs = check(live, pair("transactions", "find-hanging", *args, order="sorted", code=0))
    assert ("770002" in theirs.out) == (args[-1] not in ("1", "2", "100") or "--partition" in args)


def test_searching_everywhere(live: LiveKafka, hanging: str) -> None:
    """Kafka's tool wants a topic or a broker."""
    rows = list(map(json.loads, transactions(live, "find-hanging", "--output", "jsonl")))
    assert [(row["topic"], row["partition"], row["producer_id"]) for row in rows] == [
        ("txn-hanging", partition, HANGING_IDS + partition) for partition in range(4)
    ]


@pytest.mark.parametrize("tool", BOTH)
@pytest.mark.parametrize("by", ["offset", "producer"])
def test_aborting_what_hangs(live: LiveKafka, hanging: str, tool: str, by: str) -> None:
    partition = str(2 * (by == "producer") + (tool == "kafkapy"))
    where = ("--bootstrap-server", live.bootstrap, "abort", "--topic", hanging, "--partition", partition)
    producer = (
        "--producer-id",
        str(HANGING_IDS + int(partition)),
        "--producer-epoch",
        "3",
        "--coordinator-epoch",
        "-1",
    )
    run = live.kafka if tool == "kafka" else live.kafkapy
    args = ("TransactionsCommand" if tool == "kafka" else "transactions", *where)
    stale = (*producer[:3], "1", *producer[4:])
    refused = run(*args, *stale)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"Failed to abort transaction {_spec(hanging, partition, 1)}: WriteTxnMarkers request with "
        f"{_spec(hanging, partition, 1)} failed due an invalid producer epoch. Enable debug logging for additional "
        "detail.\n"
    )
    assert run(*args, *(("--start-offset", "0") if by == "offset" else producer)) == (0, "", "")
    found = transactions(live, "find-hanging", "--topic", hanging, "--partition", partition)
    assert len(found) == 1, "only the titles"


def _spec(topic: str, partition: str, epoch: int) -> str:
    return (
        f"AbortTransactionSpec(topicPartition={topic}-{partition}, producerId={HANGING_IDS + int(partition)}, "
        f"producerEpoch={epoch}, coordinatorEpoch=0)"
    )
