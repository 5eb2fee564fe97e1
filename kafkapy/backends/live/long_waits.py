"""Who is waited for, told on stderr once that takes long: a broker that hangs, or one that is tried again and again.

Only where a person can see it, on a terminal, and only while nothing else is done but to wait. Each thing is told once.
What a broker answers late by its nature, such as JoinGroup, is not told.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from kafkapy.backends.live.client_config import Limit

PATIENCE_S = 2.0


class Wait(NamedTuple):
    """What is waited for, since when and how long at most."""

    what: str
    limit: Limit
    since: float


class LongWaits:
    """The waits that go on; whoever waits looks at them now and then."""

    def __init__(self, is_told: bool = True) -> None:
        self._is_told = is_told and os.isatty(2)
        self._open: dict[int, Wait] = {}
        self._told: set[str] = set()

    @contextmanager
    def during(self, what: str, limit: Limit) -> Iterator[None]:
        """A wait that lasts as long as the block."""
        wait = Wait(what, limit, time.monotonic())
        self._open[id(wait)] = wait
        try:
            yield
        finally:
            del self._open[id(wait)]

    def look(self, also: Wait | None = None) -> None:
        """Tell of what takes long by now."""
        if self._is_told:
            long_ago = time.monotonic() - PATIENCE_S
            for wait in [*self._open.values(), *filter(None, [also])]:
                if wait.since < long_ago and not wait.limit.is_far:
                    self._tell(f"waiting for {wait.what}, for up to {wait.limit}")

    def tried_again(self, why: object, limit: Limit, since: float) -> None:
        """Tell that something is not given up yet, and why it did not work."""
        if self._is_told and time.monotonic() - since > PATIENCE_S:
            self._tell(f"{str(why).removesuffix('.')}; trying again, for up to {limit}")

    def _tell(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            print(f"kafkapy: {line}", file=sys.stderr)
