"""A session in a process of its own: what it prints on a terminal, how it is interrupted, and what it leaves."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafkapy.errors import UsageError
from kafkapy.spark.session import SparkOptions, check, open_session
from tests.spark.leftovers import check_nothing_is_left

PROGRAM = Path(__file__).with_name("interrupted_job.py")


@contextmanager
def terminal() -> Iterator[tuple[int, bytearray]]:
    """A terminal to write to, and what was written."""
    reading, writing = pty.openpty()
    seen = bytearray()

    def collect() -> None:
        try:
            while data := os.read(reading, 4096):
                seen.extend(data)
        except OSError:
            return

    reader = threading.Thread(target=collect)
    reader.start()
    try:
        yield writing, seen
    finally:
        os.close(writing)
        reader.join()
        os.close(reading)


@pytest.mark.usefixtures("spark")
def test_a_job_on_a_terminal_is_quiet_shows_its_progress_and_can_be_interrupted(root: Path, tmp_path: Path) -> None:
    temporary, written = tmp_path / "temporary", tmp_path / "written"
    temporary.mkdir()
    env = os.environ | {"TMPDIR": str(temporary), "TERM": "xterm", "PYTHONPATH": str(root)}
    with terminal() as (stderr, seen):
        command = [sys.executable, str(PROGRAM), str(written)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=env, cwd=tmp_path) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == "0 0 127.0.0.1\n"
            assert run.stdout.readline() == "[UNRESOLVED_COLUMN.WITH_SUGGESTION\n"
            while b"3/5" not in seen:
                assert run.poll() is None
            run.send_signal(signal.SIGINT)
            assert run.stdout.readline() == "interrupted []\n"
            assert run.stdout.readline() == "0 0\n"
            while not written.exists():
                assert run.poll() is None
            run.send_signal(signal.SIGTERM)
            assert run.stdout.readline() == "terminated\n"
            assert run.stdout.readline() == "done\n"
    assert run.returncode == 0
    text = seen.decode()
    assert "tasks" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is there again"
    for word in ("WARN", "ERROR", "log4j", "log level", "Traceback", "Exception"):
        assert word not in text
    check_nothing_is_left(temporary)
    assert list(tmp_path.iterdir()) == [temporary]


def test_a_session_that_is_there_is_used_and_left(spark: object) -> None:
    with open_session(SparkOptions("spark://nowhere:1")) as session:
        assert session is spark
    assert session.range(3).count() == 3


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (SparkOptions(driver_memory="lots"), "--driver-memory: 'lots' is not a size such as 512m or 4g"),
        (SparkOptions(conf=(("ui.enabled", "true"),)), "--conf: 'ui.enabled' is not a Spark setting"),
    ],
)
def test_what_cannot_be_said(options: SparkOptions, line: str) -> None:
    with pytest.raises(UsageError, match=line):
        check(options)


def test_a_jvm_that_does_not_start_says_why(java_home: str, spark_cache: Path) -> None:
    program = (
        "from kafkapy.spark.session import SparkOptions, open_session\n"
        "with open_session(SparkOptions(conf=(('spark.driver.extraJavaOptions', '-Xss1x'),))): pass"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == "kafkapy.errors.KafkapyError: Spark's JVM did not start: Invalid thread stack size: -Xss1x"
