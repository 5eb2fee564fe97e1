"""kafkapy console-consumer and console-producer beside Kafka's own on the same running cluster."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.live_clients import Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, check_waiting, pair, pairs
from tests.tool_server import ToolRun

RECORDS = "console-records"
WIDE = "console-wide"
TRANSACTIONS = "console-transactions"
EMPTY = "console-empty"
STAMPED = "console-stamped"
OLD = "console-old"
BEGIN = 1_700_000_000_000
ADVERTISED = [(r"^The consumer rebalance protocol \(KIP-848\).*\n", "")]
EVERY_COLUMN = [
    part
    for name in ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value")
    for part in ("--formatter-property", f"print.{name}=true")
]
NO_OP = "org.apache.kafka.tools.consumer.NoOpMessageFormatter"
LOGGING = "org.apache.kafka.tools.consumer.LoggingMessageFormatter"
STRINGS = "org.apache.kafka.common.serialization.StringDeserializer"
OFFSETS = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
GROUP_METADATA = "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter"
TRANSACTION_LOG = "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter"


@pytest.fixture(scope="module", autouse=True)
def _topics(live: LiveKafka) -> None:
    live.create_topic(RECORDS)
    live.create_topic(WIDE, assignment=[[1, 2], [2, 3], [3, 1]])
    live.create_topic(TRANSACTIONS)
    live.create_topic(EMPTY)
    live.create_topic(STAMPED, configs={"message.timestamp.type": "LogAppendTime"})
    live.create_topic(OLD)
    live.send(
        Sent(RECORDS, "one", "k1", 0, BEGIN, [("h", "x"), ("n", None)]),
        Sent(RECORDS, "two", None, 0, BEGIN + 1, []),
        Sent(RECORDS, None, "k3", 0, BEGIN + 2, [("é", "ü")]),
        Sent(RECORDS, "", "", 0, BEGIN + 3, []),
        Sent(RECORDS, "tab\tand\nnewline", "key\twith tab", 0, BEGIN + 4, [("a", "1"), ("a", "2")]),
        Sent(RECORDS, "grüße, 世界", "ключ", 0, BEGIN + 5, []),
    )
    live.produce(STAMPED, ["now"])
    for partition in range(3):
        live.produce(WIDE, [f"{partition}-{n}" for n in range(4)], partition)
    live.produce(OLD, [f"old {n}" for n in range(5)])
    for name, end in (("committed", "commit"), ("aborted", "abort"), ("committed-2", "commit")):
        with live.begin_transaction(live.name(f"console-{name}"), Sent(TRANSACTIONS, name, partition=0)) as transaction:
            getattr(transaction, end)()
    live.produce(TRANSACTIONS, ["plain"])
    live.begin_transaction("console-open", Sent(TRANSACTIONS, "open", partition=0)).leave_open()
    live.produce(TRANSACTIONS, ["behind"])
    live.commit("console-committed-group", WIDE, {0: 1, 1: 2, 2: 3})


@pytest.fixture(scope="module", autouse=True)
def _no_transaction_stays_open(live: LiveKafka, _topics: None) -> object:
    yield
    live.begin_transaction("console-open").abort()


def consumed(*args: str, count: int, **options: object) -> Pair:
    """A pair that reads so many records."""
    return pair(
        "console-consumer", *args, "--max-messages", str(count), stderr=True, scrub=ADVERTISED, code=0, **options
    )


def drained(*args: str, timeout_ms: int = 4000, **options: object) -> Pair:
    """A pair that reads until nothing has come for a while."""
    return pair("console-consumer", *args, "--timeout-ms", str(timeout_ms), code=0, **options)


@pairs(
    consumed("--topic", RECORDS, "--from-beginning", count=6),
    consumed("--topic", RECORDS, "--from-beginning", *EVERY_COLUMN, count=6),
    consumed("--topic", RECORDS, "--partition", "0", "--offset", "2", *EVERY_COLUMN, count=2),
    consumed("--topic", RECORDS, "--partition", "0", "--offset", "earliest", count=3),
    consumed("--topic", RECORDS, "--partition", "0", "--from-beginning", count=3),
    consumed(
        "--topic", RECORDS, "--from-beginning", "--formatter-property", "print.key=true",
        "--formatter-property", "key.separator= => ", "--formatter-property", "null.literal=NIL",
        "--formatter-property", "line.separator=|", count=6,
    ),
    consumed(
        "--topic", RECORDS, "--from-beginning", "--formatter-property", "print.headers=true",
        "--formatter-property", "headers.separator=;", "--formatter-property", "print.value=false", count=6,
    ),
    consumed("--topic", RECORDS, "--from-beginning", "--formatter", NO_OP, count=4),
    consumed("--topic", RECORDS, "--from-beginning", "--formatter", LOGGING, count=4),
    consumed(
        "--topic", RECORDS, "--from-beginning", "--value-deserializer", STRINGS, count=6,
    ),
    *(
        consumed(
            "--topic", RECORDS, "--from-beginning", *EVERY_COLUMN,
            "--formatter-property", f"{part}.deserializer={STRINGS}",
            "--formatter-property", f"{part}.deserializer.{setting}={encoding}", count=6,
        )
        for part, setting, encoding in (
            ("key", "key.deserializer.encoding", "ISO-8859-1"),
            ("value", "value.deserializer.encoding", "UTF-16"),
            ("headers", "deserializer.encoding", "UTF-16BE"),
        )
    ),
    consumed("--topic", RECORDS, "--from-beginning", "--isolation-level", "read_committed", count=6),
    consumed("--topic", RECORDS, "--from-beginning", "--consumer-property", "fetch.max.bytes=1", count=6),
    consumed("--topic", RECORDS, "--from-beginning", "--property", "print.offset=true", count=1),
    consumed("--topic", RECORDS, "--from-beginning", "--enable-systest-events", count=1),
    consumed("--topic", OLD, "--partition", "0", "--offset", "3", count=2),
    consumed("--topic", TRANSACTIONS, "--from-beginning", *EVERY_COLUMN[2:], count=6),
    consumed("--topic", WIDE, "--partition", "1", "--offset", "1", count=3),
    consumed("--topic", WIDE, "--from-beginning", count=12, order="sorted"),
    consumed("--include", "console-w.*|console-ol.", "--from-beginning", count=17, order="sorted"),
    consumed(
        "--topic", WIDE, "--from-beginning", "--command-property", "max.partition.fetch.bytes=100", count=12,
        order="sorted",
    ),
)  # fmt: skip
def test_records_are_printed_as_by_kafka(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pairs(
    drained("--topic", TRANSACTIONS, "--from-beginning"),
    drained("--topic", TRANSACTIONS, "--from-beginning", "--isolation-level", "read_committed"),
    drained("--topic", TRANSACTIONS, "--partition", "0", "--offset", "2", "--isolation-level", "read_committed"),
    drained("--topic", EMPTY, "--from-beginning", timeout_ms=2000),
    drained("--topic", RECORDS, timeout_ms=2000),
    drained("--topic", RECORDS, "--partition", "0", "--offset", "99", timeout_ms=2000),
    drained("--topic", RECORDS, "--partition", "0", "--offset", "latest", timeout_ms=2000),
    drained(
        "--topic", RECORDS, "--partition", "0", "--offset", "99", "--command-property", "auto.offset.reset=earliest"
    ),
)  # fmt: skip
def test_waiting_ends_as_in_kafka(live: LiveKafka, case: Pair) -> None:
    check_waiting(live, case)


@pairs(
    pair("console-consumer", "--from-beginning"),
    pair("console-consumer", "--topic", "a", "--include", "b"),
    pair("console-consumer", "--topic", RECORDS, "--offset", "1"),
    pair("console-consumer", "--include", "a", "--partition", "1"),
    pair("console-consumer", "--topic", RECORDS, "--partition", "0", "--offset", "soon"),
    pair("console-consumer", "--topic", RECORDS, "--partition", "0", "--offset", "-1"),
    pair("console-consumer", "--topic", RECORDS, "--partition", "0", "--offset", "1", "--from-beginning"),
    pair("console-consumer", "--topic", RECORDS, "--group", "g", "--partition", "0"),
    pair("console-consumer", "--topic", RECORDS, "--group", "g", "--command-property", "group.id=h"),
    pair("console-producer"),
)
def test_what_kafka_refuses_is_refused_in_its_words(live: LiveKafka, case: Pair) -> None:
    """Kafka's console consumer exits with 1 and its whole usage, kafkapy with 2 and one line."""
    theirs = live.kafka(case.kafka[0], "--bootstrap-server", live.bootstrap, *case.kafka[1:])
    ours = live.kafkapy(case.kafkapy[0], "--bootstrap-server", live.bootstrap, *case.kafkapy[1:])
    assert theirs.code == 1
    assert ours.code == 2
    said = ours.err.splitlines()[0].removeprefix("kafkapy: ").partition(". Try ")[0]
    assert said in theirs.err, theirs.err


@pairs(
    *(
        pair(
            "console-consumer", "--topic", topic, "--from-beginning", "--formatter", formatter, "--timeout-ms", "4000",
            "--command-property", "exclude.internal.topics=false",
        )
        for topic, formatter in (
            ("__consumer_offsets", OFFSETS),
            ("__consumer_offsets", GROUP_METADATA),
            ("__transaction_state", TRANSACTION_LOG),
        )
    )
)  # fmt: skip
def test_internal_topics_are_printed_as_by_kafka(live: LiveKafka, case: Pair) -> None:
    """Kafka's formatters put nothing between their objects, and partitions come in any order."""
    seen = ("--topic", WIDE, "--group", "console-seen", "--from-beginning", "--max-messages", "1")
    live.kafka("ConsoleConsumer", "--bootstrap-server", live.bootstrap, *seen)
    on = ("--bootstrap-server", live.bootstrap)
    theirs, ours = live.side_by_side((case.kafka[0], *on, *case.kafka[1:]), (case.kafkapy[0], *on, *case.kafkapy[1:]))
    missing = Counter(_objects(theirs.out)) - Counter(_objects(ours.out))
    assert not {each for each in missing if "console-consumer-" not in each}
    assert len(_objects(ours.out)) > 0


def _objects(text: str) -> list[str]:
    return text.replace("}{", "}\n{").splitlines()


def test_consumer_offsets_reads_over_the_network(live: LiveKafka) -> None:
    done = live.kafkapy("consumer-offsets", "--bootstrap-server", live.bootstrap, "--group", "console-committed-group")
    assert done.code == 0
    assert [f'"topic":"{WIDE}","partition":{n}' in done.out for n in range(3)] == [True] * 3
    assert done.out.count("\n") == 3


@pairs(
    *(
        pair("console-producer", *args, stdin=stdin)
        for args, stdin in (
            ((), "one\ntwo\n\nthree"),
            (("--reader-property", "parse.key=true"), "k1\tv1\nk2\tv2\nk1\tv3\n"),
            (("--reader-property", "parse.key=true", "--reader-property", "key.separator=:"), "a:1\nb:2:3\n"),
            (
                ("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"),
                "h1:v1,h2:v2\tkey\tvalue\nh:\tk\tv\n",
            ),
            (
                ("--reader-property", "parse.headers=true", "--reader-property", "null.marker=NIL"),
                "h1:NIL\tvalue\nNIL\tvalue\nh:x\tNIL\n",
            ),
            (("--reader-property", "parse.key=true", "--reader-property", "ignore.error=true"), "no key\nk\tv\n"),
            (("--sync",), "a\nb\nc\n"),
            (("--request-required-acks", "0"), "a\nb\n"),
            (("--request-required-acks", "1"), "a\nb\n"),
            (("--compression-codec",), "a\n" * 50),
            *((("--compression-codec", codec), "line\n" * 50) for codec in ("gzip", "snappy", "lz4", "zstd")),
            (("--batch-size", "100", "--timeout", "1"), "a rather long line of text\n" * 30),
            (("--producer-property", "enable.idempotence=false"), "a\nb\n"),
            ((), "umlaut ü 世界 \udcff\n".encode("utf-8", "surrogateescape").decode("latin-1")),
        )
    )
)  # fmt: skip
def test_lines_become_the_same_records(live: LiveKafka, case: Pair) -> None:
    topics = [live.create_topic(), live.create_topic()]
    theirs, ours = _both_produce(live, case, topics)
    assert (theirs.code, theirs.out) == (ours.code, ours.out) == (0, ours.out)
    first, second = (_read(live, topic) for topic in topics)
    assert first == second
    assert first


def _both_produce(live: LiveKafka, case: Pair, topics: list[str]) -> tuple[ToolRun, ToolRun]:
    on = ("--bootstrap-server", live.bootstrap)
    theirs = live.kafka(case.kafka[0], *on, "--topic", topics[0], *case.kafka[1:], stdin=case.stdin)
    ours = live.kafkapy(case.kafkapy[0], *on, "--topic", topics[1], *case.kafkapy[1:], stdin=case.stdin)
    return theirs, ours


def _read(live: LiveKafka, topic: str) -> str:
    """What Kafka's consumer prints of a topic; its partitions begin at 0, so the end tells how much there is."""
    ended = live.kafkapy("get-offsets", "--bootstrap-server", live.bootstrap, "--topic", topic).out
    count = sum(int(line.rpartition(":")[2]) for line in ended.splitlines())
    shown = [*EVERY_COLUMN[2:], "--from-beginning", "--max-messages", str(count)]
    return live.kafka("ConsoleConsumer", "--bootstrap-server", live.bootstrap, "--topic", topic, *shown).out


def test_keys_go_to_the_partitions_that_kafka_chooses(live: LiveKafka) -> None:
    topics = [live.create_topic(partitions=7), live.create_topic(partitions=7)]
    lines = "".join(f"key-{n}\tvalue-{n}\n" for n in range(200))
    case = pair("console-producer", "--reader-property", "parse.key=true", stdin=lines)
    _both_produce(live, case, topics)
    first, second = (sorted(_read(live, topic).splitlines()) for topic in topics)
    assert first == second
    assert len(first) == 200


def test_a_line_that_cannot_be_parsed_ends_it_after_the_lines_before(live: LiveKafka) -> None:
    topics = [live.create_topic(), live.create_topic()]
    case = pair("console-producer", "--reader-property", "parse.key=true", stdin="a\t1\nwrong\nb\t2\n")
    theirs, ours = _both_produce(live, case, topics)
    assert theirs.code == ours.code == 1
    assert "No key separator found on line number 2: 'wrong'" in theirs.err
    assert "No key separator found on line number 2: 'wrong'" in ours.err
    assert _read(live, topics[0]) == _read(live, topics[1])


def test_a_topic_is_made_by_the_brokers(live: LiveKafka) -> None:
    topic = live.name("made")
    done = live.kafkapy("console-producer", "--bootstrap-server", live.bootstrap, "--topic", topic, stdin="a\n")
    assert done.code == 0
    assert f"{{{topic}=UNKNOWN_TOPIC_OR_PARTITION}}" in done.err
    assert _read(live, topic).endswith("\ta\n")


def test_a_record_that_is_too_large_for_the_topic_is_told(live: LiveKafka) -> None:
    topic = live.create_topic(configs={"max.message.bytes": "1000"})
    lines = "small\n" + "x" * 2000 + "\nalso small\n"
    on = ("--bootstrap-server", live.bootstrap, "--topic", topic)
    done = live.kafkapy("console-producer", *on, stdin=lines)
    assert done.code == 1
    assert "RecordTooLargeException: The request included a message larger than the max message size" in done.err
    assert done.err.endswith("kafkapy: 1 of 3 messages were not acknowledged\n")
    assert [line.split("\t")[-1] for line in _read(live, topic).splitlines()] == ["small", "also small"]


def test_a_batch_that_is_too_large_is_halved_and_stays_in_order(live: LiveKafka) -> None:
    topic = live.create_topic(configs={"max.message.bytes": "500"})
    lines = "".join(f"line number {n}\n" for n in range(300))
    assert (
        live.kafkapy("console-producer", "--bootstrap-server", live.bootstrap, "--topic", topic, stdin=lines).code == 0
    )
    values = [line.split("\t")[-1] for line in _read(live, topic).splitlines()]
    assert values == lines.splitlines()


def test_null_header_values_are_sent(live: LiveKafka) -> None:
    topic = live.create_topic()
    args = ["--reader-property", "parse.headers=true", "--reader-property", "null.marker=NIL"]
    on = ("--bootstrap-server", live.bootstrap, "--topic", topic)
    assert live.kafkapy("console-producer", *on, *args, stdin="h:NIL\tv\n").code == 0
    read = live.kafka("ConsoleConsumer", *on, "--from-beginning", "--max-messages", "1", *EVERY_COLUMN[-6:])
    assert read.out == "h:null\tnull\tv\n"


@pytest.mark.parametrize("abort_every", [0, 2])
def test_transactions_are_committed_or_aborted(live: LiveKafka, abort_every: int) -> None:
    topic, transactional_id = live.create_topic(partitions=2), live.name("console-tx")
    on = ("--bootstrap-server", live.bootstrap, "--topic", topic)
    options = ["--transactional-id", transactional_id, "--transaction-size", "10", "--abort-every", str(abort_every)]
    lines = "".join(f"{n:03}\n" for n in range(45))
    assert live.kafkapy("console-producer", *on, *options, stdin=lines).code == 0
    expected = [n for n in range(45) if not abort_every or (n // 10 + 1) % abort_every]
    read = ["--from-beginning", "--isolation-level", "read_committed", "--max-messages", str(len(expected))]
    theirs = live.kafka("ConsoleConsumer", *on, *read)
    ours = live.kafkapy("console-consumer", *on, *read)
    assert sorted(theirs.out.splitlines()) == sorted(ours.out.splitlines()) == [f"{n:03}" for n in expected]
    everything = live.kafkapy("console-consumer", *on, "--from-beginning", "--no-follow")
    assert sorted(everything.out.splitlines()) == lines.splitlines()


def test_a_transaction_may_be_open_for_as_long_as_was_said(live: LiveKafka) -> None:
    topic, transactional_id = live.create_topic(), live.name("console-tx")
    on = ("--bootstrap-server", live.bootstrap)
    options = ("--transactional-id", transactional_id, "--command-property", "transaction.timeout.ms=5000")
    assert live.kafkapy("console-producer", *on, "--topic", topic, *options, stdin="hi\n").code == 0
    described = live.kafka("TransactionsCommand", *on, "describe", "--transactional-id", transactional_id)
    header, row = (line.split("\t") for line in described.out.splitlines())
    assert dict(zip(map(str.strip, header), map(str.strip, row), strict=False))["TransactionTimeoutMs"] == "5000"


def test_a_batch_larger_than_the_limits_comes_all_the_same(live: LiveKafka) -> None:
    topic = live.create_topic(configs={"max.message.bytes": "5000000"})
    on = ("--bootstrap-server", live.bootstrap, "--topic", topic)
    large = "x" * 3_000_000
    options = ["--producer-property", "max.request.size=6000000"]
    assert live.kafkapy("console-producer", *on, *options, stdin=f"{large}\nsmall\n").code == 0
    assert live.kafkapy("console-consumer", *on, "--from-beginning", "--no-follow").out == f"{large}\nsmall\n"


def test_what_is_not_there_is_told(live: LiveKafka) -> None:
    on = ("--bootstrap-server", live.bootstrap)
    missing = live.kafkapy("console-consumer", *on, "--topic", "console-not-there", "--from-beginning")
    assert (missing.code, missing.err) == (1, "kafkapy: Topic 'console-not-there' does not exist\n")
    partition = live.kafkapy("console-consumer", *on, "--topic", WIDE, "--partition", "7")
    assert (partition.code, partition.err) == (1, f"kafkapy: Topic '{WIDE}' has no partition 7: it has 3\n")
    none = live.kafkapy(
        "console-consumer", *on, "--topic", RECORDS, "--partition", "0", "--offset", "99", "--command-property",
        "auto.offset.reset=none",
    )  # fmt: skip
    assert none.code == 1
    assert "Fetch position 99 is out of range for partition console-records-0" in none.err


def test_a_topic_that_is_deleted_meanwhile_is_told(live: LiveKafka, tmp_path: Path) -> None:
    topic = live.create_topic()
    live.produce(topic, ["a", "b"])
    with open(tmp_path / "err", "wb") as err:
        on = ["--bootstrap-server", live.bootstrap, "--topic", topic, "--from-beginning", "--timeout-ms", "15000"]
        consumer = _start("console-consumer", *on, stdout=subprocess.PIPE, stderr=err)
    assert consumer.stdout is not None
    assert [consumer.stdout.readline() for _ in range(2)] == [b"a\n", b"b\n"]
    live.delete_topics(topic)
    assert consumer.wait(60) == 1
    consumer.stdout.close()
    assert (tmp_path / "err").read_text() == (
        f"kafkapy: {topic}-0 is read only up to offset 2: This server does not host this topic-partition.\n"
        "Processed a total of 2 messages\n"
    )


LINES = 200_000


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_broker_that_goes_and_comes_back_loses_and_doubles_nothing(live: LiveKafka, tmp_path: Path, how: str) -> None:
    """Producing and consuming go on; each key's records stay in their order."""
    topic = live.create_topic(assignment=[[1, 2, 3], [2, 3, 1], [3, 1, 2]], configs={"min.insync.replicas": "2"})
    on = ["--bootstrap-server", live.bootstrap, "--topic", topic]
    half = LINES // 2
    with open(tmp_path / "read", "wb") as out, open(tmp_path / "err", "wb") as err:
        consumer = _start(
            "console-consumer", *on, "--from-beginning", "--max-messages", str(LINES), stdout=out, stderr=err
        )
        producer = _start("console-producer", *on, "--reader-property", "parse.key=true", stdin=subprocess.PIPE)
        assert producer.stdin is not None
        try:
            producer.stdin.write(b"".join(b"%d\t%d\n" % (n % 17, n) for n in range(half)))
            producer.stdin.flush()
            live.stop_broker(2) if how == "stop" else live.kill_broker(2, wait=False)
            producer.stdin.write(b"".join(b"%d\t%d\n" % (n % 17, n) for n in range(half, LINES)))
            producer.stdin.flush()
            live.start_broker(2)
            producer.stdin.close()
            assert producer.wait(150) == 0
            assert consumer.wait(60) == 0, (tmp_path / "err").read_text()
        finally:
            producer.kill()
            consumer.kill()
            live.start_all()
    read = [int(line) for line in (tmp_path / "read").read_bytes().split()]
    assert len(read) == LINES
    assert sorted(read) == list(range(LINES))
    for key in range(17):
        of_key = [n for n in read if n % 17 == key]
        assert of_key == sorted(of_key)


def _start(*args: str, **streams: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "kafkapy", *args], **streams)  # type: ignore[call-overload, no-any-return]
