"""The command that runs a class of Kafka's, or a Java program of the tests, in a JVM that starts fast."""

from __future__ import annotations

import shutil

from tests.class_archive import quick_start
from tests.java_classes import compiled_classes
from tests.kafka_jars import kafka_libs


def kafka_java(main: str, *options: str) -> list[str]:
    """``java`` with a class of Kafka's jars or of the tests, whose arguments come next. The latter are behind the jars:
    the archive is of what comes first. Skips the test where there is no Kafka."""
    libs = kafka_libs()
    java = shutil.which("java")
    assert java is not None
    path = f"{libs}/*:{compiled_classes(java, libs)}"
    return [java, *quick_start(libs), "-Xmx512m", *options, "-cp", path, main]


def ending_with_us(command: list[str]) -> list[str]:
    """The command of a child that is killed when this process ends in whatever way, where the system can do that."""
    return ["setpriv", "--pdeathsig", "KILL", *command] if shutil.which("setpriv") else command
