"""Real Kafka 4.3.1 boots on a directory in which kafkapy moved replicas, agrees on where they are, and goes on.

One plan was completed, one cancelled, one moved a partition between log dirs, and two are half-way: a replica that has
a part of its data and is throttled to nearly nothing, and a copy between log dirs. Kafka's own tools list the same
reassignments, change the throttle, and finish what kafkapy began; then kafkapy verifies that.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from random import Random

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.commands.running import Done, run
from tests.kafka_jars import kafka_libs
from tests.real_kafka import RealCluster
from tests.reference.test_boot_cluster_directory import consumed, expected, settled

Capture = pytest.CaptureFixture[str]
NOW = 1_794_800_000_000
PLACED = {"done": (1, 2), "taken-back": (2, 3), "between-dirs": (1, 3), "half": (1, 2), "half-dir": (3, 1)}
FINISH_S = 90


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three brokers with two log dirs each; every topic has two partitions, and one of them 6 MB."""
    kafka_libs()
    directory = tmp_path_factory.mktemp("reassigned") / "cluster"
    make_cluster(str(directory), 3, log_dirs_per_broker=2)
    opened = DirectoryCluster(str(directory), seed=7)
    random = Random(1)
    for topic, replicas in PLACED.items():
        opened.apply(CreateTopic(topic, assignments=(replicas, replicas[::-1]), configs={"retention.ms": "-1"}))
        for number in range(20):
            record = Record(0, NOW + number, b"k%d" % number, b"v%d" % number)
            opened.append(TopicPartition(topic, number % 2), encode_batch([record]))
    for number in range(60):
        record = Record(0, NOW + number, b"large", random.randbytes(50_000).hex().encode())
        opened.append(TopicPartition("half", 0), encode_batch([record]))
    opened.close()
    return directory


def plan(directory: Path, name: str, partitions: dict[tuple[str, int], tuple[int, ...]], log_dirs: str = "any") -> Path:
    """A file; ``log_dirs`` is the ending of the log dirs' names."""
    entries = [
        {
            "topic": topic,
            "partition": partition,
            "replicas": list(replicas),
            "log_dirs": [log_dirs if log_dirs == "any" else str(directory / f"broker-{b}{log_dirs}") for b in replicas],
        }
        for (topic, partition), replicas in partitions.items()
    ]
    path = directory.parent / f"{name}.json"
    path.write_text(json.dumps({"version": 1, "partitions": entries}))
    return path


def reassign(capfd: Capture, cluster: Path, *args: str | Path) -> Done:
    done = run(capfd, "reassign-partitions", "--cluster", cluster, *args)
    assert done.code == 0, done
    return done


def prepare(capfd: Capture, cluster: Path) -> dict[str, Path]:
    """The plans by their names, each executed as far as its name says."""
    plans = {
        "done": plan(cluster, "done", {("done", 0): (3, 2), ("done", 1): (3, 1)}),
        "taken-back": plan(cluster, "taken-back", {("taken-back", 0): (1, 3)}),
        "between-dirs": plan(cluster, "between-dirs", {("between-dirs", 0): (1, 3)}, "-2"),
        "half": plan(cluster, "half", {("half", 0): (3, 2)}),
        "half-dir": plan(cluster, "half-dir", {("half-dir", 0): (3, 1)}, "-2"),
    }
    file = "--reassignment-json-file"
    for name in ("done", "between-dirs"):
        reassign(capfd, cluster, "--execute", file, plans[name])
    reassign(capfd, cluster, "--execute", file, plans["taken-back"], "--no-wait")
    assert "taken-back-0" in reassign(capfd, cluster, "--cancel", file, plans["taken-back"]).out
    reassign(capfd, cluster, "--execute", file, plans["half-dir"], "--no-wait")
    reassign(capfd, cluster, "--execute", file, plans["half"], "--no-wait", "--throttle", "1")
    opened = DirectoryCluster(str(cluster))
    with opened.replicating(TopicPartition("half", 0)) as replicated:
        replicated.fetch(3, opened.now)
        assert 0 < replicated.replicas[3].log_end_offset < replicated.replicas[1].log_end_offset
    opened.close()
    return plans


def test_brokers_agree_and_finish(capfd: Capture, cluster: Path, tmp_path: Path) -> None:
    plans = prepare(capfd, cluster)
    listed = reassign(capfd, cluster, "--list").out
    assert listed == "Current partition reassignments:\nhalf-0: replicas: 3,2,1. adding: 3. removing: 1.\n"
    described = run(capfd, "topics", "--cluster", cluster, "--describe").lines
    records = {topic: expected(cluster, topic) for topic in PLACED if topic != "half"}
    with RealCluster(cluster, tmp_path) as real:
        wait_for_leaders(real, 2 * len(PLACED))
        assert real.tool("reassign.ReassignPartitionsCommand", "--list") == listed
        theirs = partitions(real.tool("TopicCommand", "--describe").splitlines())
        assert {name: line for name, line in theirs.items() if name != "half-0"} == {
            name: line for name, line in partitions(described).items() if name != "half-0"
        }
        for name in ("done", "between-dirs"):
            text = verified(real, plans[name])
            assert text.count("is completed.") == len(json.loads(plans[name].read_text())["partitions"])
        assert verified(real, plans["between-dirs"]).count("completed successfully.") == 2
        assert "is still in progress." in verified(real, plans["half"])
        faster = ("--execute", "--additional", "--throttle", "100000000")
        real.tool("reassign.ReassignPartitionsCommand", *faster, "--reassignment-json-file", str(plans["half"]))
        wait_for(lambda: "half-0 is completed." in verified(real, plans["half"]))
        wait_for(lambda: verified(real, plans["half-dir"]).count("completed successfully.") == 2)
        for topic, lines in records.items():
            assert consumed(real, topic, len(lines)) == lines != set()
    assert "half-0 is completed." in reassign(capfd, cluster, "--verify", "--reassignment-json-file", plans["half"]).out
    assert len(expected(cluster, "half")) == 80
    assert not list(cluster.glob("broker-*/*-future"))
    assert not list(cluster.glob("broker-1*/half-0"))


def verified(real: RealCluster, path: Path) -> str:
    return real.tool("reassign.ReassignPartitionsCommand", "--verify", "--reassignment-json-file", str(path))


def wait_for_leaders(real: RealCluster, count: int) -> None:
    def are_up() -> bool:
        lines = [line for line in real.tool("TopicCommand", "--describe").splitlines() if line.startswith("\t")]
        named = [line for line in lines if not line.startswith("\tTopic: half\tPartition: 0")]
        states = [re.search(r"Leader: (\S+)\tReplicas: (\S+)\tIsr: (\S+)", line) for line in named]
        full = [found and sorted(found[2].split(",")) == sorted(found[3].split(",")) for found in states]
        return len(lines) >= count and all(full)

    wait_for(are_up)


def wait_for(holds: object) -> None:
    deadline = time.monotonic() + FINISH_S
    assert callable(holds)
    while not holds():
        assert time.monotonic() < deadline, "the brokers did not get there"
        time.sleep(0.5)


def partitions(lines: list[str]) -> dict[str, str]:
    """The lines of partitions of our topics, without who leads and in which order the ISR stands."""
    found = {}
    for line in lines:
        match = re.match(r"\tTopic: (\S+)\tPartition: (\d+)", line)
        if match and match[1] in PLACED:
            found[f"{match[1]}-{match[2]}"] = settled(line)
    return found
