"""A real broker on what kafkapy's commands wrote about groups and transactions, and the commands on what it left.

kafkapy consumes with members of both protocols that come, go and stay, runs a command that fails for some records,
resets and deletes offsets, and produces in transactions that are committed, aborted and left open. Kafka 4.3.1's own
tools then print the same groups, members, offsets, lag and transactional ids as kafkapy did before the broker was
started, and its consumers go on with every group: what both printed together is each record once. What the real clients
commit is, to the leader epoch, what kafkapy's commits where it reads the same. When the broker has stopped, kafkapy
prints what Kafka's tools did just before, and goes on with the groups of the real clients.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.conftest import ROOT
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

KAFKAPY = (sys.executable, "-m", "kafkapy")
WAIT_S = 60
COORDINATOR = re.compile(r" 127\.0\.0\.1:\d+ +\(1\) |\t(1|none) *\t")
IN_TIME = (
    "group.initial.rebalance.delay.ms=0",
    "group.consumer.max.session.timeout.ms=600000",
    "group.consumer.session.timeout.ms=600000",
)
PROTOCOLS = ("classic", "consumer")
FROM_BEGINNING = ("--from-beginning",)
KEYED = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
CONSOLE = "consumer.ConsoleConsumer"
TOOLS = {
    "consumer-groups": "consumer.group.ConsumerGroupCommand",
    "groups": "GroupsCommand",
    "transactions": "TransactionsCommand",
}
SHOWN = (
    "consumer-groups --list --state --type",
    "consumer-groups --describe --all-groups",
    "consumer-groups --describe --all-groups --members --verbose",
    "consumer-groups --describe --all-groups --state",
    "groups --list",
    "transactions list",
)
READERS = {
    # the group, what kafkapy is told about it, and the protocol of the real consumer that goes on
    "partly": (("--max-messages", "11"), "classic"),
    "partly-modern": (("--max-messages", "11", "group.protocol=consumer"), "consumer"),
    "upgraded": (("--max-messages", "14", "--members", "2", "--then", "join@5", "--then", "leave:1@8"), "consumer"),
    "downgraded": (
        ("--max-messages", "14", "--members", "2", "--then", "leave:2@6", "group.protocol=consumer"),
        "classic",
    ),
    "sticky": (("--max-messages", "9", "partition.assignment.strategy=cooperative-sticky"), "classic"),
    "static": (("--max-messages", "9", "group.instance.id=box-7", "session.timeout.ms=300000"), "classic"),
    "static-modern": (("--max-messages", "9", "group.instance.id=box-7", "group.protocol=consumer"), "consumer"),
}
STOPS = (("single", 3), ("single", 5), ("single", 10), ("marked", 3), ("marked", 6))
"""When a run is ended: in a batch, between batches, at the end; before a marker, with and without more behind it."""

Shown = dict[str, list[list[str]]]
"""The lines of each of the cases, by their columns."""
Commits = dict[tuple[str, int], tuple[int, int]]
"""Offset and leader epoch of the last commit, by topic and partition."""


def configs(options: Sequence[str]) -> list[str]:
    """``options`` with every name=value as a consumer config."""
    return [part for each in options for part in (["--command-property", each] if "=" in each else [each])]


class Kafkapy:
    """The commands, each a process of its own, on one cluster directory."""

    def __init__(self, directory: Path) -> None:
        self.env = {**os.environ, "KAFKAPY_CLUSTER": str(directory)}

    def __call__(self, command: str, *args: str, lines: Sequence[str] = ()) -> str:
        """What the command prints; it has to succeed."""
        done = subprocess.run(
            [*KAFKAPY, *command.split(), *args], input="".join(f"{line}\n" for line in lines), cwd=ROOT, env=self.env,
            capture_output=True, text=True, timeout=WAIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, args, done.stderr)
        return done.stdout

    def consume(self, topic: str, group_id: str, *options: str) -> list[str]:
        return self("console-consumer", "--topic", topic, "--group", group_id, *configs(options)).splitlines()

    def commits(self) -> dict[str, Commits]:
        """The last commits of all groups that have some."""
        found: dict[str, Commits] = {}
        for line in map(json.loads, self("consumer-offsets").splitlines()):
            key, value = line["key"]["data"], line["value"] and line["value"]["data"]
            if value is not None:
                where = found.setdefault(key["group"], {})
                where[key["topic"], key["partition"]] = (value["offset"], value["leaderEpoch"])
        return found


class KafkaTools:
    """Kafka's tools against a running cluster, all in one JVM."""

    def __init__(self, real: RealCluster) -> None:
        self._real = real
        self._process = subprocess.Popen(
            [*kafka_java("GroupToolsMany")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> KafkaTools:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def __call__(self, name: str, *args: str) -> str:
        """What a tool prints."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        where = ("--bootstrap-server", self._real.bootstrap)
        self._process.stdin.write("\t".join((f"org.apache.kafka.tools.{name}", *where, *args)) + "\n")
        self._process.stdin.flush()
        return base64.b64decode(self._process.stdout.readline().split(",")[0]).decode()

    def consume(self, topic: str, group_id: str, protocol: str, *options: str) -> list[str]:
        given = configs((*options, f"group.protocol={protocol}"))
        return self(CONSOLE, "--topic", topic, "--group", group_id, *given).splitlines()

    def wait_for(self, partitions: int) -> None:
        deadline = time.monotonic() + WAIT_S
        while (found := self("TopicCommand", "--describe")).count("\tTopic: ") < partitions or "Leader: none" in found:
            assert time.monotonic() < deadline, found
            time.sleep(0.2)


def rows(printed: str) -> list[list[str]]:
    """The lines that have something, by their columns, in one order, whoever coordinates: a broker has a port of its
    own, and leads nothing any more once it has stopped."""
    lines = (COORDINATOR.sub(" - ", line) for line in printed.splitlines())
    return sorted(line.split() for line in lines if line.strip())


def shown(run: Kafkapy) -> Shown:
    return {case: rows(run(case)) for case in SHOWN}


def shown_by_kafka(tools: KafkaTools) -> Shown:
    return {case: rows(tools(TOOLS[case.split()[0]], *case.split()[1:])) for case in SHOWN}


def differences_once_loaded(ours: Shown, tools: KafkaTools) -> list[str]:
    """Those that are left when the coordinators have read all groups; before that, the tools are told of none."""
    deadline = time.monotonic() + WAIT_S
    while (found := differences(ours, shown_by_kafka(tools))) and time.monotonic() < deadline:
        time.sleep(1)
    return found


def differences(ours: Shown, kafkas: Shown) -> list[str]:
    """The lines that only one of the two printed."""
    found = []
    for case in SHOWN:
        mine, theirs = (Counter(map(" ".join, each[case])) for each in (ours, kafkas))
        found += [f"{case}: only kafkapy: {line}" for line in mine - theirs]
        found += [f"{case}: only Kafka: {line}" for line in theirs - mine]
    return found


def numbered(prefix: str, first: int, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(first, first + count)]


def keyed(values: Sequence[str]) -> list[str]:
    return [f"{value}:{value}" for value in values]


def make(directory: Path) -> Kafkapy:
    """The topics and what is in them."""
    run = Kafkapy(directory)
    run("storage format --brokers 1 --cluster", str(directory))
    for topic, partitions in {"orders": 3, "payments": 2, "jobs": 2, "single": 1, "marked": 1, "parked": 1}.items():
        run("topics --create", "--topic", topic, "--partitions", str(partitions))
    for first in (0, 15):
        run("console-producer --topic orders", *KEYED, lines=keyed(numbered("o", first, 15)))
    run("console-producer --topic jobs", *KEYED, lines=keyed(numbered("good", 0, 6) + numbered("bad", 0, 4)))
    for first in (0, 5):
        run("console-producer --topic single", lines=numbered("s", first, 5))
    in_transactions(run, "marker", "marked", 3, 0, numbered("m", 0, 6))
    in_transactions(run, "pay", "payments", 5, 3, numbered("p", 0, 30))
    in_transactions(run, "void", "payments", 4, 1, numbered("v", 0, 4))
    run("console-producer --topic payments", *KEYED, lines=keyed(numbered("plain", 0, 5)))
    return run


def in_transactions(run: Kafkapy, name: str, topic: str, size: int, abort_every: int, values: Sequence[str]) -> None:
    how = ("--transaction-size", str(size), "--abort-every", str(abort_every))
    run("console-producer", "--topic", topic, "--transactional-id", name, *how, *KEYED, lines=keyed(values))


def die_in_a_transaction(run: Kafkapy, name: str) -> None:
    """A producer that is killed before it commits."""
    command = [*KAFKAPY, "console-producer", "--topic", "parked", "--sync", "--transactional-id", name]
    process = subprocess.Popen(command, cwd=ROOT, env=run.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(b"left\n")
    process.stdin.flush()
    deadline = time.monotonic() + WAIT_S
    while [name, "Ongoing"] not in [[row[0], row[-1]] for row in rows(run("transactions list"))]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()


def use_groups(run: Kafkapy) -> dict[str, list[str]]:
    """What kafkapy's members printed, by group."""
    read = {
        group_id: run.consume("orders", group_id, *FROM_BEGINNING, *options)
        for group_id, (options, _) in READERS.items()
    }
    run.consume("orders", "latest")
    run.consume("orders", "uncommitted", *FROM_BEGINNING, "enable.auto.commit=false")
    for protocol in PROTOCOLS:
        run.consume("orders", f"done-{protocol}", *FROM_BEGINNING, f"group.protocol={protocol}")
        run.consume("orders", f"deleted-{protocol}", *FROM_BEGINNING, f"group.protocol={protocol}")
        run.consume("orders", f"reset-{protocol}", *FROM_BEGINNING, f"group.protocol={protocol}")
        change = ("consumer-groups", "--group", f"reset-{protocol}")
        run(*change, "--reset-offsets", "--topic", "orders:1,2", "--to-offset", "2", "--execute")
        run(*change, "--delete-offsets", "--topic", "orders:0")
    run("consumer-groups --delete --group deleted-classic --group deleted-consumer")
    run("consumer-groups --reset-offsets --group copied --to-group partly --execute")
    command = ("--exec", 'read value; case "$value" in bad*) exit 3;; esac')
    run.consume("jobs", "worker", *FROM_BEGINNING, *command, "--retry-delays", "1ms,1h")
    run.consume("jobs", "strict", *FROM_BEGINNING, *command)
    committed = (*FROM_BEGINNING, "--isolation-level", "read_committed", "--max-messages", "7")
    read |= {f"paid-{each}": run.consume("payments", f"paid-{each}", *committed) for each in PROTOCOLS}
    return read


def stop_everywhere(run: Kafkapy) -> None:
    for topic, count in STOPS:
        for protocol in PROTOCOLS:
            options = (*FROM_BEGINNING, "--max-messages", str(count), f"group.protocol={protocol}")
            assert len(run.consume(topic, f"{topic}-{count}-{protocol}", *options)) == count


def stop_everywhere_in_kafka(tools: KafkaTools) -> None:
    for topic, count in STOPS:
        for protocol in PROTOCOLS:
            options = (*FROM_BEGINNING, "--max-messages", str(count))
            assert len(tools.consume(topic, f"real-{topic}-{count}-{protocol}", protocol, *options)) == count


def go_on_in_kafka(tools: KafkaTools, read: dict[str, list[str]], committed: Sequence[str]) -> None:
    """Real consumers get what kafkapy's have not had: all of that, and once."""
    orders = Counter(numbered("o", 0, 30))
    for group_id, (options, protocol) in READERS.items():
        left = orders - Counter(read[group_id])
        static = [each for each in options if each.startswith(("group.instance.id", "session."))]
        found = tools.consume("orders", group_id, protocol, "--max-messages", str(left.total()), *static)
        assert Counter(found) == left, group_id
    for protocol in PROTOCOLS:
        left = Counter(committed) - Counter(read[f"paid-{protocol}"])
        how = ("--isolation-level", "read_committed", "--max-messages", str(left.total()))
        assert Counter(tools.consume("payments", f"paid-{protocol}", protocol, *how)) == left
    described = rows(tools(TOOLS["consumer-groups"], "--describe", "--all-groups"))
    continued = {*READERS, *(f"paid-{protocol}" for protocol in PROTOCOLS)}
    assert {(row[0], row[5]) for row in described if row[0] in continued} == {(each, "0") for each in continued}
    worked = tools.consume("jobs.worker.retry.1h", "looks", "classic", *FROM_BEGINNING, "--max-messages", "4")
    dead = tools.consume("jobs.strict.dead-letter", "looks", "classic", *FROM_BEGINNING, "--max-messages", "4")
    assert sorted(worked) == sorted(dead) == numbered("bad", 0, 4)


def test_real_kafka_goes_on_with_what_the_commands_wrote_and_back(tmp_path: Path) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    run = make(directory)
    die_in_a_transaction(run, "open")
    die_in_a_transaction(run, "terminated")
    run("transactions forceTerminateTransaction --transactionalId terminated")
    read = use_groups(run)
    stop_everywhere(run)
    committed = run("console-consumer --topic payments --from-beginning --isolation-level read_committed").splitlines()
    assert Counter(committed) == Counter(numbered("p", 0, 10) + numbered("p", 15, 10) + numbered("plain", 0, 5))
    before = shown(run)
    partitions = run("topics --describe").count("\tTopic: ")

    with RealCluster(directory, tmp_path, IN_TIME) as real, KafkaTools(real) as tools:
        tools.wait_for(partitions)
        assert differences_once_loaded(before, tools) == []
        everything = (*FROM_BEGINNING, "--isolation-level", "read_committed", "--timeout-ms", "60000")
        count = str(len(committed))
        served = tools(CONSOLE, "--topic", "payments", *everything, "--max-messages", count).splitlines()
        assert Counter(served) == Counter(committed)
        go_on_in_kafka(tools, read, committed)
        stop_everywhere_in_kafka(tools)

        more = os.linesep.join(keyed(numbered("o", 30, 12)))
        real.tool("ConsoleProducer", "--topic", "orders", *KEYED, lines=more)
        own = {
            protocol: tools.consume("orders", f"own-{protocol}", protocol, *FROM_BEGINNING, "--max-messages", "17")
            for protocol in PROTOCOLS
        }
        tools("TransactionsCommand", "forceTerminateTransaction", "--transactionalId", "open")
        groups = TOOLS["consumer-groups"]
        tools(groups, "--reset-offsets", "--group", "sticky", "--all-topics", "--to-earliest", "--execute")
        tools(groups, "--delete", "--group", "copied")
        printed = shown_by_kafka(tools)

    assert differences(shown(run), printed) == []
    names = [f"{topic}-{count}-{protocol}" for topic, count in STOPS for protocol in PROTOCOLS]
    commits = run.commits()
    assert {name: commits[name] for name in names} == {name: commits[f"real-{name}"] for name in names}
    orders = Counter(numbered("o", 0, 42))
    for protocol, found in own.items():
        assert Counter(run.consume("orders", f"own-{protocol}", f"group.protocol={protocol}")) == orders - Counter(
            found
        )
        assert run.consume("orders", f"own-{protocol}", f"group.protocol={protocol}") == []
