"""What a command costs with all that it started, also what it did not wait for: on Linux, where a process can ask to be
given the orphans of its descendants.

Who waits for them is a process forked for that, which has no other children: the benchmark itself keeps JVMs, for which
it would wait without end, and whose memory would count.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.kafka import BenchmarkError
from benchmarks.measure import Cost

PR_SET_CHILD_SUBREAPER = 36


def measure_all(command: Sequence[str]) -> Cost:
    """Run a command, its output to nowhere, and wait for every process that comes of it; a failing one is an error.

    The memory is that of the largest process, not of all.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as waiting:
        return waiting.submit(_measure, command).result()


def _measure(command: Sequence[str]) -> Cost:
    if sys.platform != "linux" or ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise BenchmarkError("only Linux counts the CPU seconds of orphans")
    started = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, check=False)
        wall_s = time.monotonic() - started
        _wait_for_orphans()
        if done.returncode:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip()[-500:]
            raise BenchmarkError(f"{' '.join(command)} failed with exit code {done.returncode}: {said}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * 1024)


def _wait_for_orphans() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
