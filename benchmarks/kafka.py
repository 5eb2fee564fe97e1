"""Apache Kafka for the benchmarks: its dump tool as a command line, and a broker that lives as long as a ``with``.

The broker is a single combined KRaft node on 127.0.0.1 with ports that are free when it starts. All it writes is below
one directory that the caller owns, so removing that directory removes every trace, also after a crash.
"""

from __future__ import annotations

import base64
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TOPIC_CONFIGS = ("segment.bytes=1073741824", "retention.ms=-1", "retention.bytes=-1")
STOP_TIMEOUT_S = 120

_SERVER_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={log_dir}
offsets.topic.replication.factor=1
"""


class BenchmarkError(Exception):
    """The run cannot go on; the text says why."""


@dataclass(frozen=True)
class Kafka:
    """Kafka's tools in the jars of one directory."""

    libs: Path

    def java(self, tool: str, *args: str) -> list[str]:
        """The command line of a tool; the heap is what Kafka's own scripts give to tools."""
        return ["java", "-Xmx256M", "-cp", f"{self.libs}/*", tool, *args]

    def dump_log(self, *args: str) -> list[str]:
        """The command line of kafka-dump-log.sh."""
        return self.java("org.apache.kafka.tools.DumpLogSegments", *args)

    def run(self, tool: str, *args: str) -> None:
        """Run a tool to its end."""
        done = subprocess.run(
            self.java(tool, *args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode != 0:
            raise BenchmarkError(f"{tool} failed with exit code {done.returncode}: {done.stdout.strip()[-500:]}")


@contextmanager
def running_broker(kafka: Kafka, directory: Path) -> Iterator[tuple[str, Path]]:
    """A broker below ``directory``: its address and its log dir. It is stopped, cleanly if it can be, at the end."""
    log_dir = directory / "log-dir"
    broker, controller = _free_ports(2)
    properties = directory / "server.properties"
    properties.write_text(_SERVER_PROPERTIES.format(broker=broker, controller=controller, log_dir=log_dir))
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    # One argument, since an id may begin with a dash.
    kafka.run("kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", f"--config={properties}")
    with open(directory / "broker.out", "wb") as out:
        command = ["java", "-Xmx1G", "-cp", f"{kafka.libs}/*", "kafka.Kafka", str(properties)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield f"127.0.0.1:{broker}", log_dir
        if process.poll() is not None:
            raise BenchmarkError(f"the broker ended by itself with exit code {process.returncode}")
    finally:
        _stop(process)


def create_topic(kafka: Kafka, address: str, topic: str) -> None:
    """Create a topic of one partition that keeps everything in large segments; waits for the broker to be up."""
    configs = [word for config in TOPIC_CONFIGS for word in ("--config", config)]
    where = ("--bootstrap-server", address)
    kafka.run(
        "org.apache.kafka.tools.TopicCommand", *where, "--create", "--topic", topic, "--partitions", "1", *configs
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    # All are held at once, so that no port comes twice.
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
