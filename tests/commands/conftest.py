"""The golden sets, and kafkapy in this process, which starts at no cost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from tests.golden_set import golden, zk_era
from tests.in_process import run_kafkapy

__all__ = ["golden", "zk_era"]

TIMEOUT_S = 120.0


@pytest.fixture(scope="session")
def kafkapy(root: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ``kafkapy`` from the top of the checkout. Tests that are about a process start one themselves."""

    def run(*args: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        with chdir(root):
            done = run_kafkapy(args, input, TIMEOUT_S)
        assert done.code is not None, f"{args}: did not end"
        return subprocess.CompletedProcess(args, done.code, done.out, done.err)

    return run
