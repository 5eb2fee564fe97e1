"""One run of a group in a cluster directory: take the group, let members join, consume, leave, and tell what happened.

However the run ends, by its limits, an error or an interrupt, what was handled is committed and the members leave; only
a kill leaves them to the next run.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from kafkapy.backends.consuming import Limits
from kafkapy.backends.group_consuming import GroupConsuming, Waiting
from kafkapy.backends.group_events import Event
from kafkapy.backends.group_lock import GroupLock
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.group_session import GroupSession
from kafkapy.backends.group_subscription import GroupSubscription
from kafkapy.backends.record_handler import RecordHandler
from kafkapy.backends.shared_cluster import SharedCluster, Tell
from kafkapy.errors import KafkapyError, Terminated
from kafkapy.formats.time_text import utc_text


class GroupRun(NamedTuple):
    """What is consumed by whom. ``reset`` is where to begin without a committed offset; ``anchored`` commits where
    partitions begin before anything is handled, so that a kill right after the first start skips nothing."""

    shared: SharedCluster
    options: GroupOptions
    subscription: GroupSubscription
    reset: int | None
    limits: Limits
    members: int = 1
    events: Sequence[Event] = ()
    anchored: bool = False
    tells_rebalances: bool = True


def consume(run: GroupRun, handler: RecordHandler, tell: Tell, summary: Callable[[], str]) -> None:
    """Do it; ``summary`` is asked at the end for what is told last."""
    with _locked(run), _terminated_like_interrupted():
        session = GroupSession(
            run.shared, run.options, run.subscription, run.reset, handler, tell, run.anchored, run.tells_rebalances
        )
        interval = run.options.auto_commit_interval_ms
        consuming = GroupConsuming(session, handler, run.limits, run.shared.time, run.events, interval)
        try:
            session.begin(run.members)
            if not session.sources:
                tell(f"kafkapy: no topic matches {run.subscription.include!r}{' yet' if run.limits.follow else ''}")
            consuming.run()
        except BaseException:
            _close_after_an_error(session, tell)
            tell(summary())
            raise
        waiting = consuming.waiting()
        session.close()
        _tell_the_end(consuming, waiting, tell)
        tell(summary())


def _close_after_an_error(session: GroupSession, tell: Tell) -> None:
    """Save what can be saved; that this failed, too, does not hide why."""
    try:
        session.close()
    except BrokenPipeError:
        tell("Unable to write to standard out, closing consumer.")  # and nothing was printed since the last commit
    except (KafkapyError, OSError) as error:
        tell(f"kafkapy: what was handled last is not committed: {error}")


def _tell_the_end(consuming: GroupConsuming, waiting: Waiting | None, tell: Tell) -> None:
    for event in consuming.events:
        tell(f"kafkapy: {event} did not happen: there were {consuming.count} records")
    if waiting is not None:
        records = "1 record waits" if waiting.records == 1 else f"{waiting.records} records wait"
        tell(f"{records} in retry topics, the first of them until {utc_text(waiting.due_ms)}")


@contextmanager
def _locked(run: GroupRun) -> Iterator[None]:
    run.shared.read()  # a directory that is not there is told about as such
    lock = GroupLock(run.shared.directory, run.options.group_id, run.shared.time.now_ms())
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does: members leave."""

    def interrupt(_: int, __: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
