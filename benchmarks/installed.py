"""The kafkapy that is measured: a wheel of the checkout, compiled kernel included, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.kafka import BenchmarkError

_KERNEL_IS_COMPILED = "from kafkapy.kernel.kernel import COMPILED; raise SystemExit(not COMPILED)"


def install(root: Path, directory: Path) -> Path:
    """Build and install the checkout into a new environment; its ``kafkapy``."""
    environment = directory / "venv"
    python = environment / "bin" / "python"
    _run(sys.executable, "-m", "venv", str(environment))
    _run(str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{root}[spark]")
    # Not in the checkout, whose modules would be imported in the place of the installed ones.
    if subprocess.run([str(python), "-c", _KERNEL_IS_COMPILED], cwd=directory, check=False).returncode != 0:
        raise BenchmarkError("the wheel has no compiled kernel: is a C compiler installed, and KAFKAPY_NO_EXT unset?")
    return environment / "bin" / "kafkapy"


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(command)} failed: {done.stdout.strip()[-500:]}")
