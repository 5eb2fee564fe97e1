"""A cluster directory with topics and groups of every kind, for the tests of what is told of groups.

orders    three partitions: 10 records, 5 records, none; a second apart from T0 on
trimmed   ten records, of which six are deleted
long      a topic with a long name and two records

simple      only commits: orders-0 at 4, orders-1 at its end, trimmed-0 before its log start
readers     a classic group that is empty again: orders-0 at 7, with a leader epoch and metadata
active      a classic group with two members; one is static and has orders-0 and orders-1
ahead       a commit past the end of orders-2
connectors  a classic group that is not of consumers
modern      a consumer group with a member that has both topics
modern-empty  a consumer group that is empty again
and one whose name has characters of every width
"""

from __future__ import annotations

from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.classic_groups import JoinRequest
from kafkapy.coordinator.consumer_groups import Heartbeat
from kafkapy.coordinator.consumer_protocol import Subscription, encode_assignment, encode_subscription
from kafkapy.coordinator.group_coordinator import GroupCoordinator
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic

T0 = 1_767_225_600_000
"""2026-01-01T00:00:00Z"""
ORDERS, TRIMMED, LONG = "orders", "trimmed", "a.topic.with-a-rather-long_name"
O0, O1, O2 = (TopicPartition(ORDERS, number) for number in range(3))
TRIMMED_0, LONG_0 = TopicPartition(TRIMMED, 0), TopicPartition(LONG, 0)
WIDE = "größer als fünfzehn Zeichen, 100 % \U0001f600"
HALF_AN_HOUR = 1_800_000  # the longest session that brokers allow


def made(directory: Path, offsets_partitions: int = 3) -> str:
    """The directory, closed again."""
    make_cluster(str(directory), 1, files=Files(sync=False))
    cluster = opened(str(directory))
    topics = ((ORDERS, 3), (TRIMMED, 1), (LONG, 1), (CONSUMER_OFFSETS, offsets_partitions))
    cluster.apply(*(CreateTopic(name, partitions, 1) for name, partitions in topics))
    for partition, count in ((O0, 10), (O1, 5), (TRIMMED_0, 10), (LONG_0, 2)):
        records = [Record(number, T0 + number * 1000, None, b"%d" % number) for number in range(count)]
        cluster.append(partition, encode_batch(records))
    cluster.delete_records(TRIMMED_0, 6)
    _make_groups(cluster.groups())
    cluster.close()
    return str(directory)


def damage_last_topic(directory: Path) -> None:
    """Make topics of which no other file knows, and damage the metadata log where the last but one of them stands."""
    cluster = opened(str(directory))
    (log,) = directory.glob("broker-1/__cluster_metadata-0/*.log")
    cluster.apply(CreateTopic("damaged", 1, 1))
    position = log.stat().st_size - 10
    cluster.apply(CreateTopic("behind", 1, 1))
    cluster.close()
    data = log.read_bytes()
    log.write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])


def opened(directory: str) -> DirectoryCluster:
    return DirectoryCluster(directory, Files(sync=False), seed=7)


def _make_groups(groups: GroupCoordinator) -> None:
    commit = groups.offset_manager.commit
    commit("simple", {O0: OffsetAndMetadata(4), O1: OffsetAndMetadata(5), TRIMMED_0: OffsetAndMetadata(2)})
    commit("ahead", {O2: OffsetAndMetadata(7)})
    commit(WIDE, {LONG_0: OffsetAndMetadata(1)})
    _leave_readers(groups)
    _leave_active(groups)
    groups.classic.join("connectors", _joining("worker", protocol_type="connect", assignors=("sessioned",)))
    (leader,) = groups.classic.complete_join("connectors").values()
    groups.classic.sync("connectors", leader.generation, {leader.member_id: b"tasks"})
    _leave_modern(groups)


def _leave_readers(groups: GroupCoordinator) -> None:
    member = groups.classic.join("readers", _joining("reader"))
    (joined,) = groups.classic.complete_join("readers").values()
    groups.classic.sync("readers", joined.generation, {member: encode_assignment((O0, O1, O2))})
    offset = OffsetAndMetadata(7, leader_epoch=0, metadata="here")
    groups.offset_manager.commit("readers", {O0: offset}, member, joined.generation)
    groups.classic.leave("readers", member)


def _leave_active(groups: GroupCoordinator) -> None:
    moving = groups.classic.join("active", _joining("moving"))
    static = groups.classic.join("active", _joining("static", instance="box-7"))
    generation = max(answer.generation for answer in groups.classic.complete_join("active").values())
    shares = {moving: (O2,), static: (O0, O1)}
    groups.classic.sync("active", generation, {member: encode_assignment(share) for member, share in shares.items()})
    groups.offset_manager.commit("active", {O0: OffsetAndMetadata(9)}, static, generation)


def _leave_modern(groups: GroupCoordinator) -> None:
    joining = Heartbeat(
        "", 0, client_id="app", client_host="/127.0.0.1", rebalance_timeout_ms=300_000, owned=(),
        subscribed_topic_names=(ORDERS, LONG),
    )  # fmt: skip
    member = groups.consumer.heartbeat("modern", joining)
    groups.offset_manager.commit("modern", {O0: OffsetAndMetadata(1)}, member.member_id, member.member_epoch)
    member = groups.consumer.heartbeat("modern-empty", joining)
    groups.offset_manager.commit("modern-empty", {O1: OffsetAndMetadata(3)}, member.member_id, member.member_epoch)
    groups.consumer.heartbeat("modern-empty", Heartbeat(member.member_id, -1))


def _joining(
    client_id: str,
    instance: str | None = None,
    protocol_type: str = "consumer",
    assignors: tuple[str, ...] = ("range", "cooperative-sticky"),
) -> JoinRequest:
    data = encode_subscription(Subscription((ORDERS,)))
    protocols = tuple((name, data) for name in assignors)
    timeouts = HALF_AN_HOUR, HALF_AN_HOUR
    return JoinRequest("", instance, client_id, "/127.0.0.1", *timeouts, protocol_type, protocols)
