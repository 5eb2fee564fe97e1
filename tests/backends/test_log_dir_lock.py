"""The lock of a log dir: one process at a time, and the error says which."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafkapy.backends.log_dir_lock import LogDirLock
from kafkapy.errors import KafkapyError

HOLD = """
import sys
from kafkapy.backends.log_dir_lock import LogDirLock
lock = LogDirLock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
lock.release()
"""


@contextmanager
def another_process(directory: Path, root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory)],
        cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_the_error_names_the_holder(tmp_path: Path, root: Path) -> None:
    with another_process(tmp_path, root) as process:
        with pytest.raises(KafkapyError, match=f"{tmp_path} is held by process {process.pid} \\(python"):
            LogDirLock(str(tmp_path))
        assert (tmp_path / ".lock").exists()
    LogDirLock(str(tmp_path)).release()


def test_a_clean_release_leaves_no_file(tmp_path: Path, root: Path) -> None:
    with another_process(tmp_path, root):
        assert (tmp_path / ".lock").exists()
    assert not (tmp_path / ".lock").exists()


def test_a_file_left_by_a_killed_process_means_nothing(tmp_path: Path, root: Path) -> None:
    with another_process(tmp_path, root) as process:
        process.kill()
        process.wait()
        assert (tmp_path / ".lock").exists()
        LogDirLock(str(tmp_path)).release()
    assert not (tmp_path / ".lock").exists()


def test_a_lock_on_a_file_that_was_removed_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder removes the file between another's open and its lock."""
    real, opens = os.open, 0

    def open_and_remove(path: str, flags: int, mode: int = 0o777) -> int:
        nonlocal opens
        opens += 1
        descriptor = real(path, flags, mode)
        if opens == 1:
            os.unlink(path)
        return descriptor

    monkeypatch.setattr(os, "open", open_and_remove)
    lock = LogDirLock(str(tmp_path))
    assert opens == 2
    assert (tmp_path / ".lock").exists()
    lock.release()


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        LogDirLock(str(tmp_path / "none"))
