"""A job of Spark's that can be watched and interrupted.

The job runs in a thread of its own: a signal then never falls into the middle of a conversation with the JVM. Ctrl-C
cancels the job's tasks wherever they run, and is raised again.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from kafkapy.output.task_progress import TaskProgress
from kafkapy.spark.errors import told

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")

_LOOK_SECONDS = 0.25
_CANCEL_SECONDS = 5


def run_job(session: SparkSession, action: Callable[[], T]) -> T:
    """What ``action`` gives, whose jobs are watched; an error of Spark's comes as one of ours."""
    context = session.sparkContext
    job = _Job(context, action)
    job.start()
    watcher = threading.Thread(target=_watch, args=(context, job), daemon=True)
    watcher.start()
    try:
        job.done.wait()
    except BaseException:
        with suppress(Exception):  # the JVM may be gone
            context.cancelJobGroup(job.group)
        job.done.wait(_CANCEL_SECONDS)
        raise
    finally:
        job.done.set()
        watcher.join()
    return job.result()


class _Job(threading.Thread, Generic[T]):
    """An action, and what became of it."""

    def __init__(self, context: SparkContext, action: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self.group = str(uuid.uuid4())
        self.done = threading.Event()
        self._context = context
        self._action = action
        self._results: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it, under the name by which it can be cancelled."""
        try:
            self._context.setJobGroup(self.group, "kafkapy")
            self._results.append(self._action())
        except BaseException as error:
            self._error = error
        finally:
            self.done.set()

    def result(self) -> T:
        """What came out."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        if isinstance(self._error, Py4JError | PySparkException):
            raise told(self._error) from self._error
        if self._error is not None:
            raise self._error
        return self._results[0]


def _watch(context: SparkContext, job: _Job[T]) -> None:
    progress = TaskProgress()
    try:
        while progress.is_enabled and not job.done.wait(_LOOK_SECONDS):
            progress.show(*_tasks(context, job.group))
    finally:
        progress.close()


def _tasks(context: SparkContext, group: str) -> tuple[int, int]:
    """How many tasks are done, and how many are known of."""
    tracker = context.statusTracker()
    done = known = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            if (stage_info := tracker.getStageInfo(stage)) is not None:
                done += stage_info.numCompletedTasks
                known += stage_info.numTasks
    return done, known
