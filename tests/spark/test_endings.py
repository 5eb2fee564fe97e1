"""How commands on Spark end before their time: at once, without a word, and with nothing left of JVM and workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.spark.leftovers import check_nothing_is_left, wait_for_process

ENDLESS = "SELECT count(*) FROM range(100000000000000) CROSS JOIN records"


@contextmanager
def started(statement: str, brokers: list[str], temporary: Path, root: Path) -> Iterator[subprocess.Popen[str]]:
    """``kafkapy sql`` with a process group of its own; it ends with a test that fails, too."""
    temporary.mkdir()
    command = ["sql", statement, "--output", "jsonl", "--master", "local[2]", "--log-dirs", ",".join(brokers)]
    with subprocess.Popen(
        [sys.executable, "-m", "kafkapy", *command],
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    ) as running:  # fmt: skip
        try:
            yield running
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            raise


@pytest.mark.usefixtures("java_home", "spark_cache")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_signal(number: signal.Signals, code: int, brokers: list[str], tmp_path: Path, root: Path) -> None:
    temporary = tmp_path / "a temporary directory"
    with started(ENDLESS, brokers, temporary, root) as running:
        wait_for_process(temporary, "-m kafkapy.spark.daemon")
        for _ in range(2):
            os.killpg(running.pid, number)
        assert running.communicate() == ("", "")
    assert running.returncode == code
    check_nothing_is_left(temporary)


@pytest.mark.usefixtures("java_home", "spark_cache")
def test_a_reader_that_has_seen_enough(brokers: list[str], tmp_path: Path, root: Path) -> None:
    temporary = tmp_path / "temporary"
    with started("SELECT id FROM range(0, 10000000, 1, 1000)", brokers, temporary, root) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == '{"id":0}\n'
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 141
    check_nothing_is_left(temporary)
