"""Lag, throughput and SQL as commands: the same rows from one process, from Spark here, and from a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands.running import run
from tests.spark.standalone_cluster import cluster_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.standalone_cluster import StandaloneCluster

Capture = pytest.CaptureFixture[str]
HISTORY = ("lag", "--history", "--from", "2026-11-16T03:16:50Z", "--to", "2026-11-16T03:18:10Z", "--step", "10s")
COMMANDS = [
    (*HISTORY, "--output", "jsonl"),
    ("lag", "--at", "2026-11-16T03:18:00Z"),
    ("throughput", "--by", "producer", "--step", "1m", "--measure-compression"),
    ("throughput", "--by", "partition", "--exclude-internal", "--output", "csv"),
]
COUNTS = "SELECT topic, count(*) AS n FROM records WHERE NOT control GROUP BY topic ORDER BY topic"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_spark_tells_what_one_process_tells(
    capfd: Capture, spark: SparkSession, brokers: list[str], command: tuple[str, ...]
) -> None:
    args = *command, "--log-dirs", ",".join(brokers)
    here = run(capfd, *args)
    assert run(capfd, *args, "--engine", "spark") == here
    assert len(here.out.splitlines()) > 5


@pytest.mark.parametrize("command", [("lag", "--interval", "1s"), ("lag", "--watch"), ("throughput", "--forecast")])
def test_what_spark_is_not_for(capfd: Capture, brokers: list[str], command: tuple[str, ...]) -> None:
    done = run(capfd, *command, "--log-dirs", ",".join(brokers), "--engine", "spark")
    assert done.code == 2
    assert "--engine" in done.err


@pytest.mark.parametrize("command", [("lag", "--history"), ("throughput",)], ids=" ".join)
def test_running_clusters_have_no_files_to_read(
    capfd: Capture, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Said before Spark starts, or its Java is missed."""
    monkeypatch.setenv("JAVA_HOME", os.devnull)
    done = run(capfd, *command, "--bootstrap-server", "127.0.0.1:1", "--engine", "spark")
    assert done.code == 2
    assert "--engine spark reads files, not a running cluster" in done.err


def test_a_cluster_of_workers_tells_the_same(
    capfd: Capture, spark_cluster: StandaloneCluster, root: Path, brokers: list[str]
) -> None:
    """As SQL; lag has its jobs on a cluster in ``test_cluster``."""
    spark_cluster.have_workers(2)
    conf = [part for name, value in cluster_conf().items() for part in ("--conf", f"{name}={value}")]
    where = ("--log-dirs", ",".join(brokers))
    command = [sys.executable, "-m", "kafkapy", "sql", COUNTS, "--output", "jsonl", *where]
    command += ["--master", spark_cluster.url, *conf]
    env = os.environ | {"PYTHONPATH": str(root), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    counts = {row["topic"]: row["n"] for row in map(json.loads, done.stdout.splitlines())}
    flows = run(capfd, "throughput", *where, "--output", "jsonl").out.splitlines()
    batches = {row["topic"]: row["records"] for row in map(json.loads, flows)}
    assert counts["orders"] == batches["orders"]
    assert counts["rolled"] == 9000
