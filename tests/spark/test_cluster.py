"""A real cluster: both workers do their part, with the code that was sent; a worker that dies costs no row.

That it costs an engine's job nothing, either, is in ``test_export``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Scan
from tests.commands.running import run as run_here
from tests.tables.logs import make_log

if TYPE_CHECKING:
    from tests.spark.standalone_cluster import StandaloneCluster, Worker

PROGRAM = Path(__file__).with_name("cluster_job.py")
PATIENCE_S = 240
LAG = ("lag", "--history", "--from", "2026-11-16T03:16:50Z", "--to", "2026-11-16T03:18:10Z", "--step", "10s")


@pytest.fixture
def rows(tmp_path: Path) -> list[tuple[str, int, int]]:
    """What is in the log that the program reads."""
    scan = Scan((make_log(tmp_path / "logs", batches=120),), columns=("topic", "partition", "offset"))
    table = find_table("records")
    batches = (batch for split in table.splits(scan) for batch in table.read(scan, split))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def test_jobs_on_two_workers_of_which_one_dies(
    capfd: pytest.CaptureFixture[str], spark_cluster: StandaloneCluster, root: Path, tmp_path: Path,
    rows: list[tuple[str, int, int]], brokers: list[str],
) -> None:  # fmt: skip
    spark_cluster.have_workers(2)
    marks = tmp_path / "marks"
    lag = *LAG, "--log-dirs", ",".join(brokers)
    asked = *lag, "--engine", "spark"
    command = [sys.executable, str(PROGRAM), spark_cluster.url, str(marks), str(tmp_path / "logs"), *asked]
    env = os.environ | {"PYTHONPATH": str(root), "SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path) as run:
        try:
            assert next_result(run) == [["orders", 0, len(rows), sum(offset for *_, offset in rows)]]
            ran_in, packages = zip(*next_result(run), strict=True)
            assert {worker_of(spark_cluster, each).directory for each in ran_in} == {
                worker.directory for worker in spark_cluster.workers
            }
            assert {Path(package).parent.parent for package in packages} == {Path(each) for each in ran_in}

            assert next_result(run) == list(run_here(capfd, *lag))

            take_a_worker_away(spark_cluster, marks, run)
            assert Counter(tuple(row) for row in next_result(run)) == Counter(rows)
        finally:
            if run.poll() is None and sys.exc_info()[0] is not None:
                run.kill()
    assert run.returncode == 0


def take_a_worker_away(cluster: StandaloneCluster, marks: Path, run: subprocess.Popen[str]) -> None:
    """When both have done a part of a job."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        assert run.poll() is None, "the job ended too soon"
        assert time.monotonic() < deadline, "not all workers take part"
        done = [each.read_text() for each in marks.glob("*") if each.suffix != ".part"]
        if len(set(done)) > 1:
            cluster.kill(worker_of(cluster, done[0]))
            return
        time.sleep(0.05)


def worker_of(cluster: StandaloneCluster, directory: str) -> Worker:
    return next(each for each in cluster.workers if Path(directory).is_relative_to(each.directory))


def next_result(run: subprocess.Popen[str]) -> Any:
    assert run.stdout is not None
    line = run.stdout.readline()
    assert line, "the program ended"
    return json.loads(line)
