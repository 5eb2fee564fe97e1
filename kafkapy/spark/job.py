"""A job of Spark's that can be watched and interrupted.

Ctrl-C and SIGTERM cancel the job wherever its tasks run, and are raised when none of these runs any more, so that
whoever tidies up after them is alone. A statement that is being planned cannot be cancelled: its jobs are as soon as
they begin. Where that takes too long the interrupt is raised as ``StillRunning``.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
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
_CANCEL_AGAIN_SECONDS = 0.05
_CANCEL_SECONDS = 5


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
    try:
        with _watched(context, group):
            return job.result()
    except KeyboardInterrupt as interrupt:
        with undisturbed():
            cancelling = Conversation(lambda: _cancel(context, group, job))
            has_ended = cancelling.has_ended(_CANCEL_SECONDS) and job.has_ended()
        if has_ended or isinstance(interrupt, Terminated):
            raise
        raise StillRunning from interrupt


def _cancel(context: SparkContext, group: str, job: Conversation[T]) -> None:
    """Have no job of a group go on, nor begin, nor any task of theirs be at work."""
    while True:
        context.cancelJobGroup(group)
        if job.has_ended(_CANCEL_AGAIN_SECONDS) and not any(stage.numActiveTasks for stage in _stages(context, group)):
            return


@contextmanager
def _watched(context: SparkContext, group: str) -> Iterator[None]:
    """Progress is shown meanwhile."""
    progress = TaskProgress()
    if not progress.is_enabled:
        yield
        return
    has_ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, group, progress, has_ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        has_ended.set()
        watcher.join(_CANCEL_SECONDS)  # the JVM may not answer


def _watch(context: SparkContext, group: str, progress: TaskProgress, has_ended: threading.Event) -> None:
    with closing(progress), suppress(Exception):  # the JVM may be gone
        while not has_ended.wait(_LOOK_SECONDS):
            stages = list(_stages(context, group))
            progress.show(sum(each.numCompletedTasks for each in stages), sum(each.numTasks for each in stages))


def _stages(context: SparkContext, group: str) -> Iterator[SparkStageInfo]:
    tracker = context.statusTracker()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            if (stage_info := tracker.getStageInfo(stage)) is not None:
                yield stage_info
