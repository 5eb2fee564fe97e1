"""How JVMs of Spark's start fast in tests: with the class archive of sessions, and a compiler that optimizes little."""

from __future__ import annotations

import subprocess
import sys

from pyspark.find_spark_home import _find_spark_home
from pyspark.version import __version__

from kafkapy.spark.class_archive import ClassArchive
from kafkapy.spark.java import find_java

C1_ONLY = "-XX:TieredStopAtLevel=1"
_USING = "-XX:SharedArchiveFile="
_FIRST_SESSION = "from kafkapy.spark.session import *\nwith open_session(SparkOptions('local[1]')): pass"


def quick_java() -> str:
    """The options of a daemon or an executor: much of what these load is in the archive of sessions."""
    return " ".join(
        ("-XX:+UseSerialGC", C1_ONLY, "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", *_archive())
    )


def make_archive() -> None:
    """Where there is none: by a session that has nothing else to do."""
    if not _archive():
        subprocess.run([sys.executable, "-c", _FIRST_SESSION], check=True)


def _archive() -> list[str]:
    option = ClassArchive(find_java(), _find_spark_home(), __version__).java_option() or ""
    return [option] if option.startswith(_USING) else []
