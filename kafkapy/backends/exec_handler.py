"""A command for each record: the value on its standard input, the rest in its environment.

    KAFKAPY_TOPIC, KAFKAPY_PARTITION, KAFKAPY_OFFSET, KAFKAPY_TIMESTAMP   where the record came from in the first place
    KAFKAPY_KEY         the key; not set where it is null, or is no text that an environment can hold
    KAFKAPY_KEY_BASE64  the key in base64, where KAFKAPY_KEY cannot have it
    KAFKAPY_HEADERS     [{"key": "k", "value": "v"}, ...]
    KAFKAPY_TOMBSTONE   true where the value is null
    KAFKAPY_ATTEMPT     1, and one more with every retry

The command's standard output is ours. Its standard error goes to ours when it has ended, and the end of it into the
headers of a record that failed. Both streams that are not ours are files, not pipes: a command that reads nothing, says
a lot or leaves a child behind cannot block anything. The command is a process group of its own, so that a time limit or
an interrupt ends all of it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from kafkapy.backends.retry_topics import OWN_HEADERS, Delay, Origin
from kafkapy.formats.record_batch import Record

STDERR_KEPT = 1024
LONGEST_VARIABLE = 1 << 16  # Linux takes 128 KiB for one, name and all
STDERR = 2


class Failure(NamedTuple):
    """Why a command did not do it, and the last bytes of its standard error."""

    cause: str
    stderr: bytes


class ExecHandler:
    """Runs one command line through the shell, record by record."""

    def __init__(self, command: str, timeout: Delay | None = None) -> None:
        self._command = command
        self._timeout = timeout
        self._stdin: IO[bytes] = TemporaryFile()  # noqa: SIM115 (kept open from record to record)
        self._stderr: IO[bytes] = TemporaryFile()  # noqa: SIM115

    def run(self, record: Record, origin: Origin) -> Failure | None:
        """Handle a record; None where the command did it."""
        self._rewrite(self._stdin, record.value or b"")
        self._rewrite(self._stderr, b"")
        process = subprocess.Popen(
            self._command,
            shell=True,
            stdin=self._stdin,
            stderr=self._stderr,
            env={**os.environb, **environment(record, origin)},
            start_new_session=True,
        )
        cause = self._outcome(process)
        said = self._said()
        return None if cause is None else Failure(cause, said.rstrip()[-STDERR_KEPT:])

    def close(self) -> None:
        """Let go of the files."""
        self._stdin.close()
        self._stderr.close()

    def _outcome(self, process: subprocess.Popen[bytes]) -> str | None:
        try:
            code = process.wait(None if self._timeout is None else self._timeout.ms / 1000)
        except subprocess.TimeoutExpired:
            _end(process)
            assert self._timeout is not None
            return f"not done within {self._timeout.text}"
        except BaseException:
            _end(process)
            raise
        if code == 0:
            return None
        return f"exit code {code}" if code > 0 else f"killed by {_signal_name(-code)}"

    def _said(self) -> bytes:
        self._stderr.seek(0)
        said = self._stderr.read()
        if said:
            with open(STDERR, "wb", closefd=False) as ours:
                ours.write(said)
        return said

    @staticmethod
    def _rewrite(file: IO[bytes], data: bytes) -> None:
        file.seek(0)
        file.truncate()
        file.write(data)
        file.flush()
        file.seek(0)


def environment(record: Record, origin: Origin) -> dict[bytes, bytes]:
    """The variables that tell a command about a record."""
    told: dict[str, bytes | str | int] = {
        "TOPIC": origin.partition.topic,
        "PARTITION": origin.partition.partition,
        "OFFSET": origin.offset,
        "TIMESTAMP": origin.timestamp,
        "ATTEMPT": origin.attempts + 1,
        "HEADERS": _headers_json(record),
    }
    if record.value is None:
        told["TOMBSTONE"] = "true"
    if record.key is not None:
        told |= _key(record.key)
    encoded = {b"KAFKAPY_" + name.encode(): _bytes(value) for name, value in told.items()}
    return {name: value for name, value in encoded.items() if len(value) <= LONGEST_VARIABLE}


def _key(key: bytes) -> dict[str, bytes]:
    if b"\0" not in key:
        return {"KEY": key}
    from base64 import b64encode

    return {"KEY_BASE64": b64encode(key)}


def _headers_json(record: Record) -> str:
    import json

    shown = [header for header in record.headers if header.key not in OWN_HEADERS]
    return json.dumps([{"key": key, "value": None if value is None else _text(value)} for key, value in shown])


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _bytes(value: bytes | str | int) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _end(process: subprocess.Popen[bytes]) -> None:
    from contextlib import suppress

    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
