"""Signals that end a command which has something to tidy up.

Only the main thread may say what becomes of a signal; in any other nothing is changed here, as no signal comes there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kafkapy.errors import Terminated


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM ends what is done here as Ctrl-C does: by an exception, so that what was begun is tidied up."""

    def interrupt(_: int, __: object) -> None:
        raise Terminated

    with _handled(interrupt, signal.SIGTERM):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM do not stop what is done here: it tidies up, and ends soon."""
    with _handled(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM):
        yield


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
