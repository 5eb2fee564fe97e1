"""kafkapy doctor on a running cluster, and on the log dirs of brokers that run; no tool of Kafka's does this."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live_kafka import LiveKafka

KINDS = ("warning", "error")


def findings(live: LiveKafka, *args: str) -> list[dict[str, Any]]:
    done = live.kafkapy("doctor", *args, "--output", "jsonl")
    return [json.loads(line) for line in done.lines]


def problems(live: LiveKafka, *args: str) -> list[tuple[str, str, str]]:
    found = [row for row in findings(live, *args) if row["severity"] in KINDS and row["place"] != "encoding"]
    return [(row["severity"], row["place"], row["text"]) for row in found]


@pytest.fixture
def topic(live: LiveKafka) -> Iterator[str]:
    """Two copies, of which both must be in sync."""
    made = live.create_topic(live.name("sick"), assignment=[[1, 2]], configs={"min.insync.replicas": "2"})
    yield made
    live.start_all()
    live.delete_topics(made)


def test_a_running_cluster(live: LiveKafka, topic: str) -> None:
    assert problems(live, "--bootstrap-server", live.bootstrap) == []
    live.stop_broker(2)
    found = problems(live, "--bootstrap-server", live.bootstrap)
    assert ("warning", "broker 2", "is fenced: it is down, or just starting") in found
    said = "1 in sync, fewer than min.insync.replicas=2: acks=all is refused"
    assert ("error", f"{topic}-0", said) in found


def test_log_dirs_of_brokers_that_run(live: LiveKafka, topic: str) -> None:
    live.produce(topic, ["a", "b"])
    gone = live.create_topic(live.name("gone"), partitions=3, replicas=3)
    live.delete_topics(gone)
    paths = ",".join(str(path) for path in sorted(live.directory.glob("broker-*")))
    rows = findings(live, "--log-dirs", paths, "--quick")
    in_use = [row["place"] for row in rows if "is in use by process" in row["text"]]
    assert in_use == paths.split(",")
    assert not [row for row in rows if "clean stop" in row["text"] or row["place"].endswith("index")]
    assert not [row for row in rows if f"{gone}-" in row["place"] + row["text"]]


def test_what_is_sent_is_told_and_no_more(live: LiveKafka, topic: str) -> None:
    command = [sys.executable, "-m", "kafkapy", "--verbose", "topics", "--list", "--bootstrap-server", live.bootstrap]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert topic in done.stdout.splitlines()
    told = done.stderr.splitlines()
    assert told[0] == f"kafkapy: the cluster is --bootstrap-server {live.bootstrap}"
    assert any(line.startswith("kafkapy: connects to 127.0.0.1:") for line in told)
    assert any(line.startswith("kafkapy: sends Metadata (version ") for line in told)
    assert topic not in done.stderr
