"""Waiting for another process that writes to a cluster directory.

Only one process at a time may write. Most write for a moment, so whoever comes meanwhile tries again every few
milliseconds, says after a second for whom it waits, and gives up in the end with the error that it would have had at
once. Nothing is held while it waits: an interrupt leaves no trace, and two that wait for each other cannot be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kafkapy.backends.log_dir_lock import LogDirHeldError

WRITER_WAITS_S = 10.0
PATIENCE_S = 1.0
PAUSE_S = 0.05

Tell = Callable[[str], object]
OpenedT = TypeVar("OpenedT")


class Meanwhile:
    """What is to be done while something else takes its time: nothing, until ``work`` is set."""

    def __init__(self) -> None:
        self.work: Callable[[], object] | None = None

    def __call__(self) -> None:
        if self.work is not None:
            self.work()


class Time:
    """A clock and a way to wait; tests have their own."""

    def __init__(self) -> None:
        import time

        self.monotonic: Callable[[], float] = time.monotonic
        self.sleep: Callable[[float], object] = time.sleep
        self._now = time.time

    def now_ms(self) -> int:
        """The time, in ms."""
        return int(self._now() * 1000)


def waited(opener: Callable[[], OpenedT], timeout_s: float, tell: Tell, time: Time) -> OpenedT:
    """What ``opener`` opens, as soon as it does; LogDirHeldError where that is not within ``timeout_s``."""
    begun, told = time.monotonic(), False
    while True:
        try:
            return opener()
        except LogDirHeldError as busy:
            passed = time.monotonic() - begun
            if passed >= timeout_s:
                raise busy.after(timeout_s) from None
            if passed >= PATIENCE_S and not told:
                tell(f"kafkapy: waiting for {busy.held_by}, which writes to {busy.log_dir}")
                told = True
            time.sleep(min(PAUSE_S, timeout_s - passed))
