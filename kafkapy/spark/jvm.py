"""The JVM of a session: a process of ours that ends with us, and whose chatter nobody sees.

It has a session of processes for itself, so that Ctrl-C of a terminal is ours alone. It ends when its stdin does: as
soon as we close that, or are no more. Everything that it writes lies in one directory, so nothing is left where it had
to be killed; where we are killed, it removes that directory itself as it ends.

Spark writes to stdout and stderr before any of its settings count, so both go to a nameless file. When the JVM does
not come up, the line in it that says why is what is told.
"""

from __future__ import annotations

import os
import shlex
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, TypeVar

from kafkapy.errors import KafkapyError
from kafkapy.spark.conversation import Conversation

if TYPE_CHECKING:
    from pyspark import SparkConf

T = TypeVar("T")

_LOOK_SECONDS = 0.05
_LAST_WORDS_SECONDS = 5
_EMPTY_WORDS = ("Error: Could not create", "Error: A fatal", "Error occurred during initialization", "WARNING:")
"""Lines that stand around the one which says what is wrong."""


class Jvm:
    """Spark's driver, with a directory for what it writes."""

    def __init__(self, conf: SparkConf, directory: str, is_quiet: bool) -> None:
        self._directory = directory
        self._address_file = os.path.join(directory, "address")
        self._talk: Conversation[Any] | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - end() closes it
        self._process = subprocess.Popen(
            _command(conf),
            stdin=subprocess.PIPE,
            stdout=self._log if is_quiet else None,
            stderr=self._log if is_quiet else None,
            env={**os.environ, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": self._address_file},
            start_new_session=True,
        )

    def wait_until_it_listens(self) -> None:
        """Wait for Py4J's end of it."""
        while not os.path.exists(self._address_file):
            if self._process.poll() is not None:
                raise KafkapyError(f"Spark's JVM did not start: {self._last_words()}")
            time.sleep(_LOOK_SECONDS)

    def connect(self) -> Any:
        """Py4J's way to it."""
        from pyspark.java_gateway import launch_gateway

        with open(self._address_file, "rb") as file:
            port, size = struct.unpack(">ii", file.read(8))
            secret = file.read(size).decode()
        os.unlink(self._address_file)
        with environment({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
            gateway = launch_gateway()  # type: ignore[no-untyped-call]
        gateway.jvm.java.io.File(self._directory).deleteOnExit()
        return gateway

    @property
    def is_up(self) -> bool:
        """Whether there is a session."""
        return self._talk is not None and self._talk.has_ended()

    def talk(self, action: Callable[[], T]) -> T:
        """What comes of an action that talks to it."""
        self._talk = talk = Conversation(action)
        talk.start()
        return talk.result()

    def end(self, seconds: float) -> bool:
        """Have the JVM end, for which it has so much time; the result tells whether it ended well."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        code = self._process.wait()
        self._log.close()
        if self._talk is not None:
            self._talk.has_ended(_LAST_WORDS_SECONDS)
        return code == 0

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines()]
        lines = [line for line in lines if line and not line.startswith(_EMPTY_WORDS)]
        telling = (line for line in lines if "error" in line.lower() or "exception" in line.lower())
        return next(telling, lines[-1] if lines else "it said nothing")


def _command(conf: SparkConf) -> list[str]:
    from pyspark.find_spark_home import _find_spark_home

    settings = (part for name, value in conf.getAll() for part in ("--conf", f"{name}={value}"))
    rest = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    return [os.path.join(_find_spark_home(), "bin", "spark-submit"), *settings, *rest]


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
