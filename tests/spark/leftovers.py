"""What a command on Spark has left: processes that were given its temporary directory, and files in that."""

from __future__ import annotations

import os
import time
from pathlib import Path

PATIENCE_S = 120


def processes(temporary: Path, but: int = 0) -> list[str]:
    """The command lines of processes whose TMPDIR that is, without one process."""
    mine = f"TMPDIR={temporary}".encode()
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if int(pid) != but and mine in Path("/proc", pid, "environ").read_bytes().split(b"\0"):
                found.append(Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # ended meanwhile, or another user's
    return [line for line in found if line]  # one that has ended and was not waited for has no command line


def wait_for_process(temporary: Path, word: str) -> None:
    """Wait until one of them has a word in its command line."""
    deadline = time.monotonic() + PATIENCE_S
    while not any(word in line for line in processes(temporary)):
        assert time.monotonic() < deadline, f"no {word}"
        time.sleep(0.05)


def check_nothing_is_left(temporary: Path, but: int = 0) -> None:
    """Spark's own processes end by themselves, each when it finds that whom it works for has ended; one process may
    be left."""
    deadline = time.monotonic() + PATIENCE_S
    while left := processes(temporary, but):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert list(temporary.iterdir()) == []
