"""A cluster directory with many groups, as consumers leave it that commit every few seconds.

One topic, and groups that each commit all of its partitions at once, again and again: a batch holds what one consumer
commits, and the newest of ``ROUNDS`` batches of a group are its offsets. Every group is empty, as after its consumers
have left, so that a broker that is started on the directory says the same as the files.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from struct import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kafkapy.backends.directory import DirectoryCluster  # noqa: E402
from kafkapy.backends.directory_format import make_cluster  # noqa: E402
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, creation  # noqa: E402
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record  # noqa: E402
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch  # noqa: E402
from kafkapy.formats.uuid import uuid_bytes  # noqa: E402
from kafkapy.log.files import Files  # noqa: E402
from kafkapy.log.topic_partition import TopicPartition  # noqa: E402
from kafkapy.metadata.changes import CreateTopic  # noqa: E402

TOPIC = "orders"
GROUPS, PARTITIONS, ROUNDS = 1_000, 100, 20
RECORDS = 100
COMMIT_INTERVAL_MS = 5_000

_VALUE = Struct(">hqiBqBBB16s")  # OffsetCommitValue 4 with a topic id and no metadata
_EMPTY = {
    "protocolType": "consumer",
    "generation": 2,
    "protocol": None,
    "leader": None,
    "currentStateTimestamp": 0,
    "members": [],
}


def make_groups(directory: Path, groups: int = GROUPS, partitions: int = PARTITIONS, rounds: int = ROUNDS) -> None:
    """Make the directory; ``groups * partitions * rounds`` commits are in it."""
    make_cluster(str(directory), 1, files=Files(sync=False))
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    try:
        cluster.apply(CreateTopic(TOPIC, partitions, 1), creation(CONSUMER_OFFSETS, 1))
        _write_topic(cluster, partitions)
        topic_id = uuid_bytes(cluster.image().topics[TOPIC].id)
        store = cluster.groups().store
        keys = {f"group-{number:06d}": _keys(f"group-{number:06d}", partitions) for number in range(groups)}
        homes = {group_id: store.partition(group_id) for group_id in keys}
        for number in range(rounds):
            now = int(time.time() * 1000) - (rounds - number) * COMMIT_INTERVAL_MS
            value = _VALUE.pack(4, (number + 1) * RECORDS // rounds, 0, 1, now, 1, 0, 16, topic_id)
            for group_id, found in keys.items():
                _append(cluster, homes[group_id], [(key, value) for key in found], now)
        for group_id in keys:
            record = CoordinatorRecord("GroupMetadata", {"group": group_id}, 3, _EMPTY)
            _append(cluster, homes[group_id], [encode_record(GROUP, record)], now)
    finally:
        cluster.close()


def _write_topic(cluster: DirectoryCluster, partitions: int) -> None:
    now = int(time.time() * 1000)
    for number in range(partitions):
        records = [Record(offset, now, None, b"x" * 10) for offset in range(RECORDS + number)]
        cluster.append(TopicPartition(TOPIC, number), encode_batch(records))


def _keys(group_id: str, partitions: int) -> list[bytes]:
    return [
        encode_record(GROUP, CoordinatorRecord("OffsetCommit", {"group": group_id, "topic": TOPIC, "partition": each}))[
            0
        ]
        for each in range(partitions)
    ]


def _append(
    cluster: DirectoryCluster, partition: TopicPartition, pairs: list[tuple[bytes, bytes | None]], now: int
) -> None:
    records = [Record(number, now, key, value) for number, (key, value) in enumerate(pairs)]
    cluster.append_as_coordinator(partition, encode_batch(records, BatchOptions(base_sequence=0)), 2)
