"""A command for each record: the value on its standard input, the rest in its environment.

    KAFKAPY_TOPIC, KAFKAPY_PARTITION, KAFKAPY_OFFSET, KAFKAPY_TIMESTAMP   where the record came from in the first place
    KAFKAPY_KEY         the key; not set where it is null, or is no text that an environment can hold
    KAFKAPY_KEY_BASE64  the key in base64, where KAFKAPY_KEY cannot have it
    KAFKAPY_HEADERS     [{"key": "k", "value": "v"}, ...]
    KAFKAPY_TOMBSTONE   true where the value is null
    KAFKAPY_ATTEMPT     1, and one more with every retry

What the command writes goes to our own standard output and standard error when it has ended, and the end of what it
wrote to the latter into the headers of a record that failed. All three streams are files, not pipes: a command that
reads nothing, says a lot or leaves a child behind cannot block anything. The command is a process group of its own, so
that a time limit or an interrupt ends all of it.

A command that the shell cannot run says nothing about the record: that is no failure to be retried, but the end.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from kafkapy.backends.retry_topics import OWN_HEADERS, Delay, Origin
from kafkapy.errors import KafkapyError
from kafkapy.formats.record_batch import Record

MEANWHILE_S = 1.0
STDERR_KEPT = 1024
LONGEST_VARIABLE = 1 << 16  # Linux takes 128 KiB for one, name and all
STDOUT, STDERR = 1, 2
CANNOT_RUN = {126: "it is not executable", 127: "it was not found"}  # what a shell means by these exit codes


class Failure(NamedTuple):
    """Why a command did not do it, and the last bytes of its standard error."""

    cause: str
    stderr: bytes


class ExecHandler:
    """Runs one command line through the shell, record by record."""

    def __init__(
        self, command: str, timeout: Delay | None = None, meanwhile: Callable[[], object] | None = None
    ) -> None:
        """``meanwhile`` is called about once a second while a command runs."""
        self._command = command
        self._timeout = timeout
        self._meanwhile = meanwhile
        self._stdin: IO[bytes] = TemporaryFile()  # noqa: SIM115 (kept open from record to record)
        self._stdout: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self._stderr: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self._is_one_stream = _is_one_stream()
        self._is_within_line = False

    def run(self, record: Record, origin: Origin) -> Failure | None:
        """Handle a record; None where the command did it. An error where the shell cannot run it."""
        self._rewrite(self._stdin, record.value or b"")
        self._rewrite(self._stdout, b"")
        self._rewrite(self._stderr, b"")
        process = subprocess.Popen(
            self._command,
            shell=True,
            stdin=self._stdin,
            stdout=self._stdout,
            stderr=self._stderr,
            env={**os.environb, **environment(record, origin)},
            start_new_session=True,
        )
        try:
            cause = self._outcome(process)
        finally:
            self._pass_on(self._stdout, STDOUT)
            self._pass_on(self._stderr, STDERR)
        if process.returncode in CANNOT_RUN:
            raise KafkapyError(
                f"the shell cannot run '{self._command}': {CANNOT_RUN[process.returncode]} (exit code "
                f"{process.returncode}); stopped at offset {origin.offset} of {origin.partition}, which is neither "
                "moved nor committed"
            )
        return None if cause is None else Failure(cause, self._end_of_stderr())

    def end_line(self) -> None:
        """Begin a new line on standard error where the last command left one unfinished."""
        if self._is_within_line:
            os.write(STDERR, b"\n")
            self._is_within_line = False

    def close(self) -> None:
        """Let go of the files."""
        self._stdin.close()
        self._stdout.close()
        self._stderr.close()

    def _outcome(self, process: subprocess.Popen[bytes]) -> str | None:
        try:
            code = self._wait(process, None if self._timeout is None else self._timeout.ms / 1000)
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

    def _wait(self, process: subprocess.Popen[bytes], timeout_s: float | None) -> int:
        if self._meanwhile is None:
            return process.wait(timeout_s)
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = MEANWHILE_S if end is None else min(MEANWHILE_S, max(0.0, end - time.monotonic()))
            try:
                return process.wait(left)
            except subprocess.TimeoutExpired:
                if end is not None and time.monotonic() >= end:
                    raise
                self._meanwhile()

    def _pass_on(self, said: IO[bytes], descriptor: int) -> None:
        size = said.seek(0, os.SEEK_END)
        if not size:
            return
        said.seek(0)
        with open(descriptor, "wb", closefd=False) as ours:
            shutil.copyfileobj(said, ours)
        if descriptor == STDERR or self._is_one_stream:
            said.seek(size - 1)
            self._is_within_line = said.read(1) != b"\n"

    def _end_of_stderr(self) -> bytes:
        said = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, said - 2 * STDERR_KEPT))
        return self._stderr.read().rstrip()[-STDERR_KEPT:]

    @staticmethod
    def _rewrite(file: IO[bytes], data: bytes) -> None:
        file.seek(0)
        file.truncate()
        file.write(data)
        file.flush()
        file.seek(0)


def _is_one_stream() -> bool:
    """Whether output and errors stand in one another's lines."""
    try:
        return os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR))
    except OSError:
        return False


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
