"""JVMs that stay for a whole session: one runs Kafka's tools, which then take tenths of a second, another has clients.

A request is a line of JSON on the JVM's standard input, the answer a line on its standard output. A JVM starts with its
first request, and ends with the end of its standard input. One that does not answer in
time is ended, and the next request gets a new one.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from tests.kafka_java import ending_with_us, kafka_java

TIMEOUT_S = 60.0
STOP_S = 10.0

_PACKAGE = "org.apache.kafka.tools"
_ELSEWHERE = {
    "ConfigCommand": "kafka.admin.ConfigCommand",
    "ConsoleConsumer": f"{_PACKAGE}.consumer.ConsoleConsumer",
    "ConsoleShareConsumer": f"{_PACKAGE}.consumer.ConsoleShareConsumer",
    "ConsumerGroupCommand": f"{_PACKAGE}.consumer.group.ConsumerGroupCommand",
    "ShareGroupCommand": f"{_PACKAGE}.consumer.group.ShareGroupCommand",
    "StreamsGroupCommand": f"{_PACKAGE}.streams.StreamsGroupCommand",
    "ReassignPartitionsCommand": f"{_PACKAGE}.reassign.ReassignPartitionsCommand",
    "StorageTool": "kafka.tools.StorageTool",
}


class ToolRun(NamedTuple):
    """What a tool did. ``code`` is None where it was stopped because it took too long."""

    code: int | None
    out: str
    err: str

    @property
    def timed_out(self) -> bool:
        return self.code is None

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class JavaServerError(Exception):
    """The JVM could not do what it was asked to."""


class JavaServer:
    """A Java program that answers requests."""

    def __init__(self, program: str, log: Path, *args: str, heap: str = "256m") -> None:
        java = kafka_java(program, f"-Xmx{heap}", "-Dfile.encoding=UTF-8")
        self._command = ending_with_us([*java, *args])
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
        """The answer. Without one, or with the last words of a JVM that ends by itself or has to be ended, the JVM is
        ended, and ``status`` is its exit status, or None where it took too long."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        line = self._line(process, timeout_s)
        answer: dict[str, Any] = json.loads(line) if line else {}
        if line and answer.get("code", 0) is not None:
            return answer
        status: int | None = None
        if line is None:
            process.terminate()
            last = self._line(process, STOP_S)
            answer = json.loads(last) if last else {}
        else:
            status = process.wait(STOP_S)
        self.close()
        return answer | {"status": status}

    def close(self) -> None:
        """End the JVM."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0
                )
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[bytes], timeout_s: float) -> bytes | None:
        """The next line; empty if the JVM has ended, None after the time-out."""
        assert process.stdout is not None
        deadline = time.monotonic() + timeout_s
        line = bytearray()
        ready = select.poll()
        ready.register(process.stdout, select.POLLIN)
        while not line.endswith(b"\n"):
            if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return None
            chunk = os.read(process.stdout.fileno(), 1 << 20)
            if not chunk:
                return b""
            line += chunk
        return bytes(line)


Server = TypeVar("Server", bound=JavaServer)


class ToolServer(JavaServer):
    """Kafka's tools."""

    def __init__(self, log: Path) -> None:
        super().__init__("ToolServer", log)

    def run(self, tool: str, args: Sequence[str], stdin: str | None = None, timeout_s: float = TIMEOUT_S) -> ToolRun:
        """Run a tool by its class's name, without the package for those that ``bin/*.sh`` have."""
        request = {"tool": tool_class(tool), "args": list(args), "stdin": stdin or ""}
        answer = self.ask(request, timeout_s)
        if "out" not in answer and answer["status"] is not None:
            raise JavaServerError(f"the JVM that runs {tool} has ended:\n{self._log.read_text(errors='replace')}")
        code = answer["status"] if answer.get("code") is None else answer["code"]
        return ToolRun(code, _text(answer.get("out")), _text(answer.get("err")))


@cache
def shared_tools() -> ToolServer:
    """The one of this process: a JVM that has run a tool for one cluster runs it faster for the next."""
    return kept_to_the_end(ToolServer)


def kept_to_the_end(make: Callable[[Path], Server]) -> Server:
    """A server that ends with this process; it is made with the file for what its JVM says on stderr."""
    directory = TemporaryDirectory(prefix="kafkapy-jvm-")
    server = make(Path(directory.name, "jvm.err"))
    atexit.register(directory.cleanup)
    atexit.register(server.close)
    return server


def tool_class(tool: str) -> str:
    """The full name of a tool's class."""
    if tool.startswith(("org.", "kafka.")):
        return tool
    return _ELSEWHERE.get(tool, f"{_PACKAGE}.{tool}")


def _text(encoded: str | None) -> str:
    """What was printed, with every byte that is no UTF-8 kept apart from the others."""
    return base64.b64decode(encoded or "").decode("utf-8", "surrogateescape")
