"""A running cluster of three real Kafka 4.3.1 brokers, each a controller too, for the tests of ``--bootstrap-server``.

It is as one that was just formatted, on which Kafka's tools and kafkapy run side by side. The brokers have racks, two
log dirs each and an authorizer that lets everybody do everything; internal topics are small, and nothing changes by
itself: leaders stay where they are, and no log is cleaned or deleted by age.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType

from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from tests.broker_processes import BrokerProcesses
from tests.in_process import run_kafkapy
from tests.kafka_jars import kafka_libs
from tests.live_clients import GroupKind, LiveClients, Members, OpenTransaction, Seen, Sent
from tests.real_kafka import RealCluster
from tests.tool_server import TIMEOUT_S, ToolRun, shared_tools

BROKERS = (1, 2, 3)
RACKS = ("a", "b", "c")
SETTLE_S = 180.0
_QUICK_GROUPS = tuple(
    f"group.{kind}.{setting}"
    for kind in ("consumer", "share", "streams")
    for setting in (
        "min.heartbeat.interval.ms=200",
        "heartbeat.interval.ms=200",
        "assignment.interval.ms=0",
    )
)
PROPERTIES = (
    *_QUICK_GROUPS,
    "group.streams.initial.rebalance.delay.ms=0",
    "share.coordinator.state.topic.num.partitions=4",
    "group.initial.rebalance.delay.ms=0",
    "auto.leader.rebalance.enable=false",
    "log.cleaner.backoff.ms=86400000",
    "broker.session.timeout.ms=6000",
    "broker.heartbeat.interval.ms=500",
    "num.network.threads=2",
    "num.io.threads=4",
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
)


class LiveKafka:
    """The cluster, while the context lasts."""

    def __init__(
        self,
        scratch: Path,
        properties: Sequence[str] = (),
        release: str | None = None,
        brokers: type[RealCluster] = RealCluster,
    ) -> None:
        """``properties`` are more lines for every broker's server.properties; ``release`` is the one whose features
        the cluster begins with, by default the newest. Only brokers that are processes can be killed."""
        kafka_libs()
        self.directory = scratch / "cluster"
        make_cluster(str(self.directory), len(BROKERS), RACKS, release, files=Files(sync=False), log_dirs_per_broker=2)
        self._brokers = brokers(self.directory, scratch, [*PROPERTIES, *properties])
        self.clients = LiveClients(self.bootstrap, scratch / "clients.err")
        self._numbers = itertools.count(1)

    def __enter__(self) -> LiveKafka:
        self._brokers.__enter__()
        try:
            self.wait_until_in_sync()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything: nobody needs the data any more."""
        self.clients.close()
        if isinstance(self._brokers, BrokerProcesses):
            for broker_id in self.running:
                self._brokers.kill(broker_id)
        self._brokers.close()

    # The cluster

    @property
    def bootstrap(self) -> str:
        """All brokers, as the value of --bootstrap-server; those that do not run too."""
        return ",".join(map(self._brokers.address, BROKERS))

    @property
    def controllers(self) -> str:
        """All controllers, as the value of --bootstrap-controller."""
        return ",".join(map(self._brokers.controller_address, BROKERS))

    def address(self, broker_id: int) -> str:
        """One broker's host and port."""
        return self._brokers.address(broker_id)

    def properties_file(self, broker_id: int) -> Path:
        """The server.properties of a broker, who is a controller too."""
        return self._brokers.properties_file(broker_id)

    @property
    def running(self) -> list[int]:
        """The ids of the brokers that run."""
        return self._brokers.running

    def stop_broker(self, broker_id: int) -> None:
        """Stop a broker in good order, and wait until the others have settled."""
        self._brokers.stop(broker_id)
        self.wait_until_in_sync()

    def kill_broker(self, broker_id: int, wait: bool = True) -> None:
        """Kill a broker; the others need some seconds to notice."""
        assert isinstance(self._brokers, BrokerProcesses)
        self._brokers.kill(broker_id)
        if wait:
            self.wait_until_in_sync()

    @contextmanager
    def hanging_broker(self, broker_id: int) -> Iterator[None]:
        """A broker that takes connections and answers nothing, until the end of the block."""
        assert isinstance(self._brokers, BrokerProcesses)
        self._brokers.pause(broker_id)
        try:
            yield
        finally:
            self._brokers.resume(broker_id)
        self.wait_until_in_sync()

    def start_broker(self, broker_id: int, elect: bool = True, wait: bool = True) -> None:
        """Start a broker that does not run, wait until it is in sync, and give it back the partitions it preferably
        leads. Without ``wait`` it is only started."""
        self._brokers.start(broker_id)
        if not wait:
            return
        self.wait_until_in_sync()
        if elect:
            self.elect_preferred_leaders()

    def start_all(self) -> None:
        """Start whatever does not run, and have the preferred leaders lead."""
        for broker_id in set(BROKERS) - set(self.running):
            self._brokers.start(broker_id)
        self.wait_until_in_sync()
        self.elect_preferred_leaders()

    def elect_preferred_leaders(self) -> None:
        self.clients.ask("elect")
        self.wait_until_in_sync()

    def wait_until_in_sync(self) -> list[Seen]:
        """All partitions, once the running brokers agree on them: each has a leader, and every replica on a running
        broker is in sync. A partition none of whose in-sync replicas run may be without a leader."""
        addresses = {broker_id: self.address(broker_id) for broker_id in self.running}
        try:
            return self.clients.wait_until_settled(addresses, SETTLE_S)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._brokers.outputs()}") from None

    def seen(self, topic: str) -> list[list[Seen]]:
        """The topic's partitions as each running broker sees them."""
        views = self.clients.ask("views", addresses=[self.address(broker_id) for broker_id in self.running])["views"]
        return [[Seen(**each) for each in view or () if each["topic"] == topic] for view in views]

    # Commands

    def kafka(self, tool: str, *args: str, stdin: str | None = None, timeout_s: float = TIMEOUT_S) -> ToolRun:
        """Run a tool of Kafka's with exactly these arguments. A tool that takes longer than the time-out is ended, and
        its ``code`` is None. One that got no answer in its own time, on a machine that is too busy, is run again."""
        done = shared_tools().run(tool, args, stdin, timeout_s)
        if done.code and "TimeoutException" in done.out + done.err:
            done = shared_tools().run(tool, args, stdin, timeout_s)
        return done

    def kafkapy(self, *args: str | Path, stdin: str | None = None, timeout_s: float = TIMEOUT_S) -> ToolRun:
        """Run ``kafkapy`` with exactly these arguments, in this process."""
        return run_kafkapy([str(arg) for arg in args], stdin, timeout_s)

    def side_by_side(self, kafka: Sequence[str], kafkapy: Sequence[str]) -> tuple[ToolRun, ToolRun]:
        """Run a tool of Kafka's, and kafkapy in a process of its own at the same time: for what has to wait."""
        with TemporaryFile() as out, TemporaryFile() as err:
            command = [sys.executable, "-m", "kafkapy", *kafkapy]
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err) as ours:
                try:
                    theirs = self.kafka(*kafka)
                    code = ours.wait(TIMEOUT_S)
                finally:
                    ours.kill()
            out.seek(0)
            err.seek(0)
            return theirs, ToolRun(code, out.read().decode(), err.read().decode())

    # State

    def name(self, prefix: str = "t") -> str:
        """A name that was not used before."""
        return f"{prefix}-{next(self._numbers)}"

    def create_topic(
        self,
        topic: str | None = None,
        partitions: int = 1,
        replicas: int = 1,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic, and wait until every broker knows it. ``assignment`` has the replicas of each partition."""
        topic = topic or self.name()
        self.clients.create_topic(topic, partitions, replicas, assignment, configs or {})
        count = partitions if assignment is None else len(assignment)
        self.until(lambda: sum(each.topic == topic for each in self.wait_until_in_sync()) == count)
        return topic

    def delete_topics(self, *topics: str) -> None:
        """Delete topics, and wait until no broker knows them."""
        self.clients.ask("delete", topics=list(topics))
        self.until(lambda: all(each.topic not in topics for each in self.wait_until_in_sync()))

    def produce(
        self, topic: str, values: Iterable[str | None], partition: int | None = 0, key: str | None = None
    ) -> list[tuple[int, int]]:
        """Send values to a partition (None: where the key says) and wait; the partition and the offset of each."""
        return self.clients.produce(Sent(topic, value, key, partition) for value in values)

    def send(self, *records: Sent) -> list[tuple[int, int]]:
        """Send records that have timestamps, headers or null values."""
        return self.clients.produce(records)

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets, by partition, for a group without members; it is made if it is not there."""
        committed = [[topic, partition, offset] for partition, offset in offsets.items()]
        self.clients.ask("commit", group=group, offsets=committed)

    def members(
        self,
        kind: GroupKind,
        group: str,
        topics: Sequence[str],
        members: int = 1,
        *,
        commit: bool = False,
        properties: Mapping[str, str] | None = None,
        changelogs: Sequence[str] = (),
    ) -> Members:
        """Members that live until they are stopped; the group is stable when this returns.

        Their client ids are GROUP-0, GROUP-1 ...; in the values of ``properties`` (of the Java consumer) ``{n}`` is the
        number. Classic and consumer members read from the earliest offset, and commit if ``commit`` is set. Streams
        members have state in stores, for which the brokers make the ``changelogs``.
        """
        answer = self.clients.ask(
            "members", kind=kind, group=group, topics=list(topics), members=members, commit=commit,
            properties=dict(properties or {}), changelogs=list(changelogs),
        )  # fmt: skip
        return Members(self.clients, answer["client"])

    def begin_transaction(
        self, transactional_id: str, *records: Sent, properties: Mapping[str, str] | None = None
    ) -> OpenTransaction:
        """A transaction that has these records, which have been written, and stays open."""
        answer = self.clients.ask(
            "begin",
            id=transactional_id,
            records=[asdict(record) for record in records],
            properties=dict(properties or {}),
        )
        written = [(partition, offset) for partition, offset in answer["written"]]
        return OpenTransaction(self.clients, answer["client"], written)

    def until(self, holds: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
        """Wait until something holds, for what brokers do by and by."""
        deadline = time.monotonic() + timeout_s
        while not holds():
            assert time.monotonic() < deadline, "did not come to hold"
            time.sleep(0.1)
