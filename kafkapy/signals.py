"""Signals that end a command: what is tidied up then, and what they wait for.

Only the main thread may say what becomes of a signal; in any other nothing is changed here, as no signal comes there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from kafkapy.errors import Terminated


@contextmanager
def terminated_like_interrupted(*others: signal.Signals) -> Iterator[None]:
    """SIGTERM ends what is done here as Ctrl-C does: by an exception, so that what was begun is tidied up. So do
    ``others``, but for those that are ignored, as SIGHUP under nohup."""

    def interrupt(_: int, __: object) -> None:
        raise Terminated

    heard = [number for number in others if signal.getsignal(number) is not signal.SIG_IGN]
    with _handled(interrupt, signal.SIGTERM, *heard):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM do not stop what is done here: it tidies up, and ends soon."""
    with _handled(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM):
        yield


class HeldSignals:
    """Ctrl-C, and SIGTERM where it does not just kill, wait for the end of what is done here, or for a place in it that
    lets them through; a second one does not wait. Inside another it does nothing: that one holds them already."""

    def __init__(self, told: Callable[[], object] = lambda: None) -> None:
        self._told = told
        self._before: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._came: list[int] = []
        self._is_open = False

    @property
    def insisted(self) -> bool:
        """Whether a second one came."""
        return len(self._came) > 1

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler) and not isinstance(getattr(handler, "__self__", None), HeldSignals):
                    self._before[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if len(self._came) == 1 and not self._is_open:
            signal.raise_signal(self._came[0])

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """What may be ended here, also by one that came before."""
        self._is_open = True
        if self._came:
            self._before[self._came[0]](self._came[0], None)
        yield
        self._is_open = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append(number)
        if len(self._came) == 1:
            self._told()
        if self._is_open or self.insisted:
            self._before[number](number, frame)


@contextmanager
def _handled(handler: Callable[[int, Any], object] | signal.Handlers, *numbers: signal.Signals) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, handled in before:
            signal.signal(number, handled)
