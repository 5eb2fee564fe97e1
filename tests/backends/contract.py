"""What every backend must answer the same of the same files, and helpers to write some.

``seen`` is all that a reader can see of a cluster: two clusters are the same if it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafkapy.backends.cluster import EARLIEST, LATEST, MAX_TIMESTAMP, Cluster
from kafkapy.backends.cluster_file import BrokerEntry, ClusterFile, encode
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.errors import KafkapyError
from kafkapy.formats import meta_properties
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kafkapy.metadata.topics_image import TopicImage

NOW = 1_794_800_000_000
OPTIONS = BatchOptions()


def batch(*values: bytes, options: BatchOptions = OPTIONS) -> bytes:
    """A batch as a producer sends it."""
    return encode_batch([Record(n, NOW + n, b"k%d" % n, value) for n, value in enumerate(values)], options)


def values(cluster: Cluster, partition: TopicPartition, committed: bool = False) -> list[bytes | None]:
    return [
        record.value
        for each in cluster.read(partition, 0, committed)
        if not each.header.is_control
        for record in each.records()
    ]


def topics(cluster: Cluster) -> dict[str, Any]:
    """The topics of the metadata, and their configs."""
    image = cluster.image()
    return {
        name: (topic.id, dict(topic.partitions), dict(image.config(2, name)))
        for name, topic in sorted(image.topics.items())
    }


def seen(cluster: Cluster) -> dict[str, Any]:
    """All that a reader can see."""
    partitions = [
        TopicPartition(name, number) for name, topic in cluster.image().topics.items() for number in topic.partitions
    ]
    return {
        "topics": topics(cluster),
        "brokers": dict(cluster.image().brokers),
        "offsets": {
            str(partition): [cluster.offset(partition, spec) for spec in (EARLIEST, LATEST, MAX_TIMESTAMP, NOW + 1)]
            for partition in sorted(partitions)
        },
        "values": {
            str(partition): (values(cluster, partition), values(cluster, partition, committed=True))
            for partition in sorted(partitions)
        },
        "log_dirs": [(each.broker_id, each.path, each.replicas) for each in cluster.log_dirs()],
    }


def answers(cluster: Cluster, names: Sequence[str], timestamp: int) -> dict[str, Any]:
    """What every kind of cluster must answer the same, of some topics: also one that cannot tell its log dirs."""
    image = cluster.image()
    partitions = [TopicPartition(name, number) for name in names for number in sorted(image.topics[name].partitions)]
    specs = (EARLIEST, LATEST, MAX_TIMESTAMP, timestamp + 1500)
    found = iter(cluster.offsets([(partition, spec) for partition in partitions for spec in specs]))
    return {
        "topics": {name: (image.topics[name].id, _partitions(image.topics[name])) for name in names},
        "brokers": {broker.id: broker.rack for broker in image.brokers.values()},
        "live": cluster.live_brokers,
        "features": dict(image.features),
        "quotas": dict(image.client_quotas),
        "users": {key: credential.iterations for key, credential in image.scram.items()},
        "configs": {key: dict(image.configs[key]) for key in sorted(image.configs)},
        "resources": {number: cluster.config_resources(number) for number in (TOPIC, BROKER, CLIENT_METRICS, GROUP)},
        "own": {name: _own(cluster, name) for name in names},
        "offsets": {str(partition): [next(found) for _ in specs] for partition in partitions},
        "values": {str(partition): _kept(cluster, partition) for partition in partitions},
    }


def _kept(cluster: Cluster, partition: TopicPartition) -> list[bytes | None]:
    first = cluster.offset(partition, EARLIEST)
    assert first is not None
    return [record.value for batch in cluster.read(partition, first) for record in batch.records()]


def _partitions(topic: TopicImage) -> dict[int, tuple[Any, ...]]:
    return {
        number: (each.replicas, set(each.isr), each.leader, each.adding_replicas, each.elr)
        for number, each in topic.partitions.items()
    }


def _own(cluster: Cluster, topic: str) -> dict[str, str | None]:
    entries = cluster.config_entries(TOPIC, [topic])[topic]
    assert not isinstance(entries, KafkapyError)
    return {entry.name: entry.value for entry in entries if entry.source == "DYNAMIC_TOPIC_CONFIG"}


def log_dirs(directory: Path) -> LogDirsCluster:
    """The same directory, as somebody who only reads opens it."""
    return LogDirsCluster(*(str(path) for path in sorted(directory.glob("broker-*"))))


def metadata_logs(directory: Path) -> set[bytes]:
    """The distinct metadata logs of all brokers: one, if they agree."""
    return {
        b"".join(path.read_bytes() for path in sorted((broker / "__cluster_metadata-0").glob("*.log")))
        for broker in directory.glob("broker-*")
    }


def replica_logs(directory: Path, partition: TopicPartition) -> set[bytes]:
    """The distinct logs of a partition's replicas."""
    return {
        b"".join(path.read_bytes() for path in sorted(replica.glob("*.log")))
        for replica in directory.glob(f"broker-*/{partition}")
    }


def marks(directory: Path) -> int:
    """How many brokers have the mark of a clean stop."""
    return len(list(directory.glob("broker-*/.kafka_cleanshutdown")))


def opened(directory: Path, **options: Any) -> DirectoryCluster:
    """A cluster directory to write to, with a fixed clock and fixed placement."""
    return DirectoryCluster(str(directory), **{"now": NOW, "seed": 7} | options)


def adopt(directory: Path) -> None:
    """Make a cluster directory of copies of brokers' log dirs, by a cluster.yaml beside them."""
    brokers, cluster_id = [], ""
    for path in sorted(directory.glob("broker-*")):
        meta = meta_properties.decode((path / meta_properties.FILE_NAME).read_bytes())
        assert meta.node_id is not None
        assert meta.cluster_id is not None
        brokers.append(BrokerEntry(meta.node_id, None, (path.name,)))
        cluster_id = meta.cluster_id
    (directory / "cluster.yaml").write_bytes(encode(ClusterFile(cluster_id, tuple(brokers))))
