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


def test_a_broker_that_hangs(live: LiveKafka, topic: str) -> None:
    """It is told once, whether the controllers have noticed yet or not; who answers again is not told to hang."""
    with live.hanging_broker(2):
        for _ in range(2):
            rows = findings(live, "--bootstrap-server", live.bootstrap)
            (told,) = (row for row in rows if row["place"] == "broker 2")
            assert "does not answer: " in told["text"]
            assert "it may hang" in told["text"]
        assert told["text"].startswith("is fenced, and")
        assert "if it hangs" in told["remedy"]
    assert problems(live, "--bootstrap-server", live.bootstrap) == []


def test_a_lost_quorum(live: LiveKafka, topic: str) -> None:
    """Partitions are told of, and nobody is sent to look for ACLs."""
    solo = live.create_topic(live.name("solo"), assignment=[[1], [2], [3]])
    for broker_id in (2, 3):
        live.kill_broker(broker_id, wait=False)
    rows: list[dict[str, Any]] = []

    def is_lost() -> bool:
        """A leader needs a moment to notice that nobody follows."""
        rows[:] = findings(live, "--bootstrap-server", live.bootstrap)
        return any(row["place"] == "quorum" for row in rows)

    live.until(is_lost)
    (quorum,) = (row for row in rows if row["place"] == "quorum")
    assert quorum["severity"] == "error"
    assert quorum["text"].startswith("does not answer, so the metadata cannot change: ")
    assert "a majority of the voters has to run" in quorum["remedy"]
    assert not [row for row in rows if "principal" in (row["remedy"] or "")]
    told = {row["place"]: row["text"] for row in rows if row["severity"] == "error"}
    assert all("connection refused" in told[f"broker {broker_id}"] for broker_id in (2, 3))
    assert [text for text in told.values() if "broker 2, which leads, does not answer" in text and "offline" in text]
    assert not [row for row in rows if row["place"].startswith("configs")]
    paths = ",".join(str(path) for path in sorted(live.directory.glob("broker-*")))
    of_files = [
        problems(live, *where, "--quick") for where in (("--cluster", str(live.directory)), ("--log-dirs", paths))
    ]
    assert of_files[0] == of_files[1]
    live.start_all()
    live.delete_topics(solo)


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
