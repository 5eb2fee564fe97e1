"""transactions: Kafka's tables from the files of brokers, and what aborts in a cluster directory."""

from __future__ import annotations

import csv
import io
import json
import shutil
import time
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE, partition_for
from kafkapy.coordinator.transaction_coordinator import MAX_TIMEOUT_MS, TransactionCoordinator
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.coordinator.transaction_state_manager import TransactionStateManager
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from tests.commands.running import Done, dirs, printed, run
from tests.coordinator.transactions import P0, P1, Producer, made, markers, statuses, values

Capture = pytest.CaptureFixture[str]
LATE = "Enable debug logging for additional detail."
HANGING = ProducerIdAndEpoch(4711, 3)
AN_HOUR = 3_600_000


def cells(done: Done) -> list[list[str]]:
    """The cells of the table, which must be padded, with a tab after each."""
    assert all(line.endswith("\t") for line in done.lines)
    assert len({tuple(map(len, line.split("\t"))) for line in done.lines}) == 1
    return [[cell.strip() for cell in line.split("\t")[:-1]] for line in done.lines]


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    """A cluster with a committed transaction, an open one, and one that no coordinator knows, an hour old."""
    directory = made(tmp_path / "cluster")
    opened = DirectoryCluster(directory, Files(sync=False))
    coordinator = TransactionCoordinator(opened)
    done = Producer(opened, "done", coordinator)
    done.send(P0, "kept")
    done.end(commit=True)
    Producer(opened, "open", coordinator, MAX_TIMEOUT_MS).send(P1, "open")
    options = BatchOptions(transactional=True, producer_id=4711, producer_epoch=3, base_sequence=0)
    opened.append(P0, encode_batch([Record(0, opened.now - AN_HOUR, None, b"hangs")], options))
    opened.close()
    return directory


def test_list_of_a_crashed_cluster_is_what_kafka_printed(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "transactions", "--log-dirs", dirs(golden, "crashed"), "list")
    assert (done.code, done.err) == (0, "")
    before = [line for line in done.lines if "pay-hung" not in line]
    assert before == printed(golden, "transactions-list"), "which was printed before the last transaction began"
    assert cells(done)[2] == ["pay-hung", "1", "1001", "Ongoing"]


def test_list_where_no_broker_leads(capfd: Capture, golden: Path, zk_era: Path) -> None:
    listed = cells(run(capfd, "transactions", "list", "--log-dirs", dirs(golden)))
    wanted = [line.split() for line in printed(golden, "recovered-transactions-list")]
    assert listed == [wanted[0], *([name, "none", *rest] for name, _, *rest in wanted[1:])]
    old = cells(run(capfd, "transactions", "list", "--log-dirs", dirs(zk_era)))
    assert old[1:] == [["zk-pay", "none", "1000", "CompleteCommit"]]


def test_list_filters(capfd: Capture, golden: Path) -> None:
    where = ("transactions", "--log-dirs", dirs(golden, "crashed"), "list")
    found = run(capfd, *where, "--transactional-id-pattern", "pay-[12]", "--output", "jsonl").rows
    assert [row["transactional_id"] for row in found] == ["pay-2", "pay-1"]
    assert found[0] == {
        "type": "transaction",
        "transactional_id": "pay-2",
        "coordinator": 1,
        "producer_id": 1000,
        "state": "CompleteCommit",
    }
    assert len(run(capfd, *where, "--duration-filter", "60000").lines) == 4
    assert len(run(capfd, *where, "--duration-filter", str(1 << 50)).lines) == 1, "only the titles"
    done = run(capfd, *where, "--transactional-id-pattern", "*")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Failed to list transactions: Transaction ID pattern `*` is not a valid regular expr")


def test_describe(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "transactions", "--log-dirs", dirs(golden, "crashed"), "describe", "--transactional-id", "pay-1")
    titles, row = cells(done)
    wanted_titles, wanted = (line.split("\t")[:-1] for line in printed(golden, "transactions-describe"))
    assert titles == wanted_titles
    assert [row[i] for i in range(9) if i != 7] == [wanted[i].strip() for i in range(9) if i != 7]
    assert int(row[7]) > int(wanted[7]), "the duration grows while nobody uses the id"
    hung = run(capfd, "transactions", "--log-dirs", dirs(golden), "describe", "--transactional-id", "pay-hung")
    assert cells(hung)[1][:6] + cells(hung)[1][8:] == ["none", "pay-hung", "1001", "0", "Ongoing", "60000", "tx-0"]


def test_describe_of_an_id_that_began_nothing(capfd: Capture, cluster: str) -> None:
    opened = DirectoryCluster(cluster, Files(sync=False))
    TransactionCoordinator(opened).init_producer_id("idle")
    opened.close()
    where = ("transactions", "--cluster", cluster, "describe", "--transactional-id", "idle")
    assert cells(run(capfd, *where))[1][4:] == ["Empty", "60000", "None", "None", ""]
    (row,) = run(capfd, *where, "--output", "jsonl").rows
    assert (row["start_timestamp"], row["duration_ms"], row["partitions"]) == (None, None, [])


def test_describe_of_an_unknown_id(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "transactions", "--log-dirs", dirs(golden), "describe", "--transactional-id", "nope")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "Failed to describe transaction state of transactional-id `nope`: DescribeTransactions request for "
        f"transactionalId `nope` failed because the ID could not be found. {LATE}\n"
    )


@pytest.mark.parametrize("broker", [(), ("--broker-id", "1"), ("--broker-id", "3")])
def test_describe_producers(capfd: Capture, golden: Path, broker: tuple[str, ...]) -> None:
    where = ("transactions", "--log-dirs", dirs(golden, "crashed"), "describe-producers")
    done = run(capfd, *where, "--topic", "tx", "--partition", "0", *broker)
    assert done.lines[:3] == printed(golden, "transactions-producers")
    assert cells(done)[3:] == [["1001", "0", "-1", "5", "1794799264859", "39"]], "the open one came later"


def test_describe_producers_that_cannot_be_asked(capfd: Capture, golden: Path) -> None:
    where = ("transactions", "--log-dirs", dirs(golden), "describe-producers", "--partition", "0")
    done = run(capfd, *where, "--topic", "tx", "--broker-id", "9")
    assert (done.code, done.out, done.err) == (
        1,
        "",
        "Failed to describe producers for partition tx-0 on broker 9: Failed to describe active producers for "
        f"partition tx-0 on brokerId 9. {LATE}\nkafkapy: there is no broker 9; there are 1, 2, 3\n",
    )
    done = run(capfd, *where, "--topic", "nope")
    assert done == (1, "", "kafkapy: there is no topic 'nope'\n")
    done = run(capfd, *where[:-1], "9", "--topic", "orders")
    assert done == (1, "", "kafkapy: topic 'orders' has no partition 9: it has 3\n")


@pytest.mark.parametrize("scope", [("--broker-id", "1"), ("--topic", "tx"), ("--topic", "tx", "--partition", "0")])
def test_the_open_transaction_of_a_crashed_cluster_hangs(capfd: Capture, golden: Path, scope: tuple[str, ...]) -> None:
    done = run(capfd, "transactions", "--log-dirs", dirs(golden, "crashed"), "find-hanging", *scope)
    assert done.code == 0
    titles, *found = cells(done)
    assert titles == printed(golden, "recovered-find-hanging")[0].split("\t")[:-1]
    assert [row[:-1] for row in found] == [["tx", "0", "1001", "0", "-1", "39", "1794799264859"]]
    assert int(found[0][-1]) <= (time.time() * 1000 - 1794799264859) / 60_000


def test_only_what_nobody_will_end_hangs(capfd: Capture, cluster: str) -> None:
    where = ("transactions", "--cluster", cluster, "find-hanging", "--topic", "tx")
    (row,) = run(capfd, *where, "--output", "jsonl").rows
    assert row | {"last_timestamp": 0} == {
        "type": "hanging_transaction",
        "topic": "tx",
        "partition": 0,
        "producer_id": 4711,
        "producer_epoch": 3,
        "coordinator_epoch": -1,
        "start_offset": 2,
        "last_timestamp": 0,
        "duration_min": 60,
    }
    both = run(capfd, *where, "--max-transaction-timeout", "0", "--output", "jsonl").rows
    assert both == [row], "the coordinator has the other, within its timeout"
    assert len(run(capfd, *where, "--max-transaction-timeout", "61").lines) == 1
    assert len(run(capfd, *where, "--partition", "1").lines) == 1


def test_a_decided_transaction_whose_marker_never_came_hangs_and_is_not_to_be_aborted(
    capfd: Capture, tmp_path: Path
) -> None:
    """As a coordinator leaves it that dies after its decision: nobody is there to write the markers."""
    directory = made(tmp_path / "cluster")
    long_ago = int(time.time() * 1000) - AN_HOUR
    opened = DirectoryCluster(directory, Files(sync=False), now=long_ago)
    states = TransactionStateManager(opened)
    for transactional_id, commit in (("commits", True), ("aborts", False)):
        producer = Producer(opened, transactional_id)
        producer.send(P0, "decided")
        ongoing = TransactionStateManager(opened).find(transactional_id)
        assert ongoing is not None
        states.put(ongoing.prepare(commit, long_ago, 2, -1))
    opened.close()
    where = ("transactions", "--cluster", directory, "find-hanging", "--topic", "tx")
    done = run(capfd, *where, "--output", "jsonl")
    assert [row["start_offset"] for row in done.rows] == [0, 1]
    first, second = done.err.splitlines()
    assert (" in tx-0: commits is in PrepareCommit, and" in first, "aborts is in PrepareAbort" in second) == (
        True,
        True,
    )
    assert first.startswith("kafkapy: do not abort producer ")
    assert run(capfd, *where, "--max-transaction-timeout", "61").err == "", "it is not that old"
    assert run(capfd, "cluster", "replicate", "--cluster", directory).code == 0
    assert run(capfd, *where, "--output", "jsonl").rows == []
    opened = DirectoryCluster(directory, Files(sync=False))
    assert values(opened, P0) == ["decided"], "one of the two is committed"
    opened.close()


def test_what_cannot_be_searched_is_told(capfd: Capture, golden: Path, tmp_path: Path) -> None:
    one = golden / "crashed" / "broker-2"
    done = run(capfd, "transactions", "--log-dirs", one, "find-hanging", "--broker-id", "1")
    assert (done.code, done.err) == (1, "kafkapy: nothing of broker 1 is in the given log dirs: they belong to 2\n")
    done = run(capfd, "transactions", "--log-dirs", one, "find-hanging", "--topic", "nope")
    assert done.err == f"Failed to describe 1 topics: This server does not host this topic-partition.. {LATE}\n"
    shutil.copytree(one, tmp_path / "broker-2", ignore=shutil.ignore_patterns("rolled-*"))
    done = run(capfd, "transactions", "--log-dirs", tmp_path / "broker-2", "find-hanging", "--broker-id", "2")
    assert (done.code, [row[2] for row in cells(done)[1:]]) == (1, ["1001"])
    assert done.err.startswith("Failed to describe producers for partition rolled-0 on broker 2: ")


def test_abort_by_offset(capfd: Capture, cluster: str) -> None:
    where = ("transactions", "--cluster", cluster, "abort", "--topic", "tx", "--partition", "0")
    done = run(capfd, *where, "--start-offset", "0")
    assert (done.code, done.err) == (
        1,
        "Could not find any open transactions starting at offset 0 on partition tx-0\n",
    )
    assert run(capfd, *where, "--start-offset", "2") == (0, "", "")
    assert run(capfd, *where, "--start-offset", "2").code == 1, "it has ended"
    assert len(run(capfd, "transactions", "--cluster", cluster, "find-hanging", "--topic", "tx").lines) == 1
    opened = DirectoryCluster(cluster, Files(sync=False))
    assert markers(opened, P0)[-1] == (*HANGING, b"\0\0\0\0", b"\0\0\0\0\0\0")
    assert values(opened, P0) == ["kept"]
    opened.close()


def test_abort_by_producer(capfd: Capture, cluster: str) -> None:
    where = ("transactions", "--cluster", cluster, "abort", "--topic", "tx", "--partition", "0")
    producer = ("--producer-id", "4711", "--coordinator-epoch", "-1", "--producer-epoch")
    done = run(capfd, *where, *producer, "2")
    spec = "AbortTransactionSpec(topicPartition=tx-0, producerId=4711, producerEpoch=2, coordinatorEpoch=0)"
    assert (done.code, done.out, done.err) == (
        1,
        "",
        f"Failed to abort transaction {spec}: WriteTxnMarkers request with {spec} failed due an invalid producer "
        f"epoch. {LATE}\n",
    )
    assert run(capfd, *where, *producer, "3") == (0, "", "")
    opened = DirectoryCluster(cluster, Files(sync=False))
    assert values(opened, P0) == ["kept"]
    opened.close()


def test_force_terminate(capfd: Capture, cluster: str) -> None:
    where = ("transactions", "--cluster", cluster, "forceTerminateTransaction", "--transactionalId")
    assert run(capfd, *where, "open") == (0, "", "")
    done = run(capfd, *where, "nope")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Failed to force terminate transactionalId `nope`: InitProducerId request for ")
    opened = DirectoryCluster(cluster, Files(sync=False))
    assert [status for status, _, _ in statuses(opened, "open")] == [0, 1, 3, 5, 0]
    assert len(markers(opened, P1)) == 1
    opened.close()


@pytest.mark.parametrize(
    "args",
    [
        ("abort", "--topic", "tx", "--partition", "0", "--start-offset", "39"),
        ("forceTerminateTransaction", "--transactionalId", "pay-hung"),
    ],
)
def test_real_brokers_directories_are_not_written(capfd: Capture, golden: Path, args: tuple[str, ...]) -> None:
    done = run(capfd, "transactions", "--log-dirs", dirs(golden, "crashed"), *args)
    assert (done.code, done.out) == (1, "")
    assert "is not supported by --log-dirs" in done.err


def test_damaged_states_are_told_and_the_rest_is_shown(capfd: Capture, cluster: str) -> None:
    opened = DirectoryCluster(cluster, Files(sync=False))
    partition = TopicPartition(TRANSACTION_STATE, partition_for("open", 2))
    key = b"\0\0\0\x04open"
    at = opened.append_as_coordinator(partition, encode_batch([Record(0, opened.now, key, b"\0\x63")]), 2).first_offset
    opened.close()
    told = f"kafkapy: {partition} at offset {at}: Found an unknown record version 99 for 0 type\n"
    done = run(capfd, "transactions", "--cluster", cluster, "list")
    assert [row[0] for row in cells(done)[1:]] == ["done", "open"], "the state before the damage holds"
    assert (done.code, done.err) == (1, told)
    done = run(capfd, "transactions", "--cluster", cluster, "describe", "--transactional-id", "open")
    assert (done.code, done.err, cells(done)[1][4]) == (1, told, "Ongoing")


def test_other_outputs(capfd: Capture, golden: Path) -> None:
    where = ("transactions", "--log-dirs", dirs(golden, "crashed"), "--output")
    rows = json.loads(run(capfd, *where, "json", "list").out)["rows"]
    assert [row["producer_id"] for row in rows] == [1000, 1001, 1]
    text = run(capfd, *where, "csv", "describe-producers", "--topic", "tx", "--partition", "0").out
    found = list(csv.DictReader(io.StringIO(text)))
    assert [(row["producer_id"], row["current_txn_start_offset"]) for row in found][-1] == ("1001", "39")


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["find-hanging", "--broker-id", "1", "--partition", "0"], "The --partition argument requires --topic to be"),
        (["abort", "--topic", "tx", "--partition", "0"], "The transaction to abort must be identified either with"),
        (
            ["abort", "--topic", "tx", "--partition", "0", "--producer-id", "1"],
            "Missing required argument --producer-epoch",
        ),
        (
            ["abort", "--topic", "tx", "--partition", "0", "--producer-id", "1", "--producer-epoch", "0"],
            "Missing required argument --coordinator-epoch",
        ),
        (["describe"], "missing option '--transactional-id'"),
        (["abolish"], "no such command: abolish"),
    ],
)
def test_bad_usage(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "transactions", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {error}")
    if args[0] in ("find-hanging", "abort", "describe"):
        assert done.err.endswith(f". Try 'kafkapy transactions {args[0]} --help'.\n")


def test_without_a_scope_all_that_is_there_is_searched(capfd: Capture, cluster: str, golden: Path) -> None:
    scoped = run(capfd, "transactions", "--cluster", cluster, "find-hanging", "--topic", "tx", "--output", "jsonl")
    assert run(capfd, "transactions", "--cluster", cluster, "find-hanging", "--output", "jsonl") == scoped
    assert len(scoped.rows) == 1
    done = run(capfd, "transactions", "--log-dirs", dirs(golden, "crashed", 1), "find-hanging")
    assert (done.code, [row[2] for row in cells(done)[1:]]) == (0, ["1001"])
    assert done.err.startswith("kafkapy: not searched: ")
    assert done.err.endswith(" partitions that have no copy in the given log dirs\n")


@pytest.mark.parametrize("columns", ["200", "40"])
def test_the_table_has_all_that_abort_asks_for(
    capfd: Capture, cluster: str, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = run(capfd, "transactions", "--cluster", cluster, "find-hanging", "--output", "table")
    if columns == "40":
        found = [tuple(line.split()) for line in done.lines]
        assert {("producer_id", "4711"), ("producer_epoch", "3"), ("coordinator_epoch", "-1")} <= set(found)
        return
    titles = " ".join(done.lines[:3]).split()
    assert [titles.count(word) for word in ("coordinator", "producer", "epoch")] == [1, 2, 2]
    assert {"4711", "3", "-1"} <= set(done.lines[-1].split() or done.lines[-2].split())


@pytest.mark.parametrize("name", ["list", "describe", "describe-producers", "find-hanging", "abort"])
def test_help_has_the_options_of_a_command_before_the_others(capfd: Capture, name: str) -> None:
    text = run(capfd, "transactions", name, "--help").out
    others = text.partition("Other options:")[2].partition("Examples:")[0]
    assert [word for word in others.split() if word.startswith("--")] == ["--verbose", "--debug", "--version", "--help"]
    own = text.partition("Other options:")[0]
    assert all(option in own for option in ("--output", "--columns", "--no-header", "--sort-by")) is (name != "abort")


def test_help_says_where_options_may_stand(capfd: Capture) -> None:
    assert "may stand before the subcommand" in " ".join(run(capfd, "transactions", "--help").out.split())


@pytest.mark.parametrize("first", [("--log-dirs={}",), ("-log-dirs", "{}"), ("--output", "kafka", "--log-dirs", "{}")])
def test_options_before_the_sub_command(capfd: Capture, golden: Path, first: tuple[str, ...]) -> None:
    given = [word.format(dirs(golden)) for word in first]
    pattern = ("--transactional-id-pattern", "-not-an-option")
    done = run(capfd, "transactions", *given, "list", *pattern)
    assert (done.code, len(done.lines)) == (0, 1)
    assert run(capfd, "transactions", *given, "list", *given).code == 2  # twice
    assert run(capfd, "transactions", *given).code == 2
    assert run(capfd, "transactions", *given, "--help").code == 0
