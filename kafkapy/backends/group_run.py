"""One run of members of a group: take the group, let members join, consume, leave, and tell what happened.

However the run ends, by its limits, an error or an interrupt, what was handled is committed and the members leave; only
a kill leaves them to the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkapy.backends.consuming import Limits
from kafkapy.backends.group_consuming import GroupConsuming, Waiting
from kafkapy.backends.group_events import Event
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.group_session import GroupSession
from kafkapy.backends.group_subscription import GroupSubscription
from kafkapy.backends.record_handler import RecordHandler
from kafkapy.backends.shared_cluster import Shared
from kafkapy.backends.waiting import Meanwhile, Tell
from kafkapy.errors import KafkapyError
from kafkapy.formats.time_text import utc_text
from kafkapy.signals import terminated_like_interrupted

NOT_COMMITTED = "kafkapy: what was handled last is not committed, or not certainly, and may be handled again"


class GroupRun(NamedTuple):
    """What is consumed by whom. ``reset`` is where to begin without a committed offset; ``anchored`` commits where
    partitions begin before anything is handled, so that a kill right after the first start skips nothing; ``meanwhile``
    is called by whatever takes its time, and keeps the members in the group."""

    shared: Shared
    options: GroupOptions
    subscription: GroupSubscription
    reset: int | None
    limits: Limits
    members: int = 1
    events: Sequence[Event] = ()
    anchored: bool = False
    tells_rebalances: bool = True
    meanwhile: Meanwhile | None = None


def consume(run: GroupRun, handler: RecordHandler, tell: Tell, summary: Callable[[], str]) -> bool:
    """Do it; ``summary`` is asked at the end for what is told last. False where something could not be read."""
    with run.shared.locked(run.options.group_id), terminated_like_interrupted():
        session = GroupSession(
            run.shared, run.options, run.subscription, run.reset, handler, tell, run.anchored, run.tells_rebalances
        )
        interval = run.options.auto_commit_interval_ms
        consuming = GroupConsuming(session, handler, run.limits, run.shared.time, run.events, interval)
        if run.meanwhile is not None:
            run.meanwhile.work = session.keep_alive
        try:
            session.begin(run.members)
            if not session.sources:
                tell(f"kafkapy: no topic matches {run.subscription.include!r}{' yet' if run.limits.follow else ''}")
            consuming.run()
        except BaseException as error:
            _close_after_an_error(session, tell, error)
            tell(summary())
            raise
        waiting = consuming.waiting()
        if not consuming.is_full:
            session.look_for_damage()
        _close(session, tell, summary)
        _tell_the_end(consuming, waiting, tell)
        tell(summary())
        return not session.left_out


def _close(session: GroupSession, tell: Tell, summary: Callable[[], str]) -> None:
    """Commit and leave; where that fails, what was handled is told before the error."""
    try:
        session.close()
    except KafkapyError:
        tell(NOT_COMMITTED)
        tell(summary())
        raise


def _close_after_an_error(session: GroupSession, tell: Tell, cause: BaseException) -> None:
    """Save what can be saved; that this failed, too, does not hide why."""
    try:
        session.close()
    except BrokenPipeError:
        tell("Unable to write to standard out, closing consumer.")  # and nothing was printed since the last commit
    except (KafkapyError, OSError) as error:
        tell(NOT_COMMITTED if str(error) == str(cause) else f"{NOT_COMMITTED}: {error}")


def _tell_the_end(consuming: GroupConsuming, waiting: Waiting | None, tell: Tell) -> None:
    for event in consuming.events:
        tell(f"kafkapy: {event} did not happen: there were only {consuming.count} records")
    if waiting is not None:
        records = "1 record waits" if waiting.records == 1 else f"{waiting.records} records wait"
        tell(f"{records} in retry topics, the first of them until {utc_text(waiting.due_ms)}")
