"""Real Kafka brokers on a cluster directory: started, asked by Kafka's own tools, and stopped by their process ids."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.directory_format import broker_properties
from tests.kafka_jars import kafka_libs

START_S = 90
STOP_S = 60


def free_base_port(count: int) -> int:
    """The first of ``count`` ports in a row that nobody listens on."""
    for base in range(31000, 60000, 50):
        try:
            for port in range(base, base + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise RuntimeError("no free ports")


def _is_in_sync(line: str) -> bool:
    """Whether a partition's line of TopicCommand has a leader and all replicas in the ISR."""
    fields = dict(part.partition(": ")[::2] for part in line.strip().split("\t"))
    return fields["Leader"] != "none" and sorted(fields["Replicas"].split(",")) == sorted(fields["Isr"].split(","))


class RealCluster:
    """All brokers of a cluster directory, while the context lasts."""

    def __init__(self, directory: Path, scratch: Path, properties: Sequence[str] = ()) -> None:
        """``properties`` are more lines for every broker's server.properties."""
        self._properties = properties
        self._directory = directory
        self._scratch = scratch
        self._cluster = read_cluster_file(str(directory))
        self._base_port = free_base_port(2 * len(self._cluster.brokers))
        self._libs = kafka_libs()
        self._brokers: list[subprocess.Popen[bytes]] = []

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self._base_port}"

    def __enter__(self) -> RealCluster:
        for broker in self._cluster.brokers:
            path = self._scratch / f"server-{broker.id}.properties"
            lines = broker_properties(str(self._directory), self._cluster, broker.id, self._base_port)
            path.write_text("\n".join([*lines, *self._properties]) + "\n")
            log = (self._scratch / f"broker-{broker.id}.out").open("ab")
            with log:
                self._brokers.append(
                    subprocess.Popen(self._java("-Xmx256M", "kafka.Kafka", str(path)), stdout=log, stderr=log)
                )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for broker in self._brokers:
            broker.terminate()
        for broker in self._brokers:
            try:
                broker.wait(STOP_S)
            except subprocess.TimeoutExpired:
                broker.kill()
                broker.wait()
        self._brokers.clear()

    def tool(self, name: str, *args: str, lines: str | None = None) -> str:
        """What one of Kafka's tools prints about this cluster."""
        done = subprocess.run(
            self._java("-Xmx256M", f"org.apache.kafka.tools.{name}", "--bootstrap-server", self.bootstrap, *args),
            input=lines, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.stdout

    def wait_until_in_sync(self, partitions: int) -> str:
        """TopicCommand's description, once there are that many partitions and each has a leader and a full ISR."""
        deadline = time.monotonic() + START_S
        while True:
            described = self.tool("TopicCommand", "--describe")
            states = [_is_in_sync(line) for line in described.splitlines() if line.startswith("\t")]
            if len(states) >= partitions and all(states):
                return described
            if time.monotonic() > deadline or any(broker.poll() is not None for broker in self._brokers):
                outputs = [path.read_text(errors="replace")[-2000:] for path in self._scratch.glob("broker-*.out")]
                raise AssertionError(f"the brokers did not come up:\n{described}\n" + "\n".join(outputs))
            time.sleep(0.5)

    def _java(self, *args: str) -> list[str]:
        java = shutil.which("java")
        assert java is not None
        return [java, args[0], "-cp", f"{self._libs}/*", *args[1:]]
