"""kafkapy delete-records and DeleteRecordsCommand on the same running cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pairs
from tests.tool_server import ToolRun

UNKNOWN_NAME = "dr-unknown"


def deletion(*offsets: tuple[int, int]) -> Pair:
    """A pair that deletes the records of partitions up to offsets; the topic is made anew for each."""
    text = ",".join(f"{partition}:{offset}" for partition, offset in offsets)
    return Pair(("DeleteRecordsCommand", text), ("delete-records", text), order="sorted")


@pytest.fixture
def topic(live: LiveKafka) -> str:
    made = live.create_topic(assignment=[[1], [2], [3]])
    for partition in range(3):
        live.produce(made, [str(number) for number in range(5 + partition)], partition)
    return made


def written(tmp_path: Path, topic: str, text: str) -> str:
    partitions = [
        {"topic": topic, "partition": int(each.split(":")[0]), "offset": int(each.split(":")[1])}
        for each in text.split(",")
    ]
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(file)


@pairs(
    deletion((0, 3)),
    deletion((0, 0)),
    deletion((0, 1), (1, 2), (2, 3)),
    deletion((0, -1), (2, -1)),
    deletion((0, 99)),
    deletion((0, 99), (1, 2)),
    deletion((0, -2), (1, 1)),
)
def test_records_are_deleted(live: LiveKafka, topic: str, tmp_path: Path, case: Pair) -> None:
    options = ("--offset-json-file", written(tmp_path, topic, case.kafka[1]))
    told = check(
        live,
        Pair((case.kafka[0], *options), (case.kafkapy[0], *options), order=case.order),
    ).out
    assert live.kafkapy(case.kafkapy[0], *options, "--bootstrap-server", live.bootstrap).code == int("error" in told)


def test_what_kafkapy_deletes_is_gone(live: LiveKafka, topic: str, tmp_path: Path) -> None:
    file = written(tmp_path, topic, "0:3,1:-1")
    done = run(live, "--offset-json-file", file)
    assert done.lines[2:] == [f"partition: {topic}-0\tlow_watermark: 3", f"partition: {topic}-1\tlow_watermark: 6"]
    earliest = live.kafka(
        "GetOffsetShell", "--bootstrap-server", live.bootstrap, "--topic", topic, "--time", "earliest"
    )
    assert earliest.lines == [f"{topic}:0:3", f"{topic}:1:6", f"{topic}:2:0"]


def test_a_partition_that_is_not_there_does_not_hold_the_others(live: LiveKafka, topic: str, tmp_path: Path) -> None:
    """Kafka's tool looks for it until its time-out is over, then says so."""
    done = run(live, "--offset-json-file", written(tmp_path, topic, "0:2,7:1"))
    name = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
    error = f"{name}: This server does not host this topic-partition."
    assert done.lines[2:] == [f"partition: {topic}-0\tlow_watermark: 2", f"partition: {topic}-7\terror: {error}"]
    assert done.code == 1
    unknown = run(live, "--offset-json-file", written(tmp_path, UNKNOWN_NAME, "0:1"))
    assert unknown.lines[2:] == [f"partition: {UNKNOWN_NAME}-0\terror: {error}"]


def test_a_file_with_duplicates_is_refused_before_anything_is_done(live: LiveKafka, topic: str, tmp_path: Path) -> None:
    options = ("--offset-json-file", written(tmp_path, topic, "0:1,0:2"))
    told = check(live, Pair(("DeleteRecordsCommand", *options), ("delete-records", *options), code=1))
    assert told.err.splitlines()[0] == run(live, *options).err.splitlines()[0]


def run(live: LiveKafka, *options: str) -> ToolRun:
    return live.kafkapy("delete-records", "--bootstrap-server", live.bootstrap, *options)
