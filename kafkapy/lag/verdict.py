"""How a group gets on with a partition, by the trend of its last commits and not by how large its lag is.

The rules, in this order; the first that holds decides. They are Burrow's, with what is known here and not there: the
log's end at the very time of a commit, and the age of the oldest record that is not consumed.

    missed          the commit is before the log's start: what had not been read is gone
    ok              nothing is left to read
    unknown         there are fewer than two commits to go by; a group without members has stopped, once there has been
                    something to read for longer than consumers take to commit
    stopped         there has been something to read, and no commit, for longer than that and the whole window took
    rewound         the offset went back, and is not yet where it was
    ok              at one of the commits nothing was left to read
    stalled         all commits are of the same offset
    falling behind  the lag grew over the window, and never became less from one commit to the next
    ok              otherwise

A commit of a tool moves the offset, but is no sign of the group: it ends no silence, and without one of the group's own
there is nothing to go by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from kafkapy.lag.timeline import Commit

COMMIT_INTERVAL_MS = 5000
"""How often consumers commit, unless they are told otherwise: less silence than that says nothing."""


class Verdict(StrEnum):
    """From good to bad: that of a group is the worst of its partitions."""

    OK = "ok"
    UNKNOWN = "unknown"
    FALLING_BEHIND = "falling behind"
    REWOUND = "rewound"
    STALLED = "stalled"
    STOPPED = "stopped"
    MISSED = "missed"

    @property
    def severity(self) -> int:
        """The worse, the larger."""
        return list(Verdict).index(self)


class Trend(NamedTuple):
    """A window of commits with the lag at each (None: not known), and how it stands now. ``waiting_ms`` is how long
    the oldest record that is left to read has been there; None where that is not known."""

    commits: Sequence[Commit]
    lags: Sequence[int | None]
    moment: int
    lag: int | None
    waiting_ms: int | None
    members: int | None = None
    is_missed: bool = False

    @property
    def own(self) -> list[Commit]:
        """The commits of the group itself."""
        return own_commits(self.commits)


def verdict(trend: Trend) -> Verdict:
    """By the rules above."""
    if trend.lag is None:
        return Verdict.UNKNOWN
    if trend.is_missed:
        return Verdict.MISSED
    if trend.lag <= 0:
        return Verdict.OK
    if len(trend.own) < 2:
        return Verdict.STOPPED if _is_left_alone(trend) else Verdict.UNKNOWN
    if _has_stopped(trend):
        return Verdict.STOPPED
    offsets = [commit.offset for commit in trend.commits]
    if offsets[-1] < max(offsets):
        return Verdict.REWOUND
    lags = [lag for lag in trend.lags if lag is not None]
    if any(lag <= 0 for lag in lags):
        return Verdict.OK
    if len(set(offsets)) == 1:
        return Verdict.STALLED
    is_growing = len(lags) > 1 and lags[-1] > lags[0] and lags == sorted(lags)
    return Verdict.FALLING_BEHIND if is_growing else Verdict.OK


def own_commits(window: Iterable[Commit]) -> list[Commit]:
    """The commits of a window that the group made, and no tool."""
    return [commit for commit in window if not commit.by_tool]


def patience_ms(own: Sequence[Commit]) -> int:
    """How long a group with these commits may be silent, and has not stopped."""
    return max(own[-1].timestamp - own[0].timestamp, COMMIT_INTERVAL_MS)


def _is_left_alone(trend: Trend) -> bool:
    is_old = trend.waiting_ms is None or trend.waiting_ms > COMMIT_INTERVAL_MS
    return trend.members == 0 and bool(trend.commits) and is_old


def _has_stopped(trend: Trend) -> bool:
    silent_ms = trend.moment - trend.own[-1].timestamp
    if trend.waiting_ms is not None:
        silent_ms = min(silent_ms, trend.waiting_ms)
    return silent_ms > patience_ms(trend.own)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several partitions."""
    return max(verdicts, key=lambda each: each.severity, default=Verdict.OK)
