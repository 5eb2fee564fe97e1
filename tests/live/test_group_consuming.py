"""Members of groups of a running cluster: beside Kafka's own consumers, through rebalances, and leaving."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.live_kafka import LiveKafka

PROTOCOLS = ("classic", "consumer")
ENOUGH_S = 60


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


def protocol_of(name: str) -> tuple[str, str]:
    return ("--command-property", f"group.protocol={name}")


def committed(live: LiveKafka, group: str) -> dict[tuple[str, int], int]:
    """What Kafka's tool says that the group has committed."""
    lines = live.kafka("ConsumerGroupCommand", *on(live, "--describe", "--group", group)).lines
    found = [line.split() for line in lines if line.startswith(group)]
    return {(topic, int(partition)): int(offset) for _, topic, partition, offset, *_ in found if offset != "-"}


def member_count(live: LiveKafka, group: str) -> int:
    lines = live.kafka("ConsumerGroupCommand", *on(live, "--describe", "--group", group, "--members")).lines
    return sum(line.startswith(group) for line in lines)


def filled(live: LiveKafka, partitions: int = 3, each: int = 20) -> str:
    topic = live.create_topic(partitions=partitions)
    for partition in range(partitions):
        live.produce(topic, [f"{partition}-{n}" for n in range(each)], partition)
    return topic


class Running:
    """``kafkapy console-consumer`` in a process of its own."""

    def __init__(self, live: LiveKafka, scratch: Path, *args: str) -> None:
        self._out, self._err = scratch / f"out-{live.name('r')}", scratch / f"err-{live.name('r')}"
        with open(self._out, "wb") as out, open(self._err, "wb") as err:
            command = [sys.executable, "-m", "kafkapy", "console-consumer", *on(live, *args)]
            self.process = subprocess.Popen(command, stdout=out, stderr=err)

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def said(self) -> str:
        return self._err.read_text()

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(ENOUGH_S)


@contextmanager
def running(live: LiveKafka, scratch: Path, *args: str) -> Iterator[Running]:
    started = Running(live, scratch, *args)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


@pytest.mark.pair
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("options", [("--max-messages", "7"), ("--timeout-ms", "6000"), ("--max-messages", "20")])
def test_commits_are_those_of_kafka(live: LiveKafka, tmp_path: Path, protocol: str, options: tuple[str, ...]) -> None:
    topic, groups = filled(live, partitions=1), (live.name("cg"), live.name("cg"))
    args = ("--topic", topic, "--from-beginning", *options, *protocol_of(protocol))
    with running(live, tmp_path, *args, "--group", groups[1]) as ours:  # both may have to wait for their time-out
        theirs = live.kafka("ConsoleConsumer", *on(live, *args, "--group", groups[0]))
        assert (theirs.code, theirs.out) == (ours.process.wait(ENOUGH_S), ours.out)
    first, second = (committed(live, group) for group in groups)
    assert first == second


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_goes_on_where_the_last_one_stopped(live: LiveKafka, protocol: str) -> None:
    topic, group = filled(live), live.name("cg")
    args = on(live, "--topic", topic, "--group", group, "--from-beginning", "--no-follow", *protocol_of(protocol))
    first = live.kafkapy("console-consumer", *args, "--max-messages", "25")
    rest = live.kafkapy("console-consumer", *args)
    again = live.kafkapy("console-consumer", *args)
    assert len(first.lines) == 25
    assert sorted(first.lines + rest.lines) == sorted(f"{p}-{n}" for p in range(3) for n in range(20))
    assert again.lines == []
    assert committed(live, group) == {(topic, partition): 20 for partition in range(3)}
    assert member_count(live, group) == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_kafka_goes_on_where_kafkapy_stopped_and_the_other_way(live: LiveKafka, protocol: str) -> None:
    topic, group = filled(live, partitions=1), live.name("cg")
    args = on(live, "--topic", topic, "--group", group, "--from-beginning", *protocol_of(protocol))
    first = live.kafkapy("console-consumer", *args, "--max-messages", "5")
    second = live.kafka("ConsoleConsumer", *args, "--max-messages", "5")
    third = live.kafkapy("console-consumer", *args, "--max-messages", "5")
    assert [*first.lines, *second.lines, *third.lines] == [f"0-{n}" for n in range(15)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_partitions_are_shared_with_members_of_kafka(live: LiveKafka, tmp_path: Path, protocol: str) -> None:
    topic, group = live.create_topic(partitions=4), live.name("cg")
    with running(live, tmp_path, "--topic", topic, "--group", group, *protocol_of(protocol)) as ours:
        live.until(lambda: member_count(live, group) == 1)
        with live.members(protocol, group, [topic]):  # type: ignore[arg-type]
            live.until(lambda: _shares(live, group) == [2, 2])
            for partition in range(4):
                live.produce(topic, [f"while both: {partition}"], partition)
            live.until(lambda: len(ours.lines) == 2)
        live.until(lambda: _shares(live, group) == [4])
        for partition in range(4):
            live.produce(topic, [f"alone: {partition}"], partition)
        live.until(lambda: len([line for line in ours.lines if line.startswith("alone")]) == 4)
        assert ours.end() == 130
    assert member_count(live, group) == 0


def _shares(live: LiveKafka, group: str) -> list[int]:
    """How many partitions each member has."""
    lines = live.kafka("ConsumerGroupCommand", *on(live, "--describe", "--group", group, "--members")).lines
    rows = [line.split() for line in lines if line.startswith(group)]
    return sorted(int(row[4]) for row in rows)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_is_stopped_commits_and_leaves(
    live: LiveKafka, tmp_path: Path, protocol: str, number: int, code: int
) -> None:
    topic, group = filled(live, partitions=2), live.name("cg")
    args = ("--topic", topic, "--group", group, "--from-beginning", *protocol_of(protocol))
    with running(live, tmp_path, *args) as ours:
        live.until(lambda: len(ours.lines) == 40)
        assert ours.end(number) == code
        assert ours.said == "Processed a total of 40 messages\n"
    assert member_count(live, group) == 0
    assert committed(live, group) == {(topic, 0): 20, (topic, 1): 20}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_two_processes_share_and_the_second_takes_over(live: LiveKafka, tmp_path: Path, protocol: str) -> None:
    topic, group = live.create_topic(partitions=4), live.name("cg")
    args = ("--topic", topic, "--group", group, "--from-beginning", *protocol_of(protocol))
    args = (*args, "--command-property", "heartbeat.interval.ms=500") if protocol == "classic" else args
    with running(live, tmp_path, *args) as first, running(live, tmp_path, *args) as second:
        live.until(lambda: _shares(live, group) == [2, 2])
        for partition in range(4):
            live.produce(topic, [f"{partition}-{n}" for n in range(10)], partition)
        live.until(lambda: len(first.lines) + len(second.lines) == 40)
        assert first.end() == 130
        for partition in range(4):
            live.produce(topic, [f"{partition}-{n}" for n in range(10, 20)], partition)
        live.until(lambda: len(first.lines) + len(second.lines) == 80)
        assert second.end() == 130
        read = first.lines + second.lines
    assert sorted(read) == sorted(f"{p}-{n}" for p in range(4) for n in range(20))
    assert committed(live, group) == {(topic, partition): 20 for partition in range(4)}


def test_a_member_is_kept_while_its_output_is_not_read(live: LiveKafka) -> None:
    """A member whose session is shorter than the time for which nobody reads its output."""
    topic, group = live.create_topic(), live.name("cg")
    live.produce(topic, ["x" * 5000] * 200)
    options = [f"{name}={ms}" for name, ms in (("session.timeout.ms", 6000), ("heartbeat.interval.ms", 500))]
    args = [part for each in options for part in ("--command-property", each)]
    command = ["console-consumer", *on(live, "--topic", topic, "--group", group, "--from-beginning", *args)]
    with subprocess.Popen(
        [sys.executable, "-m", "kafkapy", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        live.until(lambda: member_count(live, group) == 1)
        end = time.monotonic() + 8
        while time.monotonic() < end:
            assert member_count(live, group) == 1
            time.sleep(0.2)
        assert process.stdout is not None
        guard = threading.Timer(ENOUGH_S, process.kill)
        guard.start()
        assert {process.stdout.readline() for _ in range(200)} == {b"x" * 5000 + b"\n"}
        guard.cancel()
        process.send_signal(signal.SIGINT)
        assert process.wait(ENOUGH_S) == 130
    assert committed(live, group) == {(topic, 0): 200}


def test_failures_go_to_retry_topics_and_dead_letters(live: LiveKafka) -> None:
    topic, group = live.create_topic(), live.name("cg")
    live.produce(topic, ["good", "bad", "good"])
    args = on(live, "--topic", topic, "--group", group, "--from-beginning", "--no-follow")
    command = ["--exec", "grep -q good", "--retry-delays", "1s"]
    runs: list[str] = []

    def is_dead() -> bool:
        """Each run takes what is due; a slow one may still see its own failure come back."""
        done = live.kafkapy("console-consumer", *args, *command)
        assert done.code == 0, done.err
        runs.append(done.err)
        return f" to dead letters ({topic}.{group}.dead-letter)" in done.err

    live.until(is_dead)
    counts = [map(int, re.findall(r"(\d+) (?:done|to retry|to dead letters)", err)) for err in runs]
    assert [sum(each) for each in zip(*counts, strict=True)] == [2, 1, 1]
    letters = on(live, "--topic", f"{topic}.{group}.dead-letter", "--from-beginning", "--no-follow")
    dead = live.kafkapy("console-consumer", *letters)
    assert dead.out == "bad\n"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_in_one_process_tell_how_they_share(live: LiveKafka, protocol: str) -> None:
    topic, group = filled(live), live.name("cg")
    args = on(live, "--topic", topic, "--group", group, "--from-beginning", "--no-follow", *protocol_of(protocol))
    done = live.kafkapy("console-consumer", *args, "--members", "2", "--then", "join@10")
    assert done.code == 0
    assert sorted(done.lines) == sorted(f"{p}-{n}" for p in range(3) for n in range(20))
    assert re.search(rf"^group {group}, (generation|epoch) \d+ \(\w+\): member 3 joined$", done.err, re.MULTILINE)
    assert member_count(live, group) == 0


def test_a_cooperative_group_keeps_what_it_has(live: LiveKafka) -> None:
    topic, group = filled(live), live.name("cg")
    assignor = ("--command-property", "partition.assignment.strategy=cooperative-sticky")
    args = on(live, "--topic", topic, "--group", group, "--from-beginning", "--no-follow", *assignor)
    done = live.kafkapy("console-consumer", *args, "--members", "2", "--then", "join@10")
    assert sorted(done.lines) == sorted(f"{p}-{n}" for p in range(3) for n in range(20))
    assert len(done.lines) == len(set(done.lines))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_static_members_stay_when_they_stop(live: LiveKafka, protocol: str) -> None:
    topic, group = filled(live), live.name("cg")
    static = ("--command-property", "group.instance.id=box")
    args = on(live, "--topic", topic, "--group", group, "--from-beginning", "--no-follow", *protocol_of(protocol))
    first = live.kafkapy("console-consumer", *args, *static, "--max-messages", "10")
    second = live.kafkapy("console-consumer", *args, *static)
    assert len(first.lines) == 10
    assert sorted(first.lines + second.lines) == sorted(f"{p}-{n}" for p in range(3) for n in range(20))


def test_a_topic_that_is_deleted_meanwhile_is_left_out(live: LiveKafka, tmp_path: Path) -> None:
    """It is noticed by who fetches, or by who commits, whatever comes first."""
    topic, other = filled(live), filled(live, partitions=1)
    groups = {live.name("cg"): each for each in itertools.product(PROTOCOLS, (300, 5_000, 60_000))}
    with ExitStack() as stack:
        readers = {}
        for group, (protocol, interval_ms) in groups.items():
            options = (*protocol_of(protocol), "--command-property", f"auto.commit.interval.ms={interval_ms}")
            args = ("--include", f"{topic}|{other}", "--group", group, "--from-beginning", *options)
            readers[group] = stack.enter_context(running(live, tmp_path, *args))
        live.until(lambda: all(len(ours.lines) == 80 for ours in readers.values()))
        live.delete_topics(topic)
        for group, ours in readers.items():
            live.until(lambda: "is read no further" in ours.said or _shares(live, group) == [1])  # noqa: B023
        live.produce(other, ["still there"])
        for ours in readers.values():
            live.until(lambda: "still there" in ours.lines)  # noqa: B023
            assert ours.end() == 130


def test_no_offset_and_no_reset_is_an_error(live: LiveKafka) -> None:
    topic, group = filled(live, partitions=1), live.name("cg")
    options = ("--command-property", "auto.offset.reset=none")
    done = live.kafkapy("console-consumer", *on(live, "--topic", topic, "--group", group, *options))
    assert done.code == 1
    assert f"Undefined offset with no reset policy for partitions: [{topic}-0]" in done.err
    assert member_count(live, group) == 0
