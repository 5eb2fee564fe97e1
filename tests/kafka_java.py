"""The command that runs a class of Kafka's, or a source file that uses some, in a JVM that starts fast."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.class_archive import quick_start
from tests.kafka_jars import kafka_libs


def kafka_java(*options: str, classes: Path | None = None) -> list[str]:
    """``java`` with Kafka's jars, and more classes behind them, for the archive is of the first; the class or the file
    comes next. Skips the test where there is no Kafka."""
    libs = kafka_libs()
    java = shutil.which("java")
    assert java is not None
    path = f"{libs}/*" if classes is None else f"{libs}/*:{classes}"
    return [java, *quick_start(libs), "-Xmx512m", *options, "-cp", path]


def ending_with_us(command: list[str]) -> list[str]:
    """The command of a child that is killed when this process ends in whatever way, where the system can do that."""
    return ["setpriv", "--pdeathsig", "KILL", *command] if shutil.which("setpriv") else command
