"""A program for tests: jobs in one session on a cluster, results as lines of JSON.

    cluster_job.py MASTER MARKS LOG_DIR COMMAND...

The command is one of kafkapy's, which has its jobs in this session, too. Tasks of the slow job leave a file each in
MARKS as they end, with the directory that they ran in, so that the test knows when to take a worker away.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafkapy.spark.engine import SparkEngine
from kafkapy.spark.session import SparkOptions, open_session
from tests.in_process import run_kafkapy
from tests.spark.standalone_cluster import cluster_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLOW_S = 0.4
PATIENCE_S = 240.0


def main(master: str, marks: str, log_dir: str, *command: str) -> None:
    with open_session(SparkOptions(master, tuple(cluster_conf().items()))) as session:
        frame = session.read.format("kafkalog").option("splitSize", "2k").load(log_dir)
        frame.createOrReplaceTempView("records")
        counts = session.sql("SELECT topic, partition, count(*), sum(offset) FROM records GROUP BY 1, 2 ORDER BY 1, 2")
        tell([list(row) for row in counts.collect()])
        tell(workers(session))
        tell(run_kafkapy(command, None, PATIENCE_S))
        rows = frame.select("topic", "partition", "offset").rdd.mapPartitions(slowly(marks))
        tell(rows.collect())


def workers(session: SparkSession) -> list[tuple[str, str]]:
    """Who takes part, when two do: one that has to start may miss a whole job."""
    while len(found := sorted(set(SparkEngine(session).map(where, range(8))))) < 2:
        pass
    return found


def where(_: int) -> tuple[str, str]:
    """Who runs a task: the directory, and the package that is used there."""
    import kafkapy

    time.sleep(SLOW_S)
    return os.getcwd(), os.path.realpath(kafkapy.__file__)


def slowly(marks: str) -> Any:
    """Pass rows on, slowly, and leave a mark."""

    def pass_on(rows: Iterator[Any]) -> Iterator[list[Any]]:
        found = [list(row) for row in rows]
        time.sleep(SLOW_S)
        os.makedirs(marks, exist_ok=True)
        part = os.path.join(marks, f"{uuid.uuid4()}.part")
        with open(part, "w", encoding="utf-8") as mark:
            mark.write(os.getcwd())
        os.replace(part, part.removesuffix(".part"))
        return iter(found)

    return pass_on


def tell(result: Any) -> None:
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
