"""The Java programs of the tests, compiled all together and once: left to the launcher of source files, each of their
starts would compile anew, which takes longer than most of them run.

The classes are beside Kafka's jars, in a directory whose name tells what they were compiled from. It gets that name
when it is complete, and of two processes that race one wins and the other uses what it finds.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests.kafka_jars import move_into_place

_SOURCES = Path(__file__).parent
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@cache
def compiled_classes(java: str, libs: Path) -> Path:
    """The directory of the classes."""
    sources = sorted(_SOURCES.glob("*/*.java"))
    told = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    classes = libs.parent / f"{libs.name}-tests-{told}"
    if not classes.is_dir():
        with tempfile.TemporaryDirectory(dir=libs.parent, prefix="classes.") as work:
            made = Path(work, "classes")
            _compile(java, libs, sources, made)
            move_into_place(made, classes)
    return classes


def _compile(java: str, libs: Path, sources: list[Path], classes: Path) -> None:
    compiler = [java, *_QUICK, "--module", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-XDsuppressNotes"]
    path = os.pathsep.join(map(str, sorted(libs.glob("*.jar"))))
    done = subprocess.run(
        [*compiler, "-d", str(classes), "-cp", path, *map(str, sources)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "jdk.compiler not found" in done.stdout + done.stderr:
        import pytest

        pytest.skip("this Java has no compiler")
    assert done.returncode == 0, done.stderr
