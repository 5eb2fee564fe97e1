"""kafkapy topics and TopicCommand on the same running cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs, same

PLAIN = "topics-plain"
WIDE = "topics-wide"
DOTTED = "topics.dotted_name"
PREFIX = "topics[-.].*"


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


@pytest.fixture(scope="module", autouse=True)
def _topics(live: LiveKafka) -> None:
    configs = {"retention.ms": "86400000", "cleanup.policy": "compact,delete", "min.insync.replicas": "2"}
    live.create_topic(PLAIN, assignment=[[1, 2], [2, 3], [3, 1]], configs=configs)
    live.create_topic(WIDE, partitions=12)
    live.create_topic(DOTTED, replicas=3, configs={"segment.bytes": "2097152"})
    live.commit("topics-group", PLAIN, {0: 0})  # makes an internal topic


@pairs(
    pair("topics", "--list", code=0),
    pair("topics", "--list", "--exclude-internal", code=0),
    pair("topics", "--list", "--topic", PLAIN, code=0),
    pair("topics", "--list", "--topic", f"{PLAIN},{WIDE}", code=0),
    pair("topics", "--list", "--topic", PREFIX, code=0),
    pair("topics", "--list", "--topic", "__consumer_.*", "--exclude-internal", code=0),
    pair("topics", "--list", "--topic", "not-there", code=0),
    pair("topics", "--list", "--topic", "[", code=1),
    pair("topics", "--describe", "--exclude-internal", "--topic", PREFIX, order="sorted", code=0),
    pair("topics", "--describe", "--topic", PLAIN, code=0),
    pair("topics", "--describe", "--topic", WIDE, code=0),
    pair("topics", "--describe", "--topic", DOTTED, "--partition-size-limit-per-response", "1", code=0),
    pair("topics", "--describe", "--topic", PREFIX, order="sorted", code=0),
    pair("topics", "--describe", "--topics-with-overrides", "--topic", PREFIX, order="sorted", code=0),
    pair("topics", "--describe", "--topic", "not-there", code=1),
    pair("topics", "--describe", "--topic", "not-there", "--if-exists", code=0),
    pair("topics", "--describe", "--topic-id", "AAAAAAAAAAAAAAAAAAAAAA", "--topic", PLAIN, code=0),
    pair("topics", "--describe", "--topic-id", "h-7LVSDeRZqUFPNJP7ZYpQ", code=1),
    pair("topics", "--describe", "--topic-id", "h-7LVSDeRZqUFPNJP7ZYpQ", "--if-exists", code=0),
    pair("topics", "--describe", "--topic-id", "abcd", code=1),
    pair("topics", "--describe", "--topic-id", "h-7LVSDeRZqUFPNJP7ZYpQ", "--topic", "x", "--if-exists", code=0),
    pair("topics", "--describe", "--under-replicated-partitions", code=0),
    pair("topics", "--describe", "--unavailable-partitions", code=0),
    pair("topics", "--describe", "--under-min-isr-partitions", "--topic", PREFIX, code=0),
    pair("topics", "--describe", "--at-min-isr-partitions", "--topic", PREFIX, order="sorted", code=0),
    pair("topics", "--describe", "--topic", "[", code=1),
)
def test_shown(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pairs(
    pair("topics", "--create", "--topic", PLAIN, code=1),
    pair("topics", "--create", "--topic", PLAIN, "--if-not-exists", code=0),
    pair("topics", "--create", "--topic", "a b", code=1),
    pair("topics", "--create", "--topic", "..", code=1),
    pair("topics", "--create", "--topic", "topics_dotted.name", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--partitions", "0", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--replication-factor", "0", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--replication-factor", "40000", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--replication-factor", "9", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--config", "nosuch=1", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--config", "retention.ms=soon", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--config", "retention.ms", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--config", "segment.bytes=5", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--config", "cleanup.policy=gone", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--replica-assignment", "1:1", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--replica-assignment", "1:2,3", code=1),
    pair("topics", "--create", "--topic", "topics-no", "--replica-assignment", "1:9", code=1),
    pair("topics", "--alter", "--topic", PLAIN, "--partitions", "3", code=1),
    pair("topics", "--alter", "--topic", PLAIN, "--partitions", "2", code=1),
    pair("topics", "--alter", "--topic", PLAIN, "--partitions", "0", code=1),
    pair("topics", "--alter", "--topic", PLAIN, "--partitions", "5", "--replica-assignment", "1:2,2:3,3:1,1:2", code=1),
    pair("topics", "--alter", "--topic", PLAIN, "--partitions", "4", "--replica-assignment", "1:2,2:3,3:1,9:2", code=1),
    pair("topics", "--alter", "--topic", "not-there", "--partitions", "3", code=1),
    pair("topics", "--alter", "--topic", "not-there", "--partitions", "3", "--if-exists", code=0),
    pair("topics", "--delete", "--topic", "not-there", code=1),
    pair("topics", "--delete", "--topic", "not-there", "--if-exists", code=0),
)
def test_refused(live: LiveKafka, case: Pair) -> None:
    check(live, case)
    assert "topics-no" not in live.kafkapy("topics", *on(live, "--list")).lines


@pairs(
    pair("topics", "--list", "--partitions", "3"),
    pair("topics", "--describe", "--alter"),
    pair("topics", "--create", "--topic", "topics-no", "--if-exists"),
    pair("topics", "--describe", "--if-exists"),
    pair("topics", "--describe", "--unavailable-partitions", "--topics-with-overrides"),
    pair("topics", "--alter", "--topic", PLAIN, "--config", "retention.ms=1", "--partitions", "5"),
    pair("topics", "--alter", "--topic", PLAIN),
)
def test_wrong_usage_prints_nothing(live: LiveKafka, case: Pair) -> None:
    assert check(live, case).out == ""
    assert live.kafkapy(*case.kafkapy, "--bootstrap-server", live.bootstrap).code == 2


@pairs(
    pair("topics", "--create", "--topic", "topics-made", "--partitions", "3", "--replication-factor", "2", code=0),
    pair("topics", "--create", "--topic", "topics-made", code=0),
    pair("topics", "--create", "--topic", "topics.made_it", "--if-not-exists", code=0),
    pair("topics", "--create", "--topic", "topics-made", "--replica-assignment", "3:1,1:2", code=0),
    pair("topics", "--create", "--topic", "topics-made", "--replica-assignment", "3:1:,1:2,", code=0),
    pair("topics", "--create", "--topic", "topics-made", "--config", "retention.ms=5000", "--config",
         "cleanup.policy=compact", code=0),
)  # fmt: skip
def test_created(live: LiveKafka, case: Pair) -> None:
    made = case.kafka[3]
    seen = []

    def note() -> None:
        live.wait_until_in_sync()
        seen.append(described(live, made))

    def undo() -> None:
        note()
        live.delete_topics(made)

    try:
        check(live, case, undo)
        note()
    finally:
        live.delete_topics(made)
    assert seen[0] == seen[1] if "--replica-assignment" in case.kafka else shape(seen[0]) == shape(seen[1])


def described(live: LiveKafka, topic: str) -> list[list[str]]:
    """What TopicCommand tells of a topic, but for its id."""
    lines = live.kafka("TopicCommand", *on(live, "--describe", "--topic", topic)).lines
    return [[cell for cell in line.split("\t") if not cell.startswith("TopicId")] for line in lines]


def shape(lines: list[list[str]]) -> tuple[list[str], list[int]]:
    """The first line, and how many replicas each partition has."""
    return lines[0], [line[4].count(",") for line in lines[1:]]


def test_partitions_are_added(live: LiveKafka) -> None:
    for number in (1, 2):
        topic = live.create_topic(assignment=[[1, 2], [2, 3]])
        options = ("--topic", topic, "--partitions", "4", "--replica-assignment", "1:2,2:3,3:1,3:2")
        run = live.kafka if number == 1 else live.kafkapy
        done = run("TopicCommand" if number == 1 else "topics", *on(live, "--alter", *options))
        assert (done.code, done.out) == (0, "")
        live.wait_until_in_sync()
        assert [line[4] for line in described(live, topic)[3:]] == ["Replicas: 3,1", "Replicas: 3,2"]


def test_topics_that_match_are_deleted_together(live: LiveKafka) -> None:
    for run, tool in ((live.kafka, "TopicCommand"), (live.kafkapy, "topics")):
        for name in ("topics-gone-a", "topics-gone-b"):
            live.create_topic(name)
        done = run(tool, *on(live, "--delete", "--topic", "topics-gone-.*"))
        assert (done.code, done.out) == (0, "")
        listed = live.kafka("TopicCommand", *on(live, "--list")).lines
        assert not [name for name in listed if name.startswith("topics-gone")]


def test_a_topic_by_its_id(live: LiveKafka) -> None:
    line = live.kafka("TopicCommand", *on(live, "--describe", "--topic", PLAIN)).lines[0]
    topic_id = line.split("TopicId: ")[1].split("\t")[0]
    options = ("--describe", "--topic-id", topic_id)
    assert "Elr: N/A" in same(live, ("TopicCommand", *options), ("topics", *options), code=0).out


def test_replicas_that_move(live: LiveKafka, tmp_path: Path) -> None:
    """A throttle of some bytes a second holds the move for as long as it is looked at."""
    topic = live.create_topic(assignment=[[1, 2]])
    live.produce(topic, ["x" * 100_000] * 20)
    plan = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [1, 3]}]}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    options = ("--reassignment-json-file", str(file))
    started = live.kafka("ReassignPartitionsCommand", *on(live, "--execute", "--throttle", "100", *options))
    assert started.code == 0, started
    try:
        live.until(lambda: all([[*each.replicas] for each in view] == [[1, 3, 2]] for view in live.seen(topic)))
        shown = ("--describe", "--topic", topic)
        told = same(live, ("TopicCommand", *shown), ("topics", *shown), code=0).out
        assert "Adding Replicas: 3\tRemoving Replicas: 2" in told
        same(live, ("TopicCommand", *shown, "--under-replicated-partitions"), ("topics", *shown,
             "--under-replicated-partitions"), code=0)  # fmt: skip
    finally:
        live.kafka("ReassignPartitionsCommand", *on(live, "--cancel", *options))
        live.delete_topics(topic)


def test_a_file_of_topics_is_planned_and_applied(live: LiveKafka, tmp_path: Path) -> None:
    old, new = live.create_topic(configs={"retention.ms": "1000"}), live.name("topics-new")
    file = tmp_path / "topics.yaml"
    file.write_text(
        f"{old}: {{partitions: 3, configs: {{cleanup.policy: compact}}, prune_configs: true}}\n"
        f"{new}: {{partitions: 2, replication_factor: 3}}\n"
    )
    planned = live.kafkapy("topics", *on(live, "--from-file", str(file), "--plan"))
    assert (planned.code, planned.err) == (0, "")
    assert planned.lines == [
        f"~ {old}: partitions 1 -> 3",
        f"~ {old}: set cleanup.policy=compact (was not set)",
        f"~ {old}: remove retention.ms (was 1000)",
        f"+ {new}: create with partitions=2, replication_factor=3",
    ]
    assert live.kafkapy("topics", *on(live, "--from-file", str(file), "--apply")).lines == planned.lines
    live.wait_until_in_sync()
    assert described(live, old)[0][-1] == "Configs: min.insync.replicas=1,cleanup.policy=compact"
    assert len(described(live, new)) == 3
    again = live.kafkapy("topics", *on(live, "--from-file", str(file), "--plan"))
    assert again.out == "Nothing to change: the topics are as the file says.\n"
    live.delete_topics(old, new)


@pytest.fixture(scope="module")
def _broker_down(live: LiveKafka) -> Iterator[None]:
    live.create_topic("topics-alone", assignment=[[3], [1]])
    live.create_topic("topics-short", assignment=[[3, 1, 2], [1, 3, 2]], configs={"min.insync.replicas": "3"})
    live.stop_broker(3)
    yield
    live.start_all()
    live.delete_topics("topics-alone", "topics-short")


@pytest.mark.usefixtures("_broker_down")
@pairs(
    pair("topics", "--describe", "--topic", PREFIX, order="sorted", code=0),
    pair("topics", "--describe", "--topic", "topics-short", code=0),
    pair("topics", "--describe", "--topic", "topics-alone", code=0),
    pair("topics", "--describe", "--under-replicated-partitions", order="sorted", code=0),
    pair("topics", "--describe", "--unavailable-partitions", order="sorted", code=0),
    pair("topics", "--describe", "--under-min-isr-partitions", order="sorted", code=0),
    pair("topics", "--describe", "--at-min-isr-partitions", order="sorted", code=0),
    pair("topics", "--describe", "--unavailable-partitions", "--at-min-isr-partitions", order="sorted", code=0),
    pair("topics", "--create", "--topic", "topics-no", "--replica-assignment", "3:1", "--if-not-exists"),
    pair("get-offsets", "--topic", "topics-short", code=0),
)  # fmt: skip
def test_with_a_broker_down(live: LiveKafka, case: Pair) -> None:
    check(live, case, lambda: live.delete_topics("topics-no") if "topics-no" in case.kafka else None)
