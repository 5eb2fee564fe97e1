"""A real Kafka broker that shares a JVM with others, for the tests that start, ask and stop brokers in good order.

It starts in a fraction of the time of one that is a process of its own, since its classes are loaded and compiled
already. It cannot be killed or paused.
"""

from __future__ import annotations

import subprocess
import time
from functools import cache
from pathlib import Path

from tests.tool_server import JavaServer, kept_to_the_end

POLL_S = 0.05


class HostedBroker:
    """To be used as ``subprocess.Popen``, as far as it goes."""

    def __init__(self, properties: Path, log: Path) -> None:
        self._log = log
        self._number = _host().ask({"op": "start", "properties": str(properties)})["broker"]

    def poll(self) -> int | None:
        """None while it runs, 0 when it has ended, 1 when something went wrong; that is in its log."""
        answer = _host().ask({"op": "state", "broker": self._number})
        if answer.get("error"):
            self._log.write_text(answer["error"])
            return 1
        return 0 if answer.get("ended", True) else None

    def terminate(self) -> None:
        """Let it hand over what it leads, and end."""
        _host().ask({"op": "stop", "broker": self._number})

    def wait(self, timeout: float) -> int:
        """Its exit code."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a broker", timeout)
            time.sleep(POLL_S)
        return code


@cache
def _host() -> JavaServer:
    return kept_to_the_end(lambda log: JavaServer("BrokerServer", log, heap="1g"))
