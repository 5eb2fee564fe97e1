"""Real Kafka 4.3.1 boots from a directory whose damage was put right as kafkapy says, and has all that was not given
up: metadata that was cut behind damage, copies of it that were mended, and a partition whose loss was accepted. And
where a command was killed half way, without anybody putting anything right."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.failures import stop_broker
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.errors import DamagedFileError, KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from kafkapy.metadata.elections import UNCLEAN
from kafkapy.metadata.image import TOPIC, config_record
from kafkapy.metadata.metadata_damage import what_to_do
from tests.backends.contract import NOW
from tests.faults import Killed, TornFiles
from tests.kafka_jars import kafka_libs
from tests.real_kafka import RealCluster
from tests.reference.test_boot_after_failures import REST, Writer
from tests.reference.test_boot_cluster_directory import consumed, expected

MARK, LOST = ".kafka_cleanshutdown", TopicPartition("lost", 0)


def flip(log: Path, position: int) -> None:
    data = bytearray(log.read_bytes())
    data[position] ^= 0xFF
    log.write_bytes(data)


def test_brokers_boot_on_what_was_put_right(tmp_path: Path) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 3)
    write = Writer(directory)
    for topic in ("t", "lost"):
        write(lambda cluster, name: cluster.apply(CreateTopic(name, 2, 3, configs=REST)), topic)
    for topic, number in (("t", 0), ("t", 1), ("lost", 0), ("lost", 1)):
        write.produce(topic, number)
    logs = sorted(directory.glob("broker-*/__cluster_metadata-0/*.log"))
    kept = os.path.getsize(logs[0])
    for topic in ("given-up", "gone-too"):
        write(lambda cluster, name: cluster.apply(CreateTopic(name, 1, 3)), topic)

    for log in logs:
        flip(log, kept + 70)
    for log in logs:
        with pytest.raises(DamagedFileError) as refused:
            write.produce("t", 0)
        advice = what_to_do(refused.value, are_records_left=True).partition("to give that up: ")[2]
        assert advice == f"truncate -s {kept} {log}"
        subprocess.run(advice.split(), check=True)
    flip(logs[1], kept // 2)
    write.produce("t", 0)
    assert len({log.read_bytes() for log in logs}) == 1, "the other copies are mended"

    for copy in directory.glob(f"broker-*/{LOST}"):
        shutil.rmtree(copy)
    with pytest.raises(KafkaError, match="every copy of lost-0 is gone"):
        write.produce("lost", 0)
    write(lambda cluster: cluster.replica_control().elect(UNCLEAN, [LOST]))
    write.produce("lost", 0)

    topics = DirectoryReader(str(directory)).image().topics
    records = {topic: expected(directory, topic) for topic in topics}
    assert {topic: len(found) for topic, found in records.items()} == {"t": 3, "lost": 2}
    with RealCluster(directory, tmp_path) as real:
        real.wait_until_in_sync(4)
        assert {*real.tool("TopicCommand", "--list").split()} == {"t", "lost"}
        for topic in topics:
            assert consumed(real, topic, len(records[topic])) == records[topic]
    assert [*directory.glob("broker-*/given-up-0.*-stray")], "brokers set aside what the metadata does not know"


def test_a_broker_boots_where_a_command_was_killed_as_it_wrote_metadata(tmp_path: Path) -> None:
    """It was stopped, and its mark of a clean stop is gone with that: it leads all the same, with all records."""
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 1)
    write = Writer(directory)
    write(lambda cluster: cluster.apply(CreateTopic("t", 2, 1, configs=REST)))
    write.produce("t", 0)
    write(lambda cluster: stop_broker(cluster, 1))
    records = expected(directory, "t")
    torn = MetadataWriter([str(directory / "broker-1")], TornFiles(40))
    with pytest.raises(Killed):
        torn.append([config_record(TOPIC, "t", "retention.ms", "1")], NOW)
    assert not (directory / "broker-1" / MARK).exists()
    with RealCluster(directory, tmp_path) as real:
        real.wait_until_in_sync(2)
        assert consumed(real, "t", len(records)) == records
