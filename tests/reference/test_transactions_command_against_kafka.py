"""Kafka's TransactionsCommand on a real broker, beside kafkapy's on the same directory before it was booted.

kafkapy leaves transactions that are committed, aborted, open and not begun, one that hangs, and one that hung until
``kafkapy transactions abort`` ended it. The real tool lists, describes and finds the same, and refuses in the same
words; the real broker serves what lies behind the aborted one. What the real tool then aborts leaves the same marker,
and what it terminates the same states, as with kafkapy.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE
from kafkapy.coordinator.transaction_coordinator import MAX_TIMEOUT_MS, TransactionCoordinator
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.commands.running import Done, run
from tests.coordinator.transactions import P0, P1, TX, Producer, decoded, markers, state_records, values
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

AN_HOUR = 3_600_000
HANGING, ENDED = ProducerIdAndEpoch(900_001, 3), ProducerIdAndEpoch(900_002, 7)
DURATIONS = {"describe": 7, "find-hanging": 7}  # the columns that grow while one looks
WHERE = ("--topic", TX, "--partition")

SHOWN = [
    ("list",),
    ("list", "--duration-filter", "0"),
    ("list", "--duration-filter", "90000000"),
    ("list", "--transactional-id-pattern", "(pay|op).*"),
    ("describe", "--transactional-id", "pay"),
    ("describe", "--transactional-id", "void"),
    ("describe", "--transactional-id", "open"),
    ("describe", "--transactional-id", "idle"),
    ("describe-producers", *WHERE, "0"),
    ("describe-producers", *WHERE, "1"),
    ("describe-producers", *WHERE, "0", "--broker-id", "1"),
    ("find-hanging", "--topic", TX),
    ("find-hanging", *WHERE, "1"),
    ("find-hanging", "--broker-id", "1"),
    ("find-hanging", "--broker-id", "1", "--max-transaction-timeout", "0"),
    ("find-hanging", "--topic", TX, "--max-transaction-timeout", "70"),
]
PRODUCER = ("--producer-id", str(HANGING.producer_id), "--coordinator-epoch", "-1", "--producer-epoch")
REFUSED = [
    ("describe", "--transactional-id", "nobody"),
    ("find-hanging", "--topic", "nope"),
    ("abort", *WHERE, "0", "--start-offset", "77"),
    ("abort", *WHERE, "0", *PRODUCER, "2"),
]


def produce(cluster: DirectoryCluster, partition: TopicPartition, producer: ProducerIdAndEpoch, value: str) -> None:
    """A late batch, which opens a transaction that no coordinator was told of."""
    options = BatchOptions(
        transactional=True, producer_id=producer.producer_id, producer_epoch=producer.epoch, base_sequence=0
    )
    cluster.append(partition, encode_batch([Record(0, cluster.now - AN_HOUR, None, value.encode())], options))


def leave_transactions(directory: Path) -> None:
    make_cluster(str(directory), 1, files=Files(sync=False))
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    cluster.apply(CreateTopic(TX, 2, 1), CreateTopic(TRANSACTION_STATE, 5, 1))
    coordinator = TransactionCoordinator(cluster)
    for name, commit in (("pay", True), ("void", False)):
        producer = Producer(cluster, name, coordinator)
        producer.send(P0, name)
        producer.send(P1, name)
        producer.end(commit)
    produce(cluster, P0, HANGING, "hangs")
    produce(cluster, P1, ENDED, "hung")
    Producer(cluster, "open", coordinator, MAX_TIMEOUT_MS).send(P0, "open")
    later = Producer(cluster, "late", coordinator)
    later.send(P1, "behind")
    later.end(commit=True)
    coordinator.init_producer_id("idle")
    cluster.close()


class Asked(NamedTuple):
    code: int
    out: list[str]
    err: str


def ask_kafka(real: RealCluster, *runs: tuple[str, ...]) -> list[Asked]:
    lines = "".join("\t".join(("--bootstrap-server", real.bootstrap, *each)) + "\n" for each in runs)
    done = subprocess.run(
        [*kafka_java("TransactionsMany")], input=lines, stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )
    answers = []
    for line in done.stdout.splitlines():
        code, *texts = line.split(",")
        out, err = (base64.b64decode(text).decode() for text in texts)
        answers.append(Asked(int(code), out.splitlines(), err))
    return answers


def comparable(command: str, lines: list[str]) -> list[list[str]]:
    """The cells of a table but durations; Kafka's rows come in no order."""
    rows = [line.split("\t") for line in lines]
    duration = DURATIONS.get(command)
    kept = [[cell for at, cell in enumerate(row) if at != duration] for row in rows]
    return [*kept[:1], *sorted(kept[1:])]


def test_kafka_says_the_same_of_kafkapys_transactions(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    leave_transactions(directory)

    def ours(*args: str, on: Path = directory) -> Done:
        return run(capfd, "transactions", "--cluster", on, *args)

    hung_at = next(row for row in ours("find-hanging", *WHERE, "1", "--output", "jsonl").rows)["start_offset"]
    assert ours("abort", *WHERE, "1", "--start-offset", str(hung_at)).code == 0
    shown, refused = [ours(*args) for args in SHOWN], [ours(*args) for args in REFUSED]
    copy = Path(shutil.copytree(directory, tmp_path / "copy"))
    begin = next(row for row in ours("find-hanging", "--topic", TX, "--output", "jsonl").rows)["start_offset"]
    ends = (
        ("abort", *WHERE, "0", "--start-offset", str(begin)),
        ("forceTerminateTransaction", "--transactionalId", "open"),
    )
    ended = [ours(*args, on=copy) for args in ends]

    with RealCluster(directory, tmp_path) as real:
        real.wait_until_in_sync(7)
        answers = ask_kafka(real, *SHOWN, *REFUSED, *ends)
        options = ("--topic", TX, "--partition", "1", "--offset", "earliest", "--isolation-level", "read_committed")
        seen = real.tool("consumer.ConsoleConsumer", *options, "--timeout-ms", "60000", "--max-messages", "2")
    assert seen.splitlines() == ["pay", "behind"], "the transaction that kafkapy aborted holds nobody up"

    for args, mine, answer in zip(SHOWN, shown, answers, strict=False):
        assert (mine.code, mine.err, answer.code) == (0, "", 0)
        assert comparable(args[0], mine.lines) == comparable(args[0], answer.out), args
    searched = [len(mine.lines) for args, mine in zip(SHOWN, shown, strict=True) if args[0] == "find-hanging"]
    assert searched == [2, 1, 2, 2, 1]
    for args, mine, answer in zip(REFUSED, refused, answers[len(SHOWN) :], strict=False):
        assert (mine.code, mine.out, mine.err) == (1, "", answer.err), args
        assert answer.code == 1
    assert [(each.code, each.out, each.err) for each in ended] == [(0, "", "")] * 2
    assert answers[-2:] == [Asked(0, [], "")] * 2

    kafkas, kafkapys = (DirectoryCluster(str(path), Files(sync=False)) for path in (directory, copy))
    try:
        by_kafka, by_kafkapy = markers(kafkas, P0), markers(kafkapys, P0)
        assert by_kafka[:3] == by_kafkapy[:3], "the third is the administrator's"
        assert [each[:3] for each in by_kafka] == [each[:3] for each in by_kafkapy], "the booted one has a later epoch"
        assert values(kafkas, P0) == values(kafkapys, P0) == ["pay"]
        assert history(kafkas) == history(kafkapys)
    finally:
        kafkas.close()
        kafkapys.close()


def history(cluster: DirectoryCluster) -> list[dict[str, object]]:
    """Every state that the terminated id was in, without times."""
    rows = [row for row in map(decoded, state_records(cluster)) if row.key["transactionalId"] == "open"]
    assert [(row.value or {})["transactionStatus"] for row in rows] == [0, 1, 3, 5, 0]
    return [{name: value for name, value in (row.value or {}).items() if "TimestampMs" not in name} for row in rows]
