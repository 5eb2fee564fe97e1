"""Real Kafka 4.3.1 boots from a directory in which brokers were stopped, killed, started and elected, and replicas
moved meanwhile. Its own tools agree on leaders, ISR, replicas and data."""

from __future__ import annotations

import re
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.failures import kill_broker, lag_broker, replicate, start_broker, stop_broker
from kafkapy.backends.reassigning import start
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, ElectLeader
from kafkapy.metadata.elections import PREFERRED
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from tests.kafka_jars import kafka_libs
from tests.real_kafka import RealCluster
from tests.reference.test_boot_cluster_directory import consumed, described, expected, settled

NOW = 1_794_800_000_000
REST = {"retention.ms": "-1"}


class Writer:
    """A cluster directory, opened anew for every step, as commands do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0

    def __call__(self, work: object, *args: object) -> None:
        cluster = DirectoryCluster(str(self.directory), seed=7)
        try:
            work(cluster, *args)  # type: ignore[operator]
        finally:
            cluster.close()

    def produce(self, topic: str, partition: int, acks: int = -1) -> None:
        self.count += 1
        record = Record(0, NOW + self.count, None, f"{topic} {self.count}".encode())
        self(lambda cluster: cluster.append(TopicPartition(topic, partition), encode_batch([record]), acks))


def offsets(directory: Path, topic: str) -> list[str]:
    found = [line.split("\t") for line in expected(directory, topic)]
    ends = {partition: sum(each[0] == f"Partition:{partition}" for each in found) for partition in (0, 1)}
    return [f"{topic}:{partition}:{end}" for partition, end in ends.items()]


def leaders(text: str) -> dict[str, int]:
    """Who leads each partition, of what TopicCommand prints."""
    found = re.findall(r"\tTopic: (\S+)\tPartition: (\d+)\tLeader: (\d+)", text)
    return {f"{topic}-{partition}": int(leader) for topic, partition, leader in found}


def test_brokers_boot_after_stops_crashes_elections_and_moves(tmp_path: Path) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 3)
    write = Writer(directory)
    write(lambda cluster: cluster.apply(CreateTopic("t", assignments=((1, 2, 3), (2, 3, 1)), configs=REST)))
    write(lambda cluster: cluster.apply(CreateTopic("moved", assignments=((1, 2), (2, 1)), configs=REST)))
    write.produce("t", 0)
    write.produce("moved", 0)
    write(stop_broker, 1)
    write.produce("t", 0)
    write.produce("t", 1)
    write.produce("moved", 1)
    write(start_broker, 1)
    write(replicate, True)
    targets = {TopicPartition("moved", 0): (3, 1), TopicPartition("moved", 1): (2, 3)}
    write(start, Reassignment(targets, {}))
    write(kill_broker, 2, True)
    write.produce("t", 1)
    write.produce("moved", 0)
    write(start_broker, 2)
    write(replicate, True)
    for elected in (("t", 1), ("moved", 0)):
        write(lambda cluster, *partition: cluster.apply(ElectLeader(*partition, PREFERRED)), *elected)
    write.produce("t", 0)
    before, topics = described(directory), DirectoryReader(str(directory)).image().topics
    led = {f"{name}-{n}": each.leader for name in topics for n, each in topics[name].partitions.items()}
    assert led == {"t-0": 1, "t-1": 2, "moved-0": 3, "moved-1": 2}
    assert {p: topics[p.topic].partitions[p.partition].replicas for p in targets} == targets
    records = {topic: expected(directory, topic) for topic in topics}
    ends = {topic: offsets(directory, topic) for topic in topics}
    assert ends == {"t": ["t:0:3", "t:1:2"], "moved": ["moved:0:2", "moved:1:1"]}
    with RealCluster(directory, tmp_path) as real:
        text = real.wait_until_in_sync(4)
        assert {settled(line) for line in text.splitlines() if line.startswith("\t")} == before
        real.tool("LeaderElectionCommand", "--election-type", "preferred", "--all-topic-partitions")
        assert leaders(real.tool("TopicCommand", "--describe")) == led
        for topic in topics:
            assert real.tool("GetOffsetShell", "--topic", topic).split() == ends[topic]
            assert consumed(real, topic, len(records[topic])) == records[topic] != set()


def test_only_in_sync_replicas_lead_and_others_truncate(tmp_path: Path) -> None:
    """Broker 1 wrote what nobody else had, and died; broker 2 went on, alone in the end."""
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 3)
    write = Writer(directory)
    write(lambda cluster: cluster.apply(CreateTopic("t", assignments=((1, 2, 3), (1, 2, 3)), configs=REST)))
    write.produce("t", 0)
    write(lag_broker, 2)
    write(lag_broker, 3)
    write.produce("t", 0, acks=1)
    lost = f"t {write.count}"
    write(kill_broker, 1)
    write(start_broker, 2)
    write(start_broker, 3)
    write.produce("t", 0)
    write(stop_broker, 3)
    write.produce("t", 0)
    write.produce("t", 1)
    records = expected(directory, "t")
    assert not any(lost in line for line in records)
    logs = [path.read_bytes() for path in sorted(directory.glob("broker-*/t-0/*.log"))]
    assert lost.encode() in logs[0], "it is still in the log of broker 1"
    assert len({len(log) for log in logs}) == 2
    with RealCluster(directory, tmp_path) as real:
        text = real.wait_until_in_sync(2)
        assert leaders(text) == {"t-0": 2, "t-1": 2}, "the only one in sync leads"
        assert real.tool("GetOffsetShell", "--topic", "t").split() == ["t:0:3", "t:1:1"]
        assert consumed(real, "t", len(records)) == records
    logs = [path.read_bytes() for path in sorted(directory.glob("broker-*/t-0/*.log"))]
    assert logs[0] == logs[1] == logs[2], "broker 1 cut off what it alone had"
