"""Where output bytes go: a file descriptor, past Python's text layer.

A payload can hold anything. On a terminal, control characters are made visible (``\\x1b``) so that a record cannot move
the cursor or retitle the window; in a pipe or a file the bytes stay exactly what Kafka's tool prints.
"""

from __future__ import annotations

import os

from kafkapy.errors import KafkapyError

Buffer = bytes | bytearray | memoryview


class Sink:
    """Writes whole buffers to a file descriptor."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        self._escape = ControlEscaper() if os.isatty(descriptor) else None

    def write(self, data: Buffer) -> None:
        """Write all of ``data``; a closed pipe is a BrokenPipeError."""
        if self._escape is not None:
            data = self._escape(bytes(data))
        view = memoryview(data)
        while view:
            view = view[self._write_some(view) :]

    def _write_some(self, view: memoryview) -> int:
        try:
            return os.write(self._descriptor, view)
        except BlockingIOError:
            import select

            select.select((), (self._descriptor,), ())
            return 0
        except BrokenPipeError:
            raise  # nobody reads any more: no error
        except OSError as error:
            raise KafkapyError(f"the output cannot be written: {error.strerror}") from None


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
        return self._control.sub(lambda match: b"\\x%02x" % match[0][-1], data)
