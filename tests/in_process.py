"""kafkapy in this process, with its own stdin, stdout and stderr: both the descriptors and Python's streams."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import IO

from kafkapy.cli import main
from tests.tool_server import ToolRun


class TookTooLong(BaseException):
    """Not an Exception: a command that catches those must not catch this."""


def run_kafkapy(args: Sequence[str], stdin: str | None, timeout_s: float, together: bool = False) -> ToolRun:
    """What ``kafkapy`` with these arguments does. Must be called in the main thread, for the sake of the time-out.

    ``together``: errors are in the output, where they came, as on a terminal."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write((stdin or "").encode("utf-8", "surrogateescape"))
        given.seek(0)
        with ExitStack() as stack:
            files = (given, out, out if together else err)
            for number, (file, name) in enumerate(zip(files, ("stdin", "stdout", "stderr"), strict=True)):
                stack.enter_context(_instead(number, file, name))
            code = _main(args, timeout_s)
        run = ToolRun(code, _text(out), _text(err))
    assert "kafkapy: internal error" not in run.out + run.err, run.err
    return run


def _main(args: Sequence[str], timeout_s: float) -> int | None:
    try:
        with _time_limit(timeout_s):
            return main(list(args))
    except TookTooLong:
        return None


@contextmanager
def _time_limit(timeout_s: float) -> Iterator[None]:
    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _instead(number: int, file: IO[bytes], name: str) -> Iterator[None]:
    """The file in the place of a standard descriptor, and of Python's stream on it."""
    saved, stream = os.dup(number), getattr(sys, name)
    os.dup2(file.fileno(), number)
    mode = "r" if name == "stdin" else "w"
    errors = "backslashreplace" if name == "stderr" else "surrogateescape"
    try:
        with open(number, mode, encoding="utf-8", errors=errors, closefd=False) as replacement:
            setattr(sys, name, replacement)
            yield
    finally:
        setattr(sys, name, stream)
        os.dup2(saved, number)
        os.close(saved)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")
