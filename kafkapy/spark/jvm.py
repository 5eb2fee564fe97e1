"""The JVM of a session: a process that ends with ours, and whose chatter nobody sees.

Spark writes to stdout and stderr before any of its settings count, so both go to a nameless file. When the JVM does
not come up, the line in it that says why is what is told.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from kafkapy.errors import KafkapyError

if TYPE_CHECKING:
    from pyspark import SparkConf

_END_SECONDS = 120
"""How long a JVM may take to end: it may have an archive of classes to write."""

_EMPTY_WORDS = ("Error: Could not create", "Error: A fatal", "Error occurred during initialization", "WARNING:")
"""Lines that stand around the one which says what is wrong."""


class Jvm:
    """Spark's driver, and Py4J's way to it (``gateway``)."""

    def __init__(self, conf: SparkConf, is_quiet: bool) -> None:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.java_gateway import launch_gateway

        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - end() closes it
        streams = {"stdout": self._log, "stderr": self._log} if is_quiet else {}
        try:
            self.gateway: Any = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
        except PySparkRuntimeError:
            raise KafkapyError(f"Spark's JVM did not start: {self._last_words()}") from None

    def end(self) -> bool:
        """Have the JVM end, and wait for it; the result tells whether it ended well."""
        process = self.gateway.proc
        with suppress(Exception):  # the JVM may be gone already
            self.gateway.shutdown()
        process.stdin.close()
        try:
            return bool(process.wait(_END_SECONDS) == 0)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        finally:
            self._log.close()

    def kill(self) -> None:
        """End the JVM at once."""
        self.gateway.proc.kill()
        self.gateway.proc.wait()

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines()]
        lines = [line for line in lines if line and not line.startswith(_EMPTY_WORDS)]
        telling = (line for line in lines if "error" in line.lower() or "exception" in line.lower())
        return next(telling, lines[-1] if lines else "it said nothing")


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Have these in the environment, since Spark's scripts take them from there only."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
