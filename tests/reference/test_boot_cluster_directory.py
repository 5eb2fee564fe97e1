"""Real Kafka 4.3.1 boots from what kafkapy wrote, serves it, and kafkapy goes on where Kafka stopped.

Three brokers are started on one cluster directory twice; between the two starts kafkapy reads and writes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.maintenance import Wanted
from kafkapy.backends.maintenance import run as maintain
from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from kafkapy.metadata.image import TOPIC
from kafkapy.metadata.topic_description import describe_topics
from kafkapy.output.topic_lines import partition_line
from tests.kafka_jars import kafka_libs
from tests.real_kafka import RealCluster

NOW = 1_794_800_000_000
CODECS = {f"codec-{codec.label}": codec for codec in Codec}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kafka_libs()
    directory = tmp_path_factory.mktemp("boot") / "cluster"
    make_cluster(str(directory), 3, ["a", "b", "a"])
    return directory


def produce(directory: Path, topic: str, codec: Codec, first: int, count: int) -> None:
    opened = DirectoryCluster(str(directory), seed=7)
    try:
        if topic not in opened.image().topics:
            opened.apply(CreateTopic(topic, 2, 2, configs={"retention.ms": "-1"}))
        for number in range(first, first + count):
            record = Record(0, NOW + number, b"k%d" % number, b"v%d " % number * 20, (Header("n", b"%d" % number),))
            opened.append(TopicPartition(topic, number % 2), encode_batch([record], BatchOptions(codec=codec)))
    finally:
        opened.close()


def described(directory: Path) -> set[str]:
    """Every partition as TopicCommand would print it while all brokers run."""
    reader = LogDirsCluster(*(str(path) for path in sorted(directory.glob("broker-*"))))
    image = reader.image()
    return {
        settled(partition_line(each.topic, each.partition, each.leader, each.replicas, each.isr, (), ()))
        for topic in describe_topics(
            reader.live_brokers, image.topics.values(), reader.config_entries(TOPIC, [*image.topics]), True
        )
        for each in topic.partitions
    }


def settled(line: str) -> str:
    """A partition's line without what depends on which broker came up first: the leader, and the order of the ISR."""
    line = re.sub(r"Leader: \d+", "Leader: any", line)
    return re.sub(r"Isr: ([\d,]+)", lambda found: "Isr: " + ",".join(sorted(found[1].split(","))), line)


def consumed(real: RealCluster, topic: str, count: int) -> set[str]:
    """The first ``count`` records; a machine that is busy may take long to serve the first."""
    shown = [("--formatter-property", f"print.{name}=true") for name in ("key", "offset", "partition", "headers")]
    limits = ("--from-beginning", "--timeout-ms", "60000", "--max-messages", str(count))
    options = ("--topic", topic, *limits, *(part for pair in shown for part in pair))
    return set(real.tool("consumer.ConsoleConsumer", *options).splitlines())


def expected(directory: Path, topic: str) -> set[str]:
    reader = LogDirsCluster(*(str(path) for path in sorted(directory.glob("broker-*"))))
    return {
        f"Partition:{partition}\tOffset:{record.offset}\t"
        + (",".join(f"{h.key}:{(h.value or b'').decode()}" for h in record.headers) or "NO_HEADERS")
        + f"\t{(record.key or b'null').decode()}\t{(record.value or b'').decode()}"
        for partition in (0, 1)
        for batch in reader.read(TopicPartition(topic, partition), 0)
        for record in batch.records()
    }


def test_brokers_boot_serve_stop_and_boot_again(cluster: Path, tmp_path: Path) -> None:
    for topic, codec in CODECS.items():
        produce(cluster, topic, codec, 0, 10)
    before = described(cluster)
    with RealCluster(cluster, tmp_path) as real:
        text = real.wait_until_in_sync(2 * len(CODECS))
        assert {settled(line) for line in text.splitlines() if line.startswith("\tTopic: codec")} == before
        offsets = real.tool("GetOffsetShell", "--topic", "codec-.*").split()
        assert offsets == sorted(f"{topic}:{partition}:5" for topic in CODECS for partition in (0, 1))
        assert consumed(real, "codec-zstd", 10) == expected(cluster, "codec-zstd") != set()
        real.tool("ConsoleProducer", "--topic", "codec-none", lines="written by Kafka\n")
    values = {line.rpartition("\t")[2] for line in expected(cluster, "codec-none")}
    assert "written by Kafka" in values, "kafkapy reads on after the brokers stopped"
    produce(cluster, "codec-none", Codec.NONE, 20, 6)
    produce(cluster, "later", Codec.LZ4, 0, 4)
    with RealCluster(cluster, tmp_path) as real:
        real.wait_until_in_sync(2 * len(CODECS) + 2)
        for topic in ("codec-none", "later"):
            wanted = expected(cluster, topic)
            assert consumed(real, topic, len(wanted)) == wanted != set()


def test_one_broker_boots_on_compacted_data_and_a_snapshot(tmp_path: Path) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 1)
    compacting = {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01"}
    opened = DirectoryCluster(str(directory), seed=7)
    try:
        opened.apply(CreateTopic("latest", 2, 1, configs=compacting))
        for number in range(400):
            record = Record(0, NOW + number, b"k%d" % (number % 7), b"%06d" % number * 2000)
            opened.append(TopicPartition("latest", number % 2), encode_batch([record]))
        actions = list(maintain(opened, Wanted(now=NOW + 1000, snapshot=True)))
    finally:
        opened.close()
    assert {str(action.partition) for action in actions} == {"latest-0", "latest-1", "__cluster_metadata-0"}
    kept = expected(directory, "latest")
    assert len(kept) < 400
    with RealCluster(directory, tmp_path) as real:
        real.wait_until_in_sync(2)
        assert consumed(real, "latest", len(kept)) == kept
        real.tool("ConsoleProducer", "--topic", "latest", "--reader-property", "parse.key=true", lines="k\tnew\n")
    assert any(line.endswith("\tk\tnew") for line in expected(directory, "latest"))
