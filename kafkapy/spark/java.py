"""The Java that runs Spark: the first of JAVA_HOME's and PATH's that is new enough.

A Java tells its version in a file ``release`` beside its ``bin``; one without it is asked, which takes a JVM's start.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.optional_packages import check_installed

OLDEST = 17
_RELEASE = re.compile(r'^JAVA_VERSION="([^"]+)"', re.MULTILINE)
_ANSWER = re.compile(r'version "([^"]+)"')
_ASK_SECONDS = 30


class Java(NamedTuple):
    """``version`` is as Java tells it: 17.0.15, and 1.8.0_402 for Java 8."""

    home: str
    version: str

    @property
    def feature(self) -> int:
        """The number by which a Java is known: 8, 17, 21; 0 where the version is not one."""
        found = re.match(r"(?:1\.)?([0-9]+)", self.version)
        return 0 if found is None else int(found[1])


def find_java() -> Java:
    """The Java to run Spark with."""
    too_old = []
    for home in _homes():
        version = _version(home)
        if version is None:
            continue
        java = Java(home, version)
        if java.feature >= OLDEST:
            return java
        too_old.append(f"{home} has {version}")
    if too_old:
        raise KafkapyError(
            f"Spark needs Java {OLDEST} or newer, and {', '.join(too_old)}: set JAVA_HOME to a newer one"
        )
    named = os.environ.get("JAVA_HOME")
    where = f" on the PATH, nor in JAVA_HOME={named}" if named else ""
    raise KafkapyError(
        f"Spark needs Java {OLDEST} or newer, but there is none{where}: install it, or set JAVA_HOME to it"
    )


def _homes() -> Iterator[str]:
    home = os.environ.get("JAVA_HOME")
    if home and os.access(os.path.join(home, "bin", "java"), os.X_OK):
        yield home
    on_path = shutil.which("java")
    if on_path is not None:
        yield os.path.dirname(os.path.dirname(os.path.realpath(on_path)))


def _version(home: str) -> str | None:
    with suppress(OSError), open(os.path.join(home, "release"), encoding="utf-8", errors="replace") as release:
        if found := _RELEASE.search(release.read()):
            return found[1]
    command = [os.path.join(home, "bin", "java"), "-version"]
    with suppress(OSError, subprocess.TimeoutExpired):
        asked = subprocess.run(command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=False)
        if found := _ANSWER.search(asked.stderr):
            return found[1]
    return None


def check_pyspark() -> None:
    """Refuse to go on without PySpark and what its Arrow needs."""
    check_installed("pyspark", "pyarrow")
