"""What the examples of the help and the documentation take for granted, as a directory to run them in.

kafkapy-cluster, demo, my-cluster   four brokers, of which three have these topics, each in three copies
    orders     3 partitions, keyed records of JSON, 5000 of them in the first; group billing has read some
    payments   records as Confluent's serializers write them
    pay        39 records, and a transaction of pay-1 that is open from offset 39 on
    jobs       the share group workers and the streams group wordcount read it
kafka/1, kafka/2, kafka/3           the log dirs of kafkapy-cluster's brokers; examples have them as /kafka/1
docs                                the checkout's
and the small files that examples name
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.transaction_coordinator import MAX_TIMEOUT_MS
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.coordinator import typed_groups
from tests.coordinator.transactions import Producer

CLUSTERS = ("kafkapy-cluster", "demo", "my-cluster")
BROKERS = 4
REPLICAS = (1, 2, 3)
TOPICS = {
    "orders": 3,
    "payments": 1,
    "pay": 1,
    "orders.mailer.dead-letter": 1,
    "orders.mailer.retry.10m": 1,
    CONSUMER_OFFSETS: 4,
    TRANSACTION_STATE: 2,
}
FILES = {
    "topics.json": {"version": 1, "topics": [{"topic": "orders"}]},
    "partitions.json": {"partitions": [{"topic": "orders", "partition": 0}]},
    "offsets.json": {"version": 1, "partitions": [{"topic": "orders", "partition": 0, "offset": 3}]},
    "plan.json": {"version": 1, "partitions": [{"topic": "payments", "partition": 0, "replicas": [3, 2]}]},
    "payment.avsc": {"type": "record", "name": "Payment", "fields": [{"name": "cents", "type": "int"}]},
}
TEXTS = {
    "topics.yaml": "orders:\n  partitions: 6\n",
    "client.properties": "request.timeout.ms=20000\n",
    "prod.properties": "request.timeout.ms=20000\n",
    "server.properties": "node.id=1\nprocess.roles=broker,controller\nlog.dirs=formatted\n"
    "controller.listener.names=CONTROLLER\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
    "controller.quorum.bootstrap.servers=localhost:9093\n",
}


def make_world(directory: Path, root: Path) -> None:
    """Make all of it in an empty directory; ``root`` is the checkout."""
    first = directory / CLUSTERS[0]
    _make_cluster(first)
    for name in CLUSTERS[1:]:
        shutil.copytree(first, directory / name)
    (directory / "kafka").mkdir()
    for number in (1, 2, 3):
        os.symlink(f"../{first.name}/broker-{number}", directory / "kafka" / str(number))
    os.symlink(root / "docs", directory / "docs")
    for name, content in FILES.items():
        (directory / name).write_text(json.dumps(content))
    for name, text in TEXTS.items():
        (directory / name).write_text(text)
    mailer = directory / "send-mail"
    mailer.write_text("#!/bin/sh\ncat >/dev/null\n")
    mailer.chmod(0o755)


def _make_cluster(directory: Path) -> None:
    make_cluster(str(directory), BROKERS, files=Files(sync=False))
    cluster = DirectoryCluster(str(directory), Files(sync=False), seed=7)
    cluster.apply(*(CreateTopic(name, assignments=(REPLICAS,) * count) for name, count in TOPICS.items()))
    for number, count in enumerate((5000, 40, 40)):
        for first in range(0, count, 500):
            cluster.append(TopicPartition("orders", number), encode_batch(_orders(first, min(500, count), cluster.now)))
    avro = b"\0" + (1).to_bytes(4, "big") + b"\x54"
    cluster.append(TopicPartition("payments", 0), encode_batch([Record(0, cluster.now, None, avro)]))
    commits = {TopicPartition("orders", number): OffsetAndMetadata(30 - number) for number in range(3)}
    cluster.groups().offset_manager.commit("billing", commits)
    _hang_a_transaction(cluster)
    typed_groups.write(cluster, REPLICAS, "wordcount")
    cluster.close()


def _orders(first: int, count: int, now: int) -> list[Record]:
    numbers = range(first, first + count)
    values = [(f"k{at}".encode(), json.dumps({"id": at, "price": at % 7}).encode()) for at in numbers]
    return [Record(delta, now, key, value) for delta, (key, value) in enumerate(values)]


def _hang_a_transaction(cluster: DirectoryCluster) -> None:
    pay = TopicPartition("pay", 0)
    cluster.append(pay, encode_batch([Record(at, cluster.now, None, b"paid") for at in range(39)]))
    Producer(cluster, "pay-1", timeout_ms=MAX_TIMEOUT_MS).send(pay, "not yet")
