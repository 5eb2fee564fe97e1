"""A program for tests: a session of its own with a job that is too long, which the test interrupts."""

from __future__ import annotations

import sys
import time

from kafkapy.errors import KafkapyError
from kafkapy.spark.engine import SparkEngine
from kafkapy.spark.job import run_job
from kafkapy.spark.session import SparkOptions, open_session


def work(part: int) -> int:
    time.sleep(part)
    return part


def main() -> None:
    with open_session(SparkOptions("local[2]")) as session:
        engine = SparkEngine(session)
        context = session.sparkContext
        print(*engine.map(work, [0, 0]), context.getConf().get("spark.driver.host"), flush=True)
        try:
            run_job(session, lambda: session.sql("SELECT nosuch FROM range(3)").collect())
        except KafkapyError as error:
            print(str(error).partition("]")[0], flush=True)
        try:
            list(engine.map(work, [0, 0, 0, 600, 600]))
        except KeyboardInterrupt:
            print("interrupted", context.statusTracker().getActiveJobsIds(), flush=True)
        print(*engine.map(work, [0, 0]), flush=True)
    print("done", file=sys.stdout, flush=True)


if __name__ == "__main__":
    main()
