"""Where output bytes go: a file descriptor, past Python's text layer.

A payload can hold anything. On a terminal, control characters are made visible (``\\x1b``) so that a record cannot move
the cursor or retitle the window; in a pipe or a file the bytes stay exactly what Kafka's tool prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafkapy.errors import KafkapyError

if TYPE_CHECKING:
    import re

MEANWHILE_MS = 1_000
# As poll(2) numbers them; the module is imported when there is something to wait for.
POLLOUT, POLLERR, POLLHUP = 4, 8, 16
GONE = POLLERR | POLLHUP

Buffer = bytes | bytearray | memoryview


class Sink:
    """Writes whole buffers to a file descriptor. Where ``meanwhile`` is given, it is called about once a second for as
    long as nobody reads what was written; then no more is written at once than a pipe takes without blocking."""

    def __init__(self, descriptor: int = 1, meanwhile: Callable[[], object] | None = None) -> None:
        self._descriptor = descriptor
        self._meanwhile = meanwhile if meanwhile is not None and may_block(descriptor) else None
        self._is_last_word = meanwhile is None
        self._escape = ControlEscaper() if os.isatty(descriptor) else None

    def write(self, data: Buffer) -> None:
        """Write all of ``data``; a closed pipe is a BrokenPipeError, also where there is nothing to write."""
        if not data:
            self._check_reader()
        if self._escape is not None:
            data = self._escape(bytes(data))
        view = memoryview(data)
        while view:
            view = view[self._write_some(view if self._meanwhile is None else view[: self._room()]) :]

    def drain(self, data: bytearray) -> None:
        """Write all of ``data`` and take out of it what is written, also where an interrupt comes in between: with
        ``meanwhile``, what is left was not written, so that whoever goes on writes all of it and nothing twice (on a
        terminal a part may come twice); without, an interrupt drops the rest."""
        if self._is_last_word:
            rest = bytes(data)
            data.clear()
            self.write(rest)
        elif self._escape is not None:
            self.write(data)
            data.clear()
        else:
            self._drain(data)

    def _drain(self, data: bytearray) -> None:
        if not data:
            self._check_reader()
        while data:
            most = len(data) if self._meanwhile is None else self._room()
            with _signals_held():
                del data[: self._write_some(data[:most])]

    def _check_reader(self) -> None:
        if self._wait_for(0, 0) & GONE:
            raise BrokenPipeError

    def _room(self) -> int:
        """How much can be written without waiting, when that is something."""
        from select import PIPE_BUF

        while not self._wait_for(POLLOUT, MEANWHILE_MS):
            assert self._meanwhile is not None
            self._meanwhile()
        return PIPE_BUF

    def _wait_for(self, events: int, timeout_ms: int | None) -> int:
        """What has happened to the descriptor, 0 for nothing; that its reader is gone is always told."""
        from select import poll

        watched = poll()
        watched.register(self._descriptor, events)
        return next((event for _, event in watched.poll(timeout_ms)), 0)

    def _write_some(self, view: Buffer) -> int:
        try:
            return os.write(self._descriptor, view)
        except BlockingIOError:
            self._wait_for(POLLOUT, None)
            return 0
        except BrokenPipeError:
            raise  # nobody reads any more: no error
        except OSError as error:
            raise KafkapyError(f"the output cannot be written: {error.strerror}") from None


@contextmanager
def _signals_held() -> Iterator[None]:
    """Signals that come meanwhile are handled at the end; for what does not wait."""
    from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, SIGTERM, pthread_sigmask

    before = pthread_sigmask(SIG_BLOCK, ())
    try:
        pthread_sigmask(SIG_BLOCK, (SIGINT, SIGTERM))
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


def may_block(descriptor: int) -> bool:
    """Whether a write may have to wait for a reader."""
    import stat

    try:
        return not stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False


class ControlEscaper:
    """Makes control characters visible, but for tab and newline; keeps a sequence that a buffer's end cuts in two."""

    def __init__(self) -> None:
        import re

        self._control = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
        self._held = b""

    def __call__(self, data: bytes) -> bytes:
        data = self._held + data
        self._held = data[-1:] if data.endswith(b"\xc2") else b""
        if self._held:
            data = data[:-1]
        return self._control.sub(_visible, data)


def _visible(match: re.Match[bytes]) -> bytes:
    """What JSON leaves as it is, in a way that keeps it JSON."""
    code = match[0][-1]
    return (b"\\x%02x" if code < 0x7F else b"\\u%04x") % code
