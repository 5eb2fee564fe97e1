"""Signals that end a command which has something to tidy up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from kafkapy.errors import Terminated


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM ends what is done here as Ctrl-C does: by an exception, so that what was begun is tidied up."""

    def interrupt(_: int, __: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
