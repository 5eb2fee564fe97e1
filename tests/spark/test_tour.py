"""The step of ``kafkapy tour`` that needs Spark."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.tour.transcript import environment, tour


@pytest.mark.usefixtures("spark_cache")
def test_the_step_on_spark(java_home: str, tmp_path: Path) -> None:
    done = tour("--step", "sql", env=environment(os.environ["PATH"], JAVA_HOME=java_home, TMPDIR=str(tmp_path)))
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\ncustomer +\| orders\n-+\+-+\nada +\| +2\nbob +\| +2\n", done.stdout)
    assert done.stdout.endswith("  # ada comes first, with 2 orders.\n")
