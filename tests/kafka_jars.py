"""Apache Kafka's own jars, for the tests that ask Kafka itself and the benchmarks that measure it.

Maven brings them once into a cache: ``$KAFKAPY_TEST_CACHE``, else ``.cache`` at the root of the checkout. They are
fetched into a directory beside the final one that is renamed when it is complete, so a broken download never looks
whole, and of two processes that race one wins and the other uses what it finds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

KAFKA_VERSION = "4.3.1"

_ARTIFACTS = (
    ("org.apache.kafka", "kafka_2.13", KAFKA_VERSION),
    ("org.apache.kafka", "kafka-tools", KAFKA_VERSION),
    ("org.apache.kafka", "kafka-shell", KAFKA_VERSION),
    ("org.slf4j", "slf4j-nop", "1.7.36"),
)
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkapy</groupId>
  <artifactId>kafka-jars</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""


class KafkaMissingError(Exception):
    """Kafka's jars cannot be had here, or nothing can run them; the text says why."""


def kafka_libs() -> Path:
    """The directory of ``bring_kafka_libs``; skips the test where that fails."""
    import pytest

    try:
        return bring_kafka_libs()
    except KafkaMissingError as missing:
        pytest.skip(str(missing))


def bring_kafka_libs() -> Path:
    """The directory that holds Kafka's jars and all they need, fetched if they are not there yet."""
    if shutil.which("java") is None:
        raise KafkaMissingError("java is not installed")
    libs = _cache() / f"kafka-{KAFKA_VERSION}-libs"
    if not libs.is_dir():
        _fetch(libs)
    return libs


def _cache() -> Path:
    named = os.environ.get("KAFKAPY_TEST_CACHE")
    return Path(named) if named else Path(__file__).resolve().parent.parent / ".cache"


def _fetch(libs: Path) -> None:
    if shutil.which("mvn") is None:
        raise KafkaMissingError("mvn is not installed, so Kafka's jars cannot be fetched")
    libs.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=libs.parent, prefix=f"{libs.name}.") as work:
        pom = Path(work, "pom.xml")
        pom.write_text(_POM.format(dependencies="\n".join(_dependency(*artifact) for artifact in _ARTIFACTS)))
        fetched = Path(work, "libs")
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={fetched}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            reason = next((line for line in done.stdout.splitlines() if "ERROR" in line), "no reason given")
            raise KafkaMissingError(f"Maven could not fetch Kafka's jars: {reason}")
        move_into_place(fetched, libs)


def _dependency(group: str, artifact: str, version: str) -> str:
    return (
        f"    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
    )


def move_into_place(made: Path, wanted: Path) -> None:
    """Rename a directory, unless another process was faster: one cannot be renamed onto another that has files."""
    try:
        made.rename(wanted)
    except OSError:
        if not wanted.is_dir():
            raise
