"""kafkapy leader-election and LeaderElectionCommand on the same running cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import HINT, Pair, check, pair, pairs, same

TOPIC = "elect-orders"
ALONE = "elect-alone"
PREFERRED = ("leader-election", "--election-type", "preferred")
UNCLEAN = ("leader-election", "--election-type", "unclean")
TRACE = [(r"^(\t|org\.apache|Caused by).*\n", ""), (r"\n\n\Z", "\n")]


@pytest.fixture(scope="module", autouse=True)
def _topics(live: LiveKafka) -> Iterator[None]:
    live.create_topic(TOPIC, assignment=[[1, 2], [2, 3], [3, 1]])
    live.create_topic(ALONE, assignment=[[3]])
    live.produce(ALONE, ["a", "b"])
    yield
    live.start_all()
    live.delete_topics(TOPIC, ALONE)


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


@pairs(
    pair(*PREFERRED, "--topic", TOPIC, "--partition", "0", code=0),
    pair(*PREFERRED, "--all-topic-partitions", code=0),
    pair(*UNCLEAN, "--topic", TOPIC, "--partition", "1", code=0),
    pair(*UNCLEAN, "--all-topic-partitions", code=0),
    pair("leader-election", "--election-type", "PREFERRED", "--topic", TOPIC, "--partition", "2", code=0),
    pair(*PREFERRED, "--topic", "not-there", "--partition", "0", code=1, stderr=True, scrub=TRACE),
    pair(*PREFERRED, "--topic", TOPIC, "--partition", "9", code=1, stderr=True, scrub=TRACE),
    pair(*UNCLEAN, "--topic", "not-there", "--partition", "0", code=1, stderr=True, scrub=TRACE),
    pair(*PREFERRED, "--topic", TOPIC, "--partition", "-1", code=1, stderr=True, scrub=TRACE),
)
def test_nothing_to_elect(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pairs(
    pair("leader-election", "--topic", TOPIC, "--partition", "0"),
    pair(*PREFERRED),
    pair(*PREFERRED, "--topic", TOPIC),
    pair(*PREFERRED, "--partition", "0", "--all-topic-partitions"),
    pair(*PREFERRED, "--topic", TOPIC, "--partition", "0", "--all-topic-partitions"),
)
def test_wrong_usage_prints_nothing(live: LiveKafka, case: Pair) -> None:
    assert check(live, case).out == ""
    assert live.kafkapy(*case.kafkapy, "--bootstrap-server", live.bootstrap).code == 2


@pytest.mark.pair
@pytest.mark.parametrize(
    ("partitions", "code"),
    [
        ([(TOPIC, 0)], 0),
        ([(TOPIC, 0), (TOPIC, 1), (ALONE, 0)], 0),
        ([(TOPIC, 0), ("not-there", 0), (TOPIC, 7)], 1),
        ([(TOPIC, 0), (TOPIC, 0)], 1),
        ([], 0),
    ],
    ids=str,
)
def test_partitions_in_a_file(live: LiveKafka, tmp_path: Path, partitions: list[tuple[str, int]], code: int) -> None:
    """Kafka tells in hash order, in one line: so its words are sorted, too."""
    file = tmp_path / "partitions.json"
    file.write_text(json.dumps({"partitions": [{"topic": topic, "partition": n} for topic, n in partitions]}))
    options = ("--election-type", "preferred", "--path-to-json-file", str(file))
    theirs = live.kafka("LeaderElectionCommand", *on(live, *options))
    ours = live.kafkapy("leader-election", *on(live, *options))
    assert (theirs.code, ours.code) == (code, code)
    assert [words(line) for line in ours.lines] == sorted((words(line) for line in theirs.lines), key=order)
    assert HINT.sub("", ours.err).splitlines()[:1] == theirs.err.splitlines()[:1]


def order(line: list[str]) -> tuple[int, list[str]]:
    """As kafkapy tells them: what was elected, what need not be, what failed."""
    return next(number for number, word in enumerate(("Successfully", "Valid", "Error")) if word in line), line


def words(line: str) -> list[str]:
    return sorted(line.replace(",", "").split())


@pytest.mark.pair
@pytest.mark.parametrize(
    "text", ["", "{", '{"version": 1}', "[]", '{"partitions": 1}', '{"partitions": [{"topic": 1}]}']
)
def test_files_that_are_none(live: LiveKafka, tmp_path: Path, text: str) -> None:
    file = tmp_path / "partitions.json"
    file.write_text(text)
    options = ("--election-type", "preferred", "--path-to-json-file", str(file))
    same(live, ("LeaderElectionCommand", *options), ("leader-election", *options), code=1)


def lead_elsewhere(live: LiveKafka) -> None:
    """Broker 1 leads nothing any more, and is back."""
    live.stop_broker(1)
    live.start_broker(1, elect=False)


@pytest.mark.pair
def test_preferred_leaders_come_back(live: LiveKafka) -> None:
    lead_elsewhere(live)
    case = pair(*PREFERRED, "--topic", TOPIC, "--partition", "0", code=0)
    told = check(live, case, lambda: lead_elsewhere(live))
    assert told.out == f"Successfully completed leader election (PREFERRED) for partitions {TOPIC}-0\n"
    live.elect_preferred_leaders()


@pytest.mark.pair
def test_all_preferred_leaders_come_back(live: LiveKafka) -> None:
    lead_elsewhere(live)
    names = [(r"(?<=partitions ).*", lambda found: ", ".join(sorted(found[0].split(", "))))]
    check(live, pair(*PREFERRED, "--all-topic-partitions", code=0, scrub=names), lambda: lead_elsewhere(live))
    live.wait_until_in_sync()
    describe = on(live, "--describe", "--topic", TOPIC)
    assert "Leader: 1\t" in live.kafka("TopicCommand", *describe).out


def test_rows_tell_who_leads_now(live: LiveKafka) -> None:
    lead_elsewhere(live)
    options = ("--election-type", "preferred", "--topic", TOPIC, "--partition", "0", "--output", "jsonl")
    (row,) = map(json.loads, live.kafkapy("leader-election", *on(live, *options)).lines)
    assert (row["result"], row["leader"]) == ("elected", 1)
    (row,) = map(json.loads, live.kafkapy("leader-election", *on(live, *options)).lines)
    assert (row["result"], row["leader"]) == ("not needed", 1)


@pytest.mark.pair
def test_an_unclean_election(live: LiveKafka) -> None:
    """Broker 1 is back, and held back by a throttle, when broker 2 dies, who alone has the last records. Nothing is
    said of these, since nobody knows of them."""
    theirs, ours = (live.create_topic(assignment=[[1, 2]]) for _ in range(2))
    live.stop_broker(1)
    for topic in (theirs, ours):
        live.produce(topic, ["x" * 100_000] * 30)
        throttled = "leader.replication.throttled.replicas=0:2,follower.replication.throttled.replicas=0:1"
        configure(live, "topics", topic, throttled)
    configure(live, "brokers", "2", "leader.replication.throttled.rate=100")
    live.start_broker(1, wait=False)
    live.until(lambda: "1" in live.kafka("BrokerApiVersionsCommand", "--bootstrap-server", live.address(1)).out)
    live.kill_broker(2, wait=False)
    try:
        for topic in (theirs, ours):
            live.until(lambda topic=topic: "Leader: none" in described(live, topic))
        options = ("--election-type", "unclean", "--partition", "0", "--topic")
        names = [(f"{theirs}|{ours}", "TOPIC")]
        done = same(
            live, ("LeaderElectionCommand", *options, theirs), ("leader-election", *options, ours), code=0, stderr=True,
            scrub=names,
        )  # fmt: skip
        assert done.out == f"Successfully completed leader election (UNCLEAN) for partitions {theirs}-0\n"
        live.until(lambda: "Leader: 1\t" in described(live, ours))
    finally:
        live.start_broker(2, wait=False)
        live.until(lambda: "2" in live.kafka("BrokerApiVersionsCommand", "--bootstrap-server", live.address(2)).out)
        configure(live, "brokers", "2", "leader.replication.throttled.rate", "--delete-config")
        live.start_all()
        live.delete_topics(theirs, ours)


def configure(live: LiveKafka, kind: str, name: str, configs: str, option: str = "--add-config") -> None:
    quoted = configs.replace("0:2,", "[0:2],") if option == "--add-config" else configs
    args = on(live, "--alter", "--entity-type", kind, "--entity-name", name, option, quoted)
    done = live.kafka("ConfigCommand", *args)
    assert done.code == 0, done


def described(live: LiveKafka, topic: str) -> str:
    return live.kafka("TopicCommand", *on(live, "--describe", "--topic", topic)).out


@pytest.fixture(scope="module")
def _broker_down(live: LiveKafka) -> Iterator[None]:
    live.stop_broker(3)
    yield
    live.start_all()


@pytest.mark.usefixtures("_broker_down")
@pairs(
    pair(*PREFERRED, "--topic", TOPIC, "--partition", "2", code=1, stderr=True, scrub=TRACE),
    pair(*PREFERRED, "--topic", TOPIC, "--partition", "1", code=0),
    pair(*UNCLEAN, "--topic", ALONE, "--partition", "0", code=1, stderr=True, scrub=TRACE),
    pair(*PREFERRED, "--topic", ALONE, "--partition", "0", code=1, stderr=True, scrub=TRACE),
    pair(*UNCLEAN, "--all-topic-partitions", code="same", order="sorted", stderr=True, scrub=TRACE),
    pair(*PREFERRED, "--all-topic-partitions", code="same", order="sorted", stderr=True, scrub=TRACE),
)
def test_with_a_broker_down(live: LiveKafka, case: Pair) -> None:
    check(live, case)
