"""Spark's standalone cluster as processes on loopback: a master, and workers of one core each.

Everything runs from pip's pyspark. Processes are ended by their ids; an executor ends with its worker.
"""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple, Self

from pyspark.find_spark_home import _find_spark_home

from kafkapy.spark.session import LAUNCHER
from tests.spark.quick_java import C1_ONLY, quick_java

HOST = "127.0.0.1"
_PATIENCE_S = 120


def cluster_conf() -> dict[str, str]:
    """For sessions here: both workers take part, and a job waits until they are there."""
    return {
        "spark.cores.max": "2",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": quick_java(),
        "spark.driver.extraJavaOptions": C1_ONLY,
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
        "spark.sql.shuffle.partitions": "2",
    }


class Worker(NamedTuple):
    """A worker, and the directory that its executors run in."""

    process: subprocess.Popen[bytes]
    directory: Path


class StandaloneCluster:
    """The cluster, while the context is open."""

    def __init__(self, directory: Path, java_home: str) -> None:
        self._directory = directory
        self._java_home = java_home
        self._port = _free_port()
        self._master: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count()
        self.workers: list[Worker] = []

    @property
    def url(self) -> str:
        """What ``--master`` takes."""
        return f"spark://{HOST}:{self._port}"

    def __enter__(self) -> Self:
        args = ("--host", HOST, "--port", str(self._port), "--webui-port", "0")
        self._master = self._start("master.Master", *args)
        self._wait_for_master()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            _end(worker.process)
        if self._master is not None:
            _end(self._master)
        left = [each for each in os.listdir("/proc") if each.isdecimal() and self._is_ours(each)]
        assert left == []

    def have_workers(self, count: int) -> None:
        """Start as many as are missing."""
        while len(self.workers) < count:
            self.start_worker()

    def start_worker(self) -> Worker:
        """One more worker; it tells the master of itself by and by."""
        directory = self._directory / f"worker-{next(self._numbers)}"
        args = ("--host", HOST, "--webui-port", "0", "--cores", "1", "--memory", "600m", "--work-dir", str(directory))
        worker = Worker(self._start("worker.Worker", *args, self.url), directory)
        self.workers.append(worker)
        return worker

    def kill(self, worker: Worker) -> None:
        """End a worker as a machine does that fails."""
        self.workers.remove(worker)
        worker.process.kill()
        worker.process.wait()

    def _start(self, name: str, *args: str) -> subprocess.Popen[bytes]:
        env = os.environ | {
            "JAVA_HOME": self._java_home,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": quick_java(),
            "SPARK_LAUNCHER_OPTS": LAUNCHER,
            "SPARK_NO_DAEMONIZE": "1",
        }
        command = [os.path.join(_find_spark_home(), "bin", "spark-class"), f"org.apache.spark.deploy.{name}", *args]
        with open(self._directory / f"{name}-{len(self.workers)}.log", "wb") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self._directory
            )

    def _wait_for_master(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                socket.create_connection((HOST, self._port)).close()
                return
            except OSError:
                assert time.monotonic() < deadline, "Spark's master does not listen"
                time.sleep(0.1)

    def _is_ours(self, pid: str) -> bool:
        """Whether a process runs in our directory, as executors do."""
        try:
            return Path("/proc", pid, "cwd").resolve().is_relative_to(self._directory) and int(pid) != os.getpid()
        except OSError:
            return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE_S)
    finally:
        process.kill()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
