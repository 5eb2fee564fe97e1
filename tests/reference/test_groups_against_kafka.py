"""A real broker on groups that kafkapy wrote, and kafkapy on those that real clients left.

kafkapy leaves groups empty, with a member, and with offsets only; offsets committed in transactions; and some that were
deleted or have expired. Kafka 4.3.1's own tool shows the same groups, offsets and lag, and real consumers of both
protocols go on where kafkapy's members stopped. Two of them are killed with the broker unaware, so that their groups
still have members; what kafkapy then reads is what Kafka's tool printed last.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.coordinator.classic_groups import JoinRequest
from kafkapy.coordinator.consumer_protocol import Subscription, encode_assignment, encode_subscription
from kafkapy.coordinator.group_coordinator import GroupCoordinator
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

ORDERS = "orders"
PARTITIONS = tuple(TopicPartition(ORDERS, number) for number in range(3))
P0, P1, P2 = PARTITIONS
RECORDS = 10
WAIT_S = 60
TOOL = "consumer.group.ConsumerGroupCommand"

Lag = dict[tuple[str, int], tuple[str, str, str]]
"""Current offset, log end offset and lag, by group and partition of the topic."""


def at(*offsets: int) -> dict[TopicPartition, OffsetAndMetadata]:
    return {TopicPartition(ORDERS, number): OffsetAndMetadata(offset) for number, offset in enumerate(offsets)}


def make(path: Path) -> DirectoryCluster:
    kafka_libs()
    make_cluster(str(path), 1, files=Files(sync=False))
    cluster = DirectoryCluster(str(path), Files(sync=False))
    cluster.apply(CreateTopic(ORDERS, len(PARTITIONS), 1))
    for partition in PARTITIONS:
        values = (f"{partition.partition}:{number}".encode() for number in range(RECORDS))
        cluster.append(
            partition, encode_batch([Record(at, cluster.now, None, value) for at, value in enumerate(values)])
        )
    return cluster


def join(groups: GroupCoordinator, group_id: str, instance: str | None = None) -> tuple[str, int]:
    """A member that has all partitions."""
    protocols = (("range", encode_subscription(Subscription((ORDERS,)))),)
    request = JoinRequest("", instance, "kafkapy", "/127.0.0.1", 600_000, 300_000, protocols=protocols)
    member_id = groups.classic.join(group_id, request)
    generation = groups.classic.complete_join(group_id)[member_id].generation
    groups.classic.sync(group_id, generation, {member_id: encode_assignment(PARTITIONS)})
    return member_id, generation


def leave_groups(cluster: DirectoryCluster) -> str:
    """What kafkapy writes; the id of the member that stays."""
    groups = cluster.groups()
    offsets = groups.offset_manager
    for group_id in ("classic", "upgraded", "live-classic", "live-consumer"):
        member_id, generation = join(groups, group_id)
        offsets.commit(group_id, at(4, 5, 6), member_id, generation)
        groups.classic.leave(group_id, member_id)
    static, generation = join(groups, "static", "box-7")
    offsets.commit("static", at(10, 0), static, generation)
    groups.classic.leave("static", static)  # a static member does not

    offsets.commit("simple", {P0: OffsetAndMetadata(2, metadata="by hand"), P2: OffsetAndMetadata(3, 0)})
    offsets.delete("simple", [P2])
    offsets.commit("deleted", at(1))
    offsets.delete_group("deleted")
    offsets.commit("expired", {P0: OffsetAndMetadata(1, expire_timestamp=cluster.now - 1)})
    assert offsets.expire() == ([("expired", P0)], ["expired"])

    transactions = cluster.transactions()
    for commit, offset in ((True, 7), (False, 9)):
        producer = transactions.init_producer_id("tx")
        transactions.add_offsets("tx", *producer, "transactional")
        offsets.commit_transactional("transactional", producer, at(offset, offset))
        transactions.end("tx", *producer, commit)
    return static


def lag(real: RealCluster) -> Lag:
    rows = (line.split() for line in real.tool(TOOL, "--describe", "--all-groups", "--offsets").splitlines())
    return {(row[0], int(row[2])): (row[3], row[4], row[5]) for row in rows if len(row) > 5 and row[1] == ORDERS}


def listed(real: RealCluster) -> dict[str, tuple[str, str]]:
    """Type and state of every group."""
    lines = real.tool(TOOL, "--list", "--state", "--type").splitlines()
    return {row[0]: (row[1], row[2]) for row in map(str.split, lines) if len(row) == 3 and row[0] != "GROUP"}


def listed_once_loaded(real: RealCluster, count: int) -> dict[str, tuple[str, str]]:
    """The same when the coordinators have read them; before that, the tool is told of none."""
    deadline = time.monotonic() + WAIT_S
    while len(found := listed(real)) < count and time.monotonic() < deadline:
        time.sleep(0.5)
    return found


def members(real: RealCluster, group_id: str) -> dict[str, tuple[str, str]]:
    """Client id and number of partitions of every member."""
    lines = real.tool(TOOL, "--describe", "--group", group_id, "--members").splitlines()
    rows = [row for row in map(str.split, lines) if row and row[0] == group_id]
    return {row[1]: (row[-2], row[-1]) for row in rows}


def consume(real: RealCluster, group_id: str, protocol: str, count: int) -> list[str]:
    options = ("--topic", ORDERS, "--group", group_id, "--max-messages", str(count), "--timeout-ms", "60000")
    printed = real.tool("consumer.ConsoleConsumer", *options, "--command-property", f"group.protocol={protocol}")
    return sorted(printed.splitlines())


@contextmanager
def consumer_that_is_killed(real: RealCluster, group_id: str, protocol: str) -> Iterator[None]:
    """A real consumer that never says that it leaves."""
    command = [*kafka_java("org.apache.kafka.tools.consumer.ConsoleConsumer")]
    options = ["--bootstrap-server", real.bootstrap, "--topic", ORDERS, "--group", group_id]
    properties = [f"group.protocol={protocol}", "auto.commit.interval.ms=100"]
    given = [part for each in properties for part in ("--command-property", each)]
    process = subprocess.Popen([*command, *options, *given], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def wait_until_read(real: RealCluster, *group_ids: str) -> Lag:
    """What the tool prints once these groups have read everything."""
    deadline = time.monotonic() + WAIT_S
    while True:
        found = lag(real)
        states = listed(real)
        # while a group rebalances, the tool may leave it out
        rows = [found.get((group_id, number)) for group_id in group_ids for number in range(3)]
        done = all(row is not None and row[2] == "0" for row in rows)
        if done and all(group_id in states and states[group_id][1] == "Stable" for group_id in group_ids):
            return found
        assert time.monotonic() < deadline, (found, states)


def test_real_kafka_goes_on_with_the_groups_of_kafkapy_and_back(tmp_path: Path) -> None:
    cluster = make(tmp_path / "cluster")
    static = leave_groups(cluster)
    cluster.close()
    behind = {number: (str(4 + number), "10", str(6 - number)) for number in range(3)}
    with RealCluster(tmp_path / "cluster", tmp_path) as real:
        real.wait_until_in_sync(len(PARTITIONS) + 50 + 50)
        empty = dict.fromkeys(
            ("classic", "upgraded", "live-classic", "live-consumer", "simple", "transactional"), "Empty"
        )
        states = {group_id: ("Classic", state) for group_id, state in (*empty.items(), ("static", "Stable"))}
        assert listed_once_loaded(real, len(states)) == states
        expected = {
            (group_id, number): row
            for group_id in ("classic", "upgraded", "live-classic", "live-consumer")
            for number, row in behind.items()
        }
        expected |= {
            ("static", 0): ("10", "10", "0"),
            ("static", 1): ("0", "10", "10"),
            ("static", 2): ("-", "10", "-"),
        }
        expected |= {("transactional", 0): ("7", "10", "3"), ("transactional", 1): ("7", "10", "3")}
        expected |= {("simple", 0): ("2", "10", "8")}
        assert lag(real) == expected
        assert members(real, "static") == {static: ("kafkapy", "3")}

        rest = sorted(f"{number}:{offset}" for number in range(3) for offset in range(4 + number, RECORDS))
        assert consume(real, "classic", "classic", len(rest)) == rest
        assert consume(real, "upgraded", "consumer", len(rest)) == rest
        with (
            consumer_that_is_killed(real, "live-classic", "classic"),
            consumer_that_is_killed(real, "live-consumer", "consumer"),
        ):
            wait_until_read(real, "live-classic", "live-consumer")
        printed_lag, printed_states = lag(real), listed(real)
        printed_members = {
            group_id: members(real, group_id) for group_id in ("live-classic", "live-consumer", "static")
        }

    assert printed_states["upgraded"] == ("Consumer", "Empty")
    assert printed_states["live-consumer"] == ("Consumer", "Stable")
    groups = LogDirsCluster(*(str(path) for path in sorted((tmp_path / "cluster").glob("broker-*")))).groups()
    assert {each.group_id: (each.type, each.state) for each in groups.list()} == printed_states
    offsets = {
        (group_id, partition.partition): str(found.offset)
        for group_id in printed_states
        for partition, found in groups.offsets(group_id).items()
    }
    assert offsets == {key: row[0] for key, row in printed_lag.items() if row[0] != "-"}
    described = {group_id: groups.describe(group_id).members for group_id in printed_members}
    assert {
        group_id: {each.member_id: (each.client_id, str(len(each.assignment))) for each in found}
        for group_id, found in described.items()
    } == printed_members
    assert groups.store.problems == []
