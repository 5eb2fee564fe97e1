"""A job of Spark's that can be watched and interrupted.

Ctrl-C and SIGTERM cancel the job wherever its tasks run, and are raised when none of these runs any more, so that
whoever tidies up after them is alone. A statement that is being planned cannot be cancelled: its jobs are as soon as
they begin. Where that takes too long the interrupt is raised as ``StillRunning``.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from kafkapy.errors import Terminated
from kafkapy.output.task_progress import TaskProgress
from kafkapy.signals import undisturbed
from kafkapy.spark.conversation import Conversation

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.status import SparkStageInfo

T = TypeVar("T")

_LOOK_SECONDS = 0.25
_LAST_LOOK_SECONDS = 1
_CANCEL_AGAIN_SECONDS = 0.05
_CANCEL_SECONDS = 5
"""Spark looks every two seconds whether a Python worker is at work for a task that was cancelled."""


class StillRunning(KeyboardInterrupt):
    """Interrupted, but what was interrupted goes on: nothing else may be done in its session."""


def run_job(session: SparkSession, action: Callable[[], T]) -> T:
    """What ``action`` gives, whose jobs are watched; an error of Spark's comes as one of ours."""
    context = session.sparkContext
    group = str(uuid.uuid4())

    def act() -> T:
        context.setJobGroup(group, "kafkapy")
        return action()

    job = Conversation(act)
    watcher = threading.Thread(target=_watch, args=(context, group, job), daemon=True)
    try:
        job.start()
        watcher.start()
        return job.result()
    except KeyboardInterrupt as interrupt:
        with undisturbed():
            cancelling = Conversation(lambda: _cancel(context, group, job))
            cancelling.start()
            has_ended = cancelling.has_ended(_CANCEL_SECONDS) and job.has_ended()
        if has_ended or isinstance(interrupt, Terminated):
            raise
        raise StillRunning from interrupt
    finally:
        if watcher.is_alive():
            watcher.join(_LAST_LOOK_SECONDS)


def _cancel(context: SparkContext, group: str, job: Conversation[T]) -> None:
    """Have no job of a group go on, nor begin, nor any task of theirs be at work."""
    while True:
        context.cancelJobGroup(group)
        if job.has_ended(_CANCEL_AGAIN_SECONDS) and not any(stage.numActiveTasks for stage in _stages(context, group)):
            return


def _watch(context: SparkContext, group: str, job: Conversation[T]) -> None:
    """Show progress until the job has ended."""
    with closing(TaskProgress()) as progress, suppress(Exception):  # the JVM may be gone
        while progress.is_enabled and not job.has_ended(_LOOK_SECONDS):
            stages = list(_stages(context, group))
            progress.show(sum(each.numCompletedTasks for each in stages), sum(each.numTasks for each in stages))


def _stages(context: SparkContext, group: str) -> Iterator[SparkStageInfo]:
    tracker = context.statusTracker()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            if (stage_info := tracker.getStageInfo(stage)) is not None:
                yield stage_info
