"""A cluster looked at again and again, also through times in which it does not answer.

The first look is as that of any command: what is wrong with it ends everything. A later one may fail, and the next is
made all the same: the brokers may be back, the directory or the file may be there again. Only what no other try would
mend is raised then, too.

A cluster that falls silent shall be known for it soon, one that is slow shall have its time. So what is asked of a
running cluster may take as long as the steps of ``PATIENCE_MS`` say: twice the time of the last look that worked, and
with every look that fails the next step, but never longer than the client's own settings allow. Files are opened anew
for each look.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from itertools import count
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.selection import Selection, open_cluster, opened_anew
from kafkapy.errors import KafkaError, KafkapyError, Unsupported, UsageError
from kafkapy.lag.lag_point import LagPoint
from kafkapy.lag.snapshots import Snapshots

PATIENCE_MS = (5_000, 10_000, 20_000, 40_000, 60_000)
PATIENCE_SETTING = "a look of --watch"
_FINAL = ("AuthorizationException", "AuthenticationException", "UnsupportedVersionException")


class Outage(NamedTuple):
    """Since when looks fail, and why the last one did."""

    since: int
    reason: str


class Look(NamedTuple):
    """How it stood at a time; ``gone`` are the groups that were there once. In an outage all that is of the last look
    that worked, ``seen``."""

    timestamp: int
    seen: int
    points: list[LagPoint]
    problems: list[str]
    outage: Outage | None = None
    gone: frozenset[str] = frozenset()


def looks(chosen: Selection, snapshots: Snapshots, pause_s: float, times: int | None = None) -> Generator[Look]:
    """So many looks, or for ever, with pauses between."""
    with closing(_Watched(chosen, snapshots)) as watched:
        for number in count() if times is None else range(times):
            if number:
                time.sleep(pause_s)
            yield watched.look()


class _Watched:
    """The cluster, and what was last seen of it."""

    def __init__(self, chosen: Selection, snapshots: Snapshots) -> None:
        self._chosen = chosen
        self._snapshots = snapshots
        self._first = open_cluster(chosen)
        self._open: Cluster | None = self._first
        self._patience = 0
        self._ahead_ms = 0
        self._last: Look | None = None

    def look(self) -> Look:
        """Look now; before the first look that worked, and where it is no use to look again, an error."""
        began = _clock()
        try:
            look = self._take()
            patience = sum(2 * (_clock() - began) > step for step in PATIENCE_MS)
        except (KafkapyError, OSError) as error:
            if self._last is None or self._is_final(error):
                raise
            look = _failed(self._last, began + self._ahead_ms, error)
            patience = self._patience + 1
        told = self._get_ready(min(patience, len(PATIENCE_MS) - 1), look.outage is None)
        self._last = look if look.outage is not None else look._replace(problems=[*look.problems, *told])
        return self._last

    def _take(self) -> Look:
        if self._open is None:
            self._open = opened_anew(self._chosen, self._first, PATIENCE_MS[self._patience], PATIENCE_SETTING)
        now, problems = self._open.now, list[str]()
        self._ahead_ms = now - _clock()
        points = self._snapshots.take(self._open, now, problems.append)
        return Look(now, now, points, problems, gone=frozenset(self._snapshots.gone))

    def _get_ready(self, patience: int, has_worked: bool) -> list[str]:
        """For the next look. A connection is kept that works, and is as patient as it shall be: the first is not. Files
        tell only as they are closed that their metadata is not whole."""
        is_kept = self._chosen.is_live and has_worked and self._open is not self._first and patience == self._patience
        self._patience = patience
        try:
            if not is_kept:
                self.close()
        except KafkapyError as error:
            return [str(error)]
        return []

    def _is_final(self, error: KafkapyError | OSError) -> bool:
        if isinstance(error, KafkaError):
            return error.name.endswith(_FINAL)
        if isinstance(error, UsageError | Unsupported):
            return True
        if not self._chosen.is_live:
            return False
        from kafkapy.backends.live.library.network import AuthenticationFailed

        return isinstance(error, AuthenticationFailed)

    def close(self) -> None:
        """Close what is open."""
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()


def _failed(last: Look, now: int, error: KafkapyError | OSError) -> Look:
    since = now if last.outage is None else last.outage.since
    reason = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        reason = f"{error.filename}: {error.strerror}"
    return last._replace(timestamp=now, outage=Outage(since, reason))


def _clock() -> int:
    return int(time.time() * 1000)
