"""What a whole process costs: CPU seconds, wall seconds, peak memory, as the kernel counts them for a child.

CPU seconds are user + system of the process and of the children it waited for. They are the measure, because on a
shared machine wall time says more about the neighbours. ``launcher.py`` starts what is measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import IO

from benchmarks.kafka import BenchmarkError

CHUNK = 1 << 20
ZEROS = bytes(CHUNK)
LAUNCHER = Path(__file__).with_name("launcher.py")
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Cost:
    """One run, or the medians of several."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


def median_cost(costs: Sequence[Cost]) -> Cost:
    """Each number's own median; of the memory the largest, since a budget must hold every time."""
    return Cost(
        median(cost.cpu_s for cost in costs),
        median(cost.wall_s for cost in costs),
        max(cost.peak_bytes for cost in costs),
    )


def measure(command: Sequence[str], output: Path | None, stdin: Path | None = None) -> Cost:
    """Run a command, its standard output to a new file ``output`` or to nowhere; a failing one is an error."""
    return _launch("one", command, output, stdin)


def measure_all(command: Sequence[str]) -> Cost:
    """Run a command, its output to nowhere, and wait for every process that comes of it; a failing one is an error.

    The memory is that of the largest process, not of all.
    """
    return _launch("all", command, None, None)


def _launch(whom: str, command: Sequence[str], output: Path | None, stdin: Path | None) -> Cost:
    told, tells = os.pipe()
    with (
        open(stdin or os.devnull, "rb") as lines,
        open(output or os.devnull, "wb") as out,
        tempfile.TemporaryFile() as errors,
        open(told, "rb") as answer,
    ):
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(tells), whom, *command]
        done = subprocess.Popen(launcher, stdin=lines, stdout=out, stderr=errors, pass_fds=(tells,))
        os.close(tells)
        figures = answer.read().split()
        _require_success(launcher, done.wait(), errors)
        code, cpu_s, wall_s, peak = map(float, figures)
        _require_success(command, int(code), errors)
    return Cost(cpu_s, wall_s, int(peak) * _RSS_UNIT)


def touch_memory(scratch: Path, size: int) -> None:
    """Have ``size`` bytes of free memory that are really there, by filling a file that is then removed.

    A virtual machine may give free memory back to its host, and the next process that fills the page cache pays for
    having it brought again, in system time. To a tool that is done in a second this may be the larger part.
    """
    try:
        with open(scratch, "wb", buffering=0) as file:
            for _ in range(0, size, CHUNK):
                file.write(ZEROS)
    finally:
        scratch.unlink(missing_ok=True)


def require_same_output(first: Sequence[str], second: Sequence[str]) -> int:
    """Run both at once and compare what they print, byte by byte; the number of bytes. A difference is an error."""
    with tempfile.TemporaryFile() as errors_1, tempfile.TemporaryFile() as errors_2:
        process_1 = subprocess.Popen(first, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors_1)
        process_2 = subprocess.Popen(second, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors_2)
        with process_1, process_2:
            assert process_1.stdout is not None
            assert process_2.stdout is not None
            size, difference = _compare(process_1.stdout, process_2.stdout)
        if difference is not None:
            raise BenchmarkError(f"the two outputs differ from byte {difference} on: {first[-3:]}")
        _require_success(first, process_1.returncode, errors_1)
        _require_success(second, process_2.returncode, errors_2)
    return size


def count_lines(command: Sequence[str]) -> int:
    """How many lines a command prints."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        with process:
            assert process.stdout is not None
            lines = 0
            while chunk := process.stdout.read(CHUNK):
                lines += chunk.count(b"\n")
        _require_success(command, process.returncode, errors)
    return lines


def _compare(first: IO[bytes], second: IO[bytes]) -> tuple[int, int | None]:
    """Bytes that are the same, and where the first that is not stands."""
    size = 0
    while True:
        chunk_1, chunk_2 = first.read(CHUNK), second.read(CHUNK)
        if chunk_1 != chunk_2:
            pairs = enumerate(zip(chunk_1, chunk_2, strict=False))
            shorter = min(len(chunk_1), len(chunk_2))
            return size, size + next((at for at, (one, other) in pairs if one != other), shorter)
        if not chunk_1:
            return size, None
        size += len(chunk_1)


def _require_success(command: Sequence[str], returncode: int, errors: IO[bytes]) -> None:
    if returncode != 0:
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()[-500:]
        raise BenchmarkError(f"{' '.join(command)} failed with exit code {returncode}: {said}")
