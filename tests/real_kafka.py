"""Real Kafka brokers on a cluster directory: started, asked by Kafka's own tools, and stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.directory_format import HOST, broker_properties, ports
from tests.free_ports import free_base_port
from tests.hosted_broker import HostedBroker
from tests.tool_server import shared_tools

START_S = 180
STOP_S = 60
TOOL_S = 120.0
# Retention would take records that are older than a week, 30 s after a start: tests have such, and some take longer.
_NO_RETENTION = ("log.initial.task.delay.ms=86400000", "log.retention.check.interval.ms=86400000")
# An internal topic that brokers have to make has 50 partitions otherwise, which all are loaded; and a cleaner takes
# 128 MB.
_SMALL = (
    "offsets.topic.num.partitions=4",
    "transaction.state.log.num.partitions=4",
    "log.cleaner.dedupe.buffer.size=4194304",
)


def _is_in_sync(line: str) -> bool:
    """Whether a partition's line of TopicCommand has a leader and all replicas in the ISR."""
    fields = dict(part.partition(": ")[::2] for part in line.strip().split("\t"))
    return fields["Leader"] != "none" and sorted(fields["Replicas"].split(",")) == sorted(fields["Isr"].split(","))


class Broker(Protocol):
    """What a cluster needs of a broker, in the words of ``subprocess.Popen``."""

    def poll(self) -> int | None: ...
    def terminate(self) -> None: ...
    def wait(self, timeout: float) -> int: ...


class RealCluster:
    """All brokers of a cluster directory, while the context lasts."""

    def __init__(self, directory: Path, scratch: Path, properties: Sequence[str] = ()) -> None:
        """``properties`` are more lines for every broker's server.properties."""
        self._properties = properties
        self._directory = directory
        self._scratch = scratch
        self._cluster = read_cluster_file(str(directory))
        self._base_port = free_base_port(2 * len(self._cluster.brokers))
        self._brokers: dict[int, Broker] = {}

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self._base_port}"

    @property
    def running(self) -> list[int]:
        """The ids of the brokers that were started and not stopped."""
        return sorted(self._brokers)

    def address(self, broker_id: int) -> str:
        return f"{HOST}:{ports(broker_id, self._base_port)[0]}"

    def controller_address(self, broker_id: int) -> str:
        return f"{HOST}:{ports(broker_id, self._base_port)[1]}"

    def properties_file(self, broker_id: int) -> Path:
        """The server.properties that a broker was started with."""
        return self._scratch / f"server-{broker_id}.properties"

    def __enter__(self) -> RealCluster:
        for broker in self._cluster.brokers:
            self.start(broker.id)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all of them in good order."""
        for broker in self._brokers.values():
            broker.terminate()
        for broker_id in self.running:
            self._wait_for_end(broker_id)

    def start(self, broker_id: int) -> None:
        """Start a broker that does not run."""
        path = self.properties_file(broker_id)
        lines = broker_properties(str(self._directory), self._cluster, broker_id, self._base_port)
        path.write_text("\n".join([*lines, *_NO_RETENTION, *_SMALL, *self._properties]) + "\n")
        self._brokers[broker_id] = self._launched(path, self._scratch / f"broker-{broker_id}.out")

    def stop(self, broker_id: int) -> None:
        """Let a broker hand over what it leads, and end."""
        self._brokers[broker_id].terminate()
        self._wait_for_end(broker_id)

    def _wait_for_end(self, broker_id: int) -> None:
        self._brokers[broker_id].wait(STOP_S)
        del self._brokers[broker_id]

    def _launched(self, properties: Path, log: Path) -> Broker:
        return HostedBroker(properties, log)

    def outputs(self) -> str:
        """The end of what each broker printed."""
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in self._scratch.glob("broker-*.out"))

    def has_crashed(self) -> bool:
        """Whether a broker ended that was not stopped."""
        return any(broker.poll() is not None for broker in self._brokers.values())

    def tool(self, name: str, *args: str, lines: str | None = None) -> str:
        """What one of Kafka's tools prints about this cluster."""
        done = shared_tools().run(name, ("--bootstrap-server", self.bootstrap, *args), lines, TOOL_S)
        assert not done.timed_out, (name, args)
        return done.out

    def wait_until_in_sync(self, partitions: int) -> str:
        """TopicCommand's description, once there are that many partitions and each has a leader and a full ISR."""
        deadline = time.monotonic() + START_S
        while True:
            described = self.tool("TopicCommand", "--describe")
            states = [_is_in_sync(line) for line in described.splitlines() if line.startswith("\t")]
            if len(states) >= partitions and all(states):
                return described
            if time.monotonic() > deadline or self.has_crashed():
                raise AssertionError(f"the brokers did not come up:\n{described}\n{self.outputs()}")
            time.sleep(0.2)
