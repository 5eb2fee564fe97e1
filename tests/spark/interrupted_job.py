"""A program for tests: a session of its own with jobs that are too long; the test interrupts one and terminates the
other. That one writes to a directory, which is gone for good once it was removed."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from kafkapy.errors import KafkapyError, Terminated
from kafkapy.spark.engine import SparkEngine
from kafkapy.spark.job import run_job
from kafkapy.spark.session import SparkOptions, open_session


def work(part: int) -> int:
    time.sleep(part)
    return part


def keep_writing(directory: str) -> None:
    while True:
        Path(directory).mkdir(exist_ok=True)
        Path(directory, "part").write_text("x")


def main(directory: str) -> None:
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
        try:
            list(engine.map(keep_writing, [directory, directory]))
        except Terminated:
            shutil.rmtree(directory)
            print("terminated", flush=True)
            raise


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Terminated:
        print("done", flush=True)
