"""The parts of a job as Spark's tasks: one task a part.

Spark runs a task again when its worker is lost, and may run it twice at once when it is slow; of each part one result
comes back. A function must be of a module that executors have: kafkapy's own, but not of its commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from kafkapy.spark.job import run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")


class SparkEngine:
    """Does the parts of a job in a session."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """What ``work`` makes of each part, in the order of the parts, when all are done."""
        if not parts:
            return iter(())
        context = self.session.sparkContext
        return iter(run_job(self.session, lambda: context.parallelize(parts, len(parts)).map(work).collect()))
