"""lag and throughput on a running cluster: beside ConsumerGroupCommand, beside the brokers' own files, and while
somebody writes and reads."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from time import time_ns
from typing import Any

import pytest

from kafkapy.backends.selection import Selection, open_cluster
from kafkapy.lag.cluster_rows import Wanted
from kafkapy.lag.snapshots import Snapshots
from tests.live_clients import GroupKind, Sent
from tests.live_kafka import LiveKafka
from tests.tool_server import ToolRun

ORDERS, TX, FLOW = "lag-orders", "lag-tx", "lag-flow"
SIMPLE, LEFT, READING, MARKED, STREAMS = "lag-simple", "lag-left", "lag-reading", "lag-marked", "lag-streams"
T0 = 1_700_000_000_000
COLUMNS = ("group", "topic", "partition", "committed_offset", "log_end_offset", "lag")


@pytest.fixture(scope="module")
def flowing(live: LiveKafka) -> Iterator[LiveKafka]:
    """Groups with and without members, ahead and behind."""
    live.create_topic(ORDERS, 3, 3)
    live.create_topic(TX, 1, 1)
    live.send(*(Sent(ORDERS, f"{n}", partition=n % 2, timestamp=T0 + n * 1000) for n in range(40)))
    for number in (9, 4):
        live.commit(SIMPLE, ORDERS, {0: number, 1: 20, 2: 0})
    live.begin_transaction("lag-t", Sent(TX, "x", partition=0)).commit()
    live.commit(MARKED, TX, {0: 1})
    with live.members("consumer", LEFT, [ORDERS], commit=True):
        live.until(lambda: _read(live, LEFT) == 40)
    live.commit(LEFT, ORDERS, {0: 3})
    with live.members("classic", READING, [ORDERS], commit=True), live.members("streams", STREAMS, [ORDERS]):
        live.until(lambda: _read(live, READING) == 40)
        yield live


def _read(live: LiveKafka, group: str) -> int:
    return sum(int(line[3]) for line in told(live, group) if line[3] != "-")


def told(live: LiveKafka, group: str) -> list[list[str]]:
    """What Kafka's tool tells of the partitions of a group."""
    done = live.kafka("ConsumerGroupCommand", "--bootstrap-server", live.bootstrap, "--describe", "--group", group)
    return [line.split() for line in done.lines if line.startswith(group)]


def rows(done: ToolRun, kind: str = "lag") -> list[dict[str, Any]]:
    assert (done.code, done.err) == (0, "")
    return [row for row in map(json.loads, done.lines) if row["type"] == kind]


def lag(live: LiveKafka, *args: str) -> ToolRun:
    return live.kafkapy("lag", "--bootstrap-server", live.bootstrap, "--output", "jsonl", *args)


def throughput(live: LiveKafka, *args: str) -> ToolRun:
    return live.kafkapy("throughput", "--bootstrap-server", live.bootstrap, "--output", "jsonl", *args)


@pytest.mark.parametrize("option", ["--interval", "--at"])
def test_offsets_and_lag_are_those_of_kafkas_tool(flowing: LiveKafka, option: str) -> None:
    when = (option, "20ms" if option == "--interval" else str(time_ns() // 10**6))
    groups = (SIMPLE, LEFT, READING, MARKED)
    found = rows(lag(flowing, *when, *(word for group in groups for word in ("--group", group))))
    theirs = [line[:6] for group in groups for line in told(flowing, group) if line[3] != "-"]
    assert len(theirs) >= 8
    assert sorted([str(row[name]) for name in COLUMNS] for row in found) == sorted(theirs)


def test_the_time_lag_is_the_age_of_the_oldest_record_that_is_left(flowing: LiveKafka) -> None:
    named = [word for group in (SIMPLE, LEFT, READING, MARKED) for word in ("--group", group)]
    found = rows(lag(flowing, "--interval", "1100ms", *named))  # of one second one commit counts
    ages = {(row["group"], row["partition"]): row["timestamp"] - row["time_lag_ms"] for row in found if row["lag"]}
    assert ages.pop((MARKED, 0)) > T0 + 10**9  # only a marker is left: nothing is waiting
    assert ages == {(SIMPLE, 0): T0 + 8000, (LEFT, 0): T0 + 6000}
    verdicts = {row["group"]: row["verdict"] for row in found if row["partition"] == 0}
    assert verdicts == {SIMPLE: "stalled", LEFT: "stopped", READING: "ok", MARKED: "ok"}


def test_history_out_of_the_offsets_topic(flowing: LiveKafka) -> None:
    done = lag(flowing, "--history", "--step", "1s", "--by", "partition", "--group", SIMPLE, "--group", LEFT)
    simple = [row for row in rows(done) if (row["group"], row["partition"]) == (SIMPLE, 0)]
    assert (simple[-1]["lag"], simple[-1]["timestamp"] - simple[-1]["time_lag_ms"]) == (16, T0 + 8000)
    events = [
        (row["group"], row["event"], row["from_offset"], row["to_offset"])
        for row in rows(done, "lag_event")
        if row["event"] in ("rewind", "reset")
    ]
    assert events == [(SIMPLE, "rewind", 9, 4), (LEFT, "reset", 20, 3)]
    assert all(row["commits_whole"] for row in rows(done))


@contextmanager
def writing(live: LiveKafka, topic: str) -> Iterator[None]:
    """Somebody who writes all the time."""
    command = [sys.executable, "-m", "kafkapy", "console-producer", "--bootstrap-server", live.bootstrap]
    producer = subprocess.Popen([*command, "--topic", topic], stdin=subprocess.PIPE, text=True)
    done = threading.Event()

    def write() -> None:
        assert producer.stdin is not None
        while not done.wait(0.02):
            producer.stdin.write("x\n" * 5)
            producer.stdin.flush()
        producer.stdin.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()
        assert producer.wait(30) == 0


def test_rates_while_somebody_writes_and_reads(flowing: LiveKafka) -> None:
    flowing.create_topic(FLOW, 1, 3)
    flowing.commit("lag-idle", FLOW, {0: 0})
    with writing(flowing, FLOW), flowing.members("consumer", "lag-busy", [FLOW], commit=True):
        flowing.until(lambda: _read(flowing, "lag-busy") > 0)
        found = {row["group"]: row for row in rows(lag(flowing, "--topic", FLOW, "--interval", "3s"))}
        watched = rows(lag(flowing, "--topic", FLOW, "--group", "lag-idle", "--watch", "--times", "3",
                           "--interval", "1s"))  # fmt: skip
    busy, idle = found["lag-busy"], found["lag-idle"]
    assert (busy["last_commit_timestamp"], idle["last_commit_timestamp"]) == (busy["timestamp"], None)
    assert busy["produce_rate"] == idle["produce_rate"] > 0
    assert busy["consume_rate"] > 0
    assert busy["verdict"] in ("ok", "falling behind")
    assert (idle["verdict"], idle["consume_rate"], idle["catch_up_ms"]) == ("stalled", 0, None)
    ends = [row["log_end_offset"] for row in watched]
    assert ends == sorted(ends)
    assert ends[0] < ends[-1]
    for before, row in pairwise(watched):
        seconds = (row["timestamp"] - before["timestamp"]) / 1000
        assert row["produce_rate"] == pytest.approx((row["log_end_offset"] - before["log_end_offset"]) / seconds, 1e-3)


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_what_kafkas_tool_skips_was_not_read(flowing: LiveKafka, kind: GroupKind) -> None:
    group = f"lag-skips-{kind}"
    with flowing.members(kind, group, [ORDERS], commit=True):
        flowing.until(lambda: _read(flowing, group) == 40)
    reset = ("--bootstrap-server", flowing.bootstrap, "--reset-offsets", "--group", group, "--topic", f"{ORDERS}:0")
    snapshots = Snapshots(Wanted(lambda name: name == group, lambda _: True))
    with closing(open_cluster(Selection(bootstrap_server=flowing.bootstrap))) as cluster:
        found = []
        for offset in ("5", "15"):
            assert flowing.kafka("ConsumerGroupCommand", *reset, "--to-offset", offset, "--execute").code == 0
            now, problems = cluster.now, list[str]()
            points = snapshots.take(cluster, now, problems.append)
            found.append([(each.lag, each.consume_rate, each.last_commit == now) for each in points[:1]])
            assert problems == []
    assert found == [[(15, None, False)], [(5, 0.0, True)]]


def test_throughput_is_what_the_brokers_files_hold(flowing: LiveKafka) -> None:
    wanted = ("--topic", ORDERS, "--topic", TX, "--by", "partition", "--measure-compression")
    files = ",".join(str(path.parent) for path in sorted(flowing.directory.rglob("meta.properties")))
    for time in ((), ("--from", str(T0 + 5000), "--to", str(T0 + 20_000))):
        found = throughput(flowing, *wanted, *time)
        of_files = flowing.kafkapy("throughput", "--log-dirs", files, "--output", "jsonl", *wanted, *time)
        assert rows(found, "throughput") == rows(of_files, "throughput") != []


def test_what_would_read_everything_or_needs_files_is_refused(flowing: LiveKafka) -> None:
    for args, hint in (((), "name topics with --topic"), (("--forecast",), "use --log-dirs")):
        done = throughput(flowing, *args)
        assert (done.code, done.out) == (1, "")
        assert hint in done.err


def test_a_group_that_is_not_there_is_told_at_the_first_look(flowing: LiveKafka) -> None:
    done = lag(flowing, "--group", f"{SIMPLE}x", "--interval", "10m")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"kafkapy: there is no group '{SIMPLE}x'; did you mean '{SIMPLE}'?\n"
